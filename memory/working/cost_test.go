package working_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/memory/working"
	"github.com/holdfast-go/holdfast/message"
)

// counting counts what is asked of an estimate.
type counting struct {
	working.Counter
	texts, bytes atomic.Int64
}

func (c *counting) Count(text string) int {
	c.texts.Add(1)
	c.bytes.Add(int64(len(text)))
	return c.Counter.Count(text)
}

// remembering counts each text once.
type remembering struct {
	working.Counter
	counts *sync.Map
}

func remember(c working.Counter) working.Counter { return remembering{c, new(sync.Map)} }

func (r remembering) Count(text string) int {
	if n, ok := r.counts.Load(text); ok {
		return n.(int)
	}
	n := r.Counter.Count(text)
	r.counts.Store(text, n)
	return n
}

// full is an input that fills the default profile, and a little more, in messages of about 100 tokens.
func full() working.Input {
	in := operations()
	in.Summary = working.Summary{Text: strings.Repeat("用户确认了环境。The order was paid. ", 25)}
	for i := range 140 {
		text := fmt.Sprint("round ", i, ": ", strings.Repeat("支付接口超时 the upstream did not answer; ", 7))
		in.History = slices.Insert(in.History, 0, named(fmt.Sprint("u", i), message.User(text)), named(fmt.Sprint("a", i), message.Assistant(text)))
	}
	for i := range 40 {
		text := strings.Repeat(fmt.Sprint("chapter ", i, " 变更需要审批 and a second person agrees. "), 12)
		in.Recalled = append(in.Recalled, working.Item{Source: working.Knowledge, ID: fmt.Sprint("k", i), Text: text, Score: float64(i)})
	}
	return in
}

// With a cache only what is new is counted: the same input again costs nothing, one more round costs what is in it.
func TestOnlyNewTextsAreCounted(t *testing.T) {
	t.Parallel()
	c := &counting{Counter: working.Estimate}
	a, err := working.New(working.Default(), remember(c))
	if err != nil {
		t.Fatal(err)
	}
	in := full()
	in.Recalled = nil
	in.History = in.History[:100]
	must(t, a, in)
	before := c.bytes.Load()
	must(t, a, in)
	if n := c.bytes.Load() - before; n != 0 {
		t.Errorf("the same input again: %d bytes were counted", n)
	}
	in.History = append(slices.Clone(in.History), message.User("another question"), message.Assistant("an answer"))
	must(t, a, in)
	// The data stands in front of another message now, with the same text: the new messages are all that is new.
	if n := c.bytes.Load() - before; n != int64(len("another question")+len("an answer")) {
		t.Errorf("one more round: %d bytes were counted", n)
	}
}

// A counter that learns while a prompt is made does not confuse it.
func TestCounterThatChanges(t *testing.T) {
	t.Parallel()
	a, err := working.New(small(), &growing{})
	if err != nil {
		t.Fatal(err)
	}
	p := must(t, a, crowded())
	if p.Manifest.After > p.Manifest.Limit {
		t.Errorf("%s", p.Manifest)
	}
}

// growing counts a little more each time.
type growing struct{ n atomic.Int64 }

func (g *growing) Count(text string) int {
	return int(float64(working.Estimate.Count(text)) * (1 + float64(g.n.Add(1))/5000))
}
func (*growing) Margin() float64 { return 0.1 }
func (*growing) Name() string    { return "growing" }

func BenchmarkAssemble(b *testing.B) {
	a, err := working.New(working.Default(), remember(working.Estimate))
	if err != nil {
		b.Fatal(err)
	}
	in := full()
	must(b, a, in)
	var took []time.Duration
	b.ReportAllocs()
	for b.Loop() {
		start := time.Now()
		must(b, a, in)
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(must(b, a, in).Manifest.After), "tokens")
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-us")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-us")
}
