package govern_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/govern"
	"github.com/holdfast-go/holdfast/memory/longterm"
	"github.com/holdfast-go/holdfast/memory/session"
	"github.com/holdfast-go/holdfast/memory/working"
	"github.com/holdfast-go/holdfast/message"
)

// BenchmarkWhy asks for a user with 1,000 messages, jobs and items, in memory and on SQLite. R116 asks for five minutes.
func BenchmarkWhy(b *testing.B) {
	for _, durable := range []bool{false, true} {
		b.Run(fmt.Sprintf("durable=%v", durable), func(b *testing.B) {
			c := newClinic(b, durable, working.Default())
			c.say("ann", "early", fact)
			c.extract()
			const n = 1_000
			fillUp(b, c, "ann", n)
			c.say("ann", "late", ask)
			b.ResetTimer()
			begun := time.Now()
			for range b.N {
				if e := c.why("ann", words); e.Cause == govern.NeverSaid {
					b.Fatalf("%+v", e.Stages)
				}
			}
			b.ReportMetric(float64(time.Since(begun).Milliseconds())/float64(b.N), "ms/why")
		})
	}
}

// fillUp gives a user n messages, jobs and items.
func fillUp(b *testing.B, c *clinic, user string, n int) {
	b.Helper()
	ctx, sc := context.Background(), scopeOf(b, user)
	const batch = 50
	for i := 0; i < n; i += batch {
		var ms []message.Message
		for k := range batch {
			m := message.User(fmt.Sprintf("Order %d of branch %d goes to street %d, and is paid by card.", i+k, i%97, (i+k)%1013))
			ms = append(ms, m)
			ok(b, c.boxes.Longterm.Remember(ctx, sc, c.agent, longterm.Exchange{Conversation: "orders", Messages: []message.Message{m}}))
		}
		_, err := c.boxes.Session.Write(ctx, sc, "orders", session.Write{Messages: ms})
		ok(b, err)
		c.extract()
	}
}
