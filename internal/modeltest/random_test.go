package modeltest_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/record"
)

// checks sets how many graphs the next rapid.Check draws. HOLDFAST_MODEL multiplies it; -short divides it by ten.
func checks(t *testing.T, n int) {
	if k, err := strconv.Atoi(os.Getenv("HOLDFAST_MODEL")); err == nil {
		n *= k
	}
	if testing.Short() {
		n = max(n/10, 1)
	}
	for name, value := range map[string]string{"rapid.checks": strconv.Itoa(n), "rapid.nofailfile": "true"} {
		if err := flag.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
}

// The tests here do not run in parallel: one of them sets GOMAXPROCS.

// TestModel compares the engine with the model: outcomes of calls, tasks and state of each superstep, for the same graphs
// at three widths of the machine, and the bytes of the logs between them. The width is set rarely: it stops the world.
func TestModel(t *testing.T) { // E5 E13 E14 E16 E17 E20 E22 E23 E33 E34
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	checks(t, 2000)
	seed := flag.Lookup("rapid.seed")
	if given := seed.Value.String(); given == "0" {
		defer seed.Value.Set(given)
		seed.Value.Set(strconv.FormatUint(rand.Uint64()|1, 10))
	}
	logs := map[uint64]uint64{} // of the specs at the first width
	var total tally
	for _, p := range []int{1, 2, 8} {
		t.Run(strconv.Itoa(p), func(t *testing.T) {
			runtime.GOMAXPROCS(p)
			rapid.Check(t, func(t *rapid.T) {
				s := specs.Draw(t, "spec")
				d, err := lockstep(s, newStore(), graph.Sync)
				if err != nil {
					t.Fatal(err)
				}
				id, bytes := hash(s.GoString()), hash(strings.Join(d.log.canonical, "\n"))
				switch want, ok := logs[id]; {
				case !ok:
					logs[id] = bytes
					total.add(d.m, d.log)
				case want != bytes: // E5
					t.Fatalf("GOMAXPROCS %d writes another log than 1:\n%s", p, narrow(s, d.log.canonical))
				}
			})
		})
	}
	total.report(t)
}

// narrow shows how a log differs from that of a machine of width 1.
func narrow(s *spec, wide []string) string {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	d, err := lockstep(s, newStore(), graph.Sync)
	if err != nil {
		return err.Error()
	}
	return diff(d.log.canonical, wide)
}

// TestDurability compares what the lazy modes make of a run.
func TestDurability(t *testing.T) { // E5 E60
	checks(t, 200)
	rapid.Check(t, func(t *rapid.T) {
		s := specs.Draw(t, "spec")
		for _, mode := range []graph.Durability{graph.Async, graph.AtExit} {
			if _, err := lockstep(s, newStore(), mode); err != nil {
				t.Fatalf("%s: %v", mode, err)
			}
		}
	})
}

// TestKilled lets processes die at random calls of the store.
func TestKilled(t *testing.T) { // E5 E17 E20 E23 E33 E61
	checks(t, 150)
	lives := 0
	rapid.Check(t, func(t *rapid.T) {
		s := specs.Draw(t, "spec")
		d, err := lockstep(s, newStore(), graph.Sync)
		if err != nil {
			t.Fatalf("%v", err)
		}
		for i, mode := range []graph.Durability{graph.Sync, graph.Async, graph.AtExit} {
			n, err := killed(s, newStore(), mode, d.m, uint64(i))
			lives += n
			if err != nil {
				t.Fatalf("%s, after %d deaths: %v", mode, n, err)
			}
		}
	})
	t.Log("processes that died:", lives)
}

// TestCut resumes a thread from every prefix of what was written.
func TestCut(t *testing.T) { // E5 E17 E20 E23 E33 E61
	checks(t, 50)
	cuts := 0
	rapid.Check(t, func(t *rapid.T) {
		s := specs.Draw(t, "spec")
		tp := &tape{}
		d, err := lockstep(s, tp.record(newStore()), graph.Sync)
		if err != nil {
			t.Fatalf("%v", err)
		}
		for n := range len(tp.calls) + 1 {
			cuts++
			if err := cut(s, tp, n, d.m, d.w); err != nil {
				t.Fatalf("after %d of %d writes: %v", n, len(tp.calls), err)
			}
		}
	})
	t.Log("prefixes:", cuts)
}

// recordedEffects notes in w what the log says has happened.
func recordedEffects(store checkpoint.Store, w *world) error {
	recs, err := store.Read(context.Background(), checkpoint.Query{Chain: checkpoint.Chain{Key: threadKey}, To: -1})
	for _, r := range recs {
		var o record.Once
		if r.Kind != checkpoint.KindOnce {
			continue
		}
		if err := record.Decode(r, &o); err != nil {
			return err
		}
		if o.Result != nil {
			w.settled[fmt.Sprint(o.Task, "/", o.Name, "/", o.N)] = true
		}
	}
	return err
}

// A tally says what the random graphs have covered.
type tally struct{ graphs, steps, tasks, snapshots, pauses, failures, onces int }

func (c *tally) add(m *model, log *reading) {
	c.graphs++
	c.steps += len(m.entries)
	c.tasks += len(m.runs)
	c.snapshots += log.snapshots
	for _, line := range log.canonical {
		switch line[0] {
		case 'P':
			c.pauses++
		case 'R':
			c.failures++
		case 'O':
			c.onces++
		}
	}
}

func (c *tally) report(t *testing.T) { t.Logf("%+v", *c) }

// diff shows the first line in which two logs differ.
func diff(a, b []string) string {
	for i := range max(len(a), len(b)) {
		if at(a, i) != at(b, i) {
			return fmt.Sprintf("record %d:\n%s\n%s", i, at(a, i), at(b, i))
		}
	}
	return "none"
}

// GoString is how rapid shows a spec.
func (s *spec) GoString() string {
	b, err := json.Marshal(s)
	if err != nil {
		return err.Error()
	}
	return string(b)
}
