package working_test

import (
	"fmt"
	"slices"
	"strings"
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
	a, err := working.New(working.Default(), working.Cached(c, 20_000))
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

// In one assembly each text is counted once, so that a counter that learns meanwhile does not contradict itself.
func TestEachTextIsCountedOnce(t *testing.T) {
	t.Parallel()
	c := &recording{margin(0), map[string]int{}}
	a, err := working.New(small(), c)
	if err != nil {
		t.Fatal(err)
	}
	must(t, a, crowded())
	if len(c.seen) < 40 {
		t.Errorf("only %d texts were counted", len(c.seen))
	}
	for text, n := range c.seen {
		if n != 1 {
			t.Errorf("%.40q was counted %d times", text, n)
		}
	}
}

type recording struct {
	working.Counter
	seen map[string]int
}

func (r *recording) Count(text string) int {
	r.seen[text]++
	return r.Counter.Count(text) / 4
}

// Where the parts of a block have few tokens and the block has very many, the prompt does without the block.
func TestCounterThatContradictsItself(t *testing.T) {
	t.Parallel()
	a, err := working.New(small(), contrary{})
	if err != nil {
		t.Fatal(err)
	}
	if p := must(t, a, crowded()); p.Manifest.After > p.Manifest.Limit || strings.Contains(whole(p), "<data-") {
		t.Errorf("%s", p.Manifest)
	}
}

type contrary struct{}

func (contrary) Count(text string) int {
	if strings.Contains(text, "data-") {
		return 1 << 20
	}
	return 1
}
func (contrary) Margin() float64 { return 0 }
func (contrary) Name() string    { return "contrary" }

func BenchmarkAssemble(b *testing.B) {
	a, err := working.New(working.Default(), working.Cached(working.Estimate, 20_000))
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
