package nodes_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint/sqlite"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/faultstore"
	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/session"
	sessionfile "github.com/holdfast-go/holdfast/memory/session/sqlite"
	"github.com/holdfast-go/holdfast/message"
	"github.com/holdfast-go/holdfast/nodes"
)

// BenchmarkTurn measures what a turn with one call of a tool costs apart from the model and the tool, both of which answer at once,
// at FULL durability, in conversations that have gone on for so many turns: its commits times a bare commit of 2 KB of the same run,
// and what comes on top, which is to be at most 10 ms at p50. With two apps each turn of a conversation is in the other one than the
// turn before it, as among processes that share a store.
//
// Turns and bare commits take turns, so that a busy disk meets both.
func BenchmarkTurn(b *testing.B) {
	for _, l := range []load{{behind: 10, chats: 4, apps: 1}, {behind: 100, chats: 4, apps: 1}, {behind: 500, chats: 1, apps: 1}, {behind: 100, chats: 4, apps: 2}} {
		name := fmt.Sprintf("behind=%d", l.behind)
		if l.apps > 1 {
			name += fmt.Sprintf("/apps=%d", l.apps)
		}
		b.Run(name, func(b *testing.B) {
			for range b.N {
				report(b, measureTurns(b, l))
			}
		})
	}
}

// A load is so many conversations, the turns that each has behind it, and the apps among which they go round.
type load struct{ behind, chats, apps int }

// timings are those of turns and of bare commits beside them.
type timings struct {
	turn, bare []time.Duration
	commits    int // of a turn
}

func report(b *testing.B, m timings) {
	at := func(d []time.Duration, p float64) float64 { return float64(d[int(float64(len(d)-1)*p)]) / 1e3 }
	slices.Sort(m.turn)
	slices.Sort(m.bare)
	b.ReportMetric(at(m.turn, 0.5)-float64(m.commits)*at(m.bare, 0.5), "over-p50-us")
	b.ReportMetric(at(m.turn, 0.99)-float64(m.commits)*at(m.bare, 0.99), "over-p99-us")
	b.ReportMetric(at(m.turn, 0.5), "p50-us")
	b.ReportMetric(at(m.turn, 0.99), "p99-us")
	b.ReportMetric(at(m.bare, 0.5), "bare-p50-us")
	b.ReportMetric(at(m.bare, 0.99), "bare-p99-us")
	b.ReportMetric(float64(m.commits), "commits")
	b.ReportMetric(0, "ns/op")
}

// measureTurns measures 200 turns, the same number in each conversation.
func measureTurns(b *testing.B, l load) (m timings) {
	dir := b.TempDir()
	inner, err := sqlite.Open(filepath.Join(dir, "threads.db"), sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	store := faultstore.New(inner)
	defer store.Close()
	conversations, err := sessionfile.Open(filepath.Join(dir, "sessions.db"), sessionfile.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer conversations.Close()
	var apps []*graph.App[shop]
	for range l.apps {
		app := benchAgent(b, store, conversations)
		defer app.Close(context.Background())
		apps = append(apps, app)
	}
	scope, _ := memory.NewScope("acme", "ann")
	commit := bareCommits(b, filepath.Join(dir, "bare.db"))
	writes := func() int { return store.Calls("Append") + store.Calls("Acquire") + store.Calls("Release") }
	total := 0
	for chat := range l.chats {
		before := 0
		for i := range l.behind + 200/l.chats {
			if i == l.behind {
				before = writes()
			}
			start := time.Now()
			in := nodes.Input[shop](scope, message.User(fmt.Sprintf("Where is order %d?", i)))
			if _, err := apps[i%l.apps].Run(b.Context(), graph.ID(fmt.Sprint("chat", chat)), in); err != nil {
				b.Fatal(err)
			}
			took := time.Since(start)
			one := commit()
			if i >= l.behind {
				m.turn, m.bare = append(m.turn, took), append(m.bare, one)
			}
		}
		total += writes() - before
	}
	m.commits = total/len(m.turn) + 3 // and those of the conversation: see TestRoundTrips
	return m
}

func benchAgent(b *testing.B, store *faultstore.Store, conversations *session.Store) *graph.App[shop] {
	n := 0
	model := nodes.ModelFunc(func(context.Context, nodes.Request, func(nodes.Delta)) (nodes.Answer, error) {
		if n++; n%2 == 1 {
			return nodes.Answer{Message: message.Assistant("", message.Call{ID: fmt.Sprint("c", n), Name: "track", Args: `{"order":1042}`})}, nil
		}
		return nodes.Answer{Message: message.Assistant("Your order is in Lyon and will be with you on Friday.")}, nil
	})
	type order struct {
		Order int `json:"order"`
	}
	track := nodes.NewTool("track", "Where an order is.", func(_ context.Context, o order) (string, error) { return "in Lyon", nil },
		nodes.ToolOptions[order, string]{})
	kit, err := nodes.New(nodes.Config{Session: conversations, Roles: []nodes.Role{{Name: "support", System: []string{"You help with orders."},
		Models: []nodes.Model{model}, Tools: []nodes.Tool{track}}}})
	if err != nil {
		b.Fatal(err)
	}
	app, err := nodes.Agent[shop]("shop", kit).Compile(graph.Options{Store: store})
	if err != nil {
		b.Fatal(err)
	}
	return app
}

// bareCommits returns a function that commits 2 KB to a SQLite file at FULL, and says how long it took.
func bareCommits(b *testing.B, path string) func() time.Duration {
	db, err := sql.Open("sqlite", path+"?_pragma=journal_mode(wal)&_pragma=synchronous(full)")
	if err != nil {
		b.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	b.Cleanup(func() { db.Close() })
	if _, err := db.Exec(`create table r(n integer primary key, body blob not null)`); err != nil {
		b.Fatal(err)
	}
	insert, err := db.Prepare(`insert into r(body) values (?)`)
	if err != nil {
		b.Fatal(err)
	}
	body := make([]byte, 2<<10)
	return func() time.Duration {
		start := time.Now()
		if _, err := insert.Exec(body); err != nil {
			b.Fatal(err)
		}
		return time.Since(start)
	}
}
