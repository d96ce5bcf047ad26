package graph_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/state"
)

// Two releases of an order: names of fields and nodes, a field's kind and the argument of a send are others in the second.
type orderV1 struct {
	Log   state.List[string]      `json:"log"`
	Price state.Last[string]      `json:"price"`
	Junk  state.Last[string]      `json:"junk"`
	Hint  state.Ephemeral[string] `json:"hint"`
	Total state.Sum[int]          `json:"total"`
}

type orderV2 struct {
	Steps state.List[string]      `json:"steps"`
	Price state.Last[int]         `json:"price"`
	Hint  state.Ephemeral[string] `json:"hint"`
	Total state.Sum[int]          `json:"total"`
}

type parcel struct{ N int }

// An effect counts what was really done.
type effects struct{ pack, bill int }

// orderOne: Start -> pack and approve. pack goes to ship and sends to item; approve asks; ship and approve join to bill.
func orderOne(did *effects) *graph.Graph[orderV1] {
	g := graph.New[orderV1]("order")
	g.Version(1)
	items := graph.Each(g, "item", func(_ context.Context, s *orderV1, n int) error {
		s.Log.Append("item")
		s.Total.Add(n)
		return nil
	})
	g.Branch("pack", func(ctx context.Context, s *orderV1) (graph.Next, error) {
		_, err := graph.Once(ctx, "pack", func(context.Context, string) (int, error) { did.pack++; return 1, nil })
		s.Log.Append("pack " + hint(&s.Hint))
		s.Junk.Set("more")
		return graph.To("ship").And(items.Send(7)), err
	}, "ship", "item")
	g.Node("approve", func(ctx context.Context, s *orderV1) error {
		_, err := graph.Ask[bool](ctx, "approve", "ship it?")
		s.Log.Append("approve " + hint(&s.Hint))
		return err
	})
	g.Node("ship", func(_ context.Context, s *orderV1) error { s.Log.Append("ship"); return nil })
	g.Node("bill", func(_ context.Context, s *orderV1) error {
		did.bill++
		s.Log.Append("bill " + s.Price.Get())
		return nil
	})
	g.Edge(graph.Start, "pack")
	g.Edge(graph.Start, "approve")
	g.Join([]string{"approve", "ship"}, "bill")
	return g
}

func orderTwo(did *effects, migrations ...func(g *graph.Graph[orderV2])) *graph.Graph[orderV2] {
	g := graph.New[orderV2]("order")
	g.Version(2)
	lines := graph.Each(g, "line", func(_ context.Context, s *orderV2, l parcel) error {
		s.Steps.Append("item")
		s.Total.Add(l.N)
		return nil
	})
	g.Branch("wrap", func(ctx context.Context, s *orderV2) (graph.Next, error) {
		_, err := graph.Once(ctx, "pack", func(context.Context, string) (int, error) { did.pack++; return 1, nil })
		s.Steps.Append("pack " + hint(&s.Hint))
		return graph.To("send").And(lines.Send(parcel{7})), err
	}, "send", "line")
	g.Node("confirm", func(ctx context.Context, s *orderV2) error {
		_, err := graph.Ask[bool](ctx, "approve", "ship it?")
		s.Steps.Append("approve " + hint(&s.Hint))
		return err
	})
	g.Node("send", func(_ context.Context, s *orderV2) error { s.Steps.Append("ship"); return nil })
	g.Node("invoice", func(_ context.Context, s *orderV2) error {
		did.bill++
		s.Steps.Append("bill " + strconv.Itoa(s.Price.Get()))
		return nil
	})
	g.Edge(graph.Start, "wrap")
	g.Edge(graph.Start, "confirm")
	g.Join([]string{"confirm", "send"}, "invoice")
	for _, m := range migrations {
		m(g)
	}
	return g
}

func oneToTwo(m *graph.Migration) error {
	m.RenameField("log", "steps")
	m.DropField("junk")
	graph.Convert(m, func(o *struct {
		Price state.Last[string] `json:"price"`
	}, n *struct {
		Price state.Last[int] `json:"price"`
	}) error {
		if o.Price.Get() == "" { // never written
			return nil
		}
		p, err := strconv.Atoi(o.Price.Get())
		n.Price.Set(p)
		return err
	})
	for old, name := range map[string]string{"pack": "wrap", "approve": "confirm", "ship": "send", "bill": "invoice", "item": "line"} {
		m.RenameNode(old, name)
	}
	graph.ConvertArgs(m, "line", func(n int) (parcel, error) { return parcel{n}, nil })
	return nil
}

func toTwo(g *graph.Graph[orderV2]) { g.Migrate(1, 2, oneToTwo) }

func ordering(s *orderV1) { s.Log.Append("in"); s.Price.Set("12"); s.Junk.Set("x"); s.Hint.Set("h") }

const ordered = "in approve h pack h ship item bill 12"

// dump is every record of a thread's first branch, with what a later one must not change.
func dump(t testing.TB, store checkpoint.Store, id string) (recs []checkpoint.Record) {
	t.Helper()
	recs, err := store.Read(t.Context(), checkpoint.Query{Chain: checkpoint.Chain{Key: checkpoint.Key{Tenant: graph.SingleTenant, Thread: id}}, To: -1})
	if err != nil {
		t.Fatal(err)
	}
	return recs
}

func sameRecords(a, b []checkpoint.Record) bool {
	return slices.EqualFunc(a, b, func(a, b checkpoint.Record) bool {
		return a.Pos == b.Pos && a.Ord == b.Ord && a.Kind == b.Kind && string(a.Body) == string(b.Body)
	})
}

// E45, report 123: a thread of one release waits; the next one has other nodes, fields, kinds and arguments. The question is answered
// with its old id, everything that was recorded counts, nothing is done twice, and older entries stay as they are.
func TestMigration(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"resume", "state first", "edit first", "fork first", "copy first", "fail on the way"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			store, did := new(checkpoint.Memory), new(effects)
			one := compile(t, orderOne(did), graph.Options{Store: store})
			_, err := one.Run(t.Context(), graph.ID("1"), ordering)
			q := paused(t, err).Questions[0]
			before := dump(t, store, "1")
			two := compile(t, orderTwo(did, toTwo), graph.Options{Store: store})
			thread, want := graph.ID("1"), ordered
			switch how {
			case "state first":
				s, err := two.State(t.Context(), thread)
				if err != nil || s.State.Price.Get() != 12 || hint(&s.State.Hint) != "h" || len(s.Unknown) > 0 || s.Next[0].Node != "confirm" || s.Questions[0].ID != q.ID {
					t.Fatalf("%+v, %v", s, err)
				}
				if !sameRecords(before, dump(t, store, "1")) {
					t.Fatal("State has written")
				}
			case "edit first":
				if _, err := two.Edit(t.Context(), thread, -1, graph.End, func(s *orderV2) { s.Price.Set(13); s.Hint.Set("h") }); err != nil {
					t.Fatal(err)
				}
				want = strings.Replace(want, "12", "13", 1)
			case "fork first":
				f, err := two.Fork(t.Context(), thread, 0, graph.ForkOptions{Effects: graph.Reuse})
				if err != nil {
					t.Fatal(err)
				}
				_, err = two.Resume(t.Context(), f)
				thread, q = f, paused(t, err).Questions[0]
			case "copy first":
				thread = graph.ID("2")
				if err := two.Copy(t.Context(), graph.ID("1"), thread); err != nil {
					t.Fatal(err)
				}
				_, err := two.Resume(t.Context(), thread)
				q = paused(t, err).Questions[0]
			case "fail on the way":
				_, err := two.Resume(t.Context(), thread, graph.AnswerID(q.ID, "no bool"))
				wantErr(t, err, graph.ErrBadAnswer)
				if !sameRecords(before, dump(t, store, "1")) {
					t.Fatal("a refused call has written")
				}
			}
			s, err := two.Resume(t.Context(), thread, graph.AnswerID(q.ID, true))
			if err != nil || strings.Join(s.Steps.Slice(), " ") != want || s.Total.Get() != 7 || did.pack != 1 || did.bill != 1 {
				t.Fatalf("%q, %d, %+v, %v", s.Steps.Slice(), s.Total.Get(), did, err)
			}
			after := dump(t, store, "1")
			if !sameRecords(before, after[:len(before)]) {
				t.Fatal("older records have changed")
			}
			moves := 0
			for _, r := range after {
				if r.Kind == checkpoint.KindEdit && strings.Contains(string(r.Body), `"as":"migration"`) {
					moves++
				}
			}
			if want := map[bool]int{true: 0, false: 1}[thread != graph.ID("1")]; moves != want {
				t.Fatalf("%d migrations in the thread, want %d", moves, want)
			}
			if s, err := two.Run(t.Context(), thread, nil); !errors.Is(err, graph.ErrInterrupted) {
				t.Fatalf("the next run: %v, %v", s, err)
			}
		})
	}
}

// E45: entries from before a migration are shown as the present program sees them; the history says what was.
func TestMigrationAndHistory(t *testing.T) {
	t.Parallel()
	store, did := new(checkpoint.Memory), new(effects)
	_, err := compile(t, orderOne(did), graph.Options{Store: store}).Run(t.Context(), graph.ID("1"), ordering)
	q := paused(t, err).Questions[0]
	two := compile(t, orderTwo(did, toTwo), graph.Options{Store: store})
	if _, err := two.Resume(t.Context(), graph.ID("1"), graph.AnswerID(q.ID, true)); err != nil {
		t.Fatal(err)
	}
	var kinds, next []string
	for e, err := range two.History(t.Context(), graph.ID("1")) {
		if err != nil {
			t.Fatal(err)
		}
		kinds, next = append(kinds, string(rune(e.Kind))), e.Next
		s, err := two.StateAt(t.Context(), graph.ID("1"), e.Pos)
		if err != nil || s.State.Price.Get() != 12 || len(s.State.Steps.Slice()) == 0 {
			t.Fatalf("entry %d: %v", e.Pos, err)
		}
	}
	if strings.Join(kinds, "") != "EEEDI" || strings.Join(next, " ") != "approve pack" {
		t.Fatalf("%v, %v", kinds, next)
	}
}

// E45, E53: what is migrated is written with what the call writes first: no call writes more often.
func TestMigrationCostsNoWrite(t *testing.T) {
	t.Parallel()
	program := func(store checkpoint.Store, version int, ask string) *graph.App[notes] {
		g := waitsAt(version, true, "end")
		g.Node(ask, func(ctx context.Context, s *notes) error {
			_, err := graph.Ask[bool](ctx, "ok", "ok?")
			return err
		})
		g.Edge(graph.Start, ask)
		g.Edge(ask, "end")
		if version > 0 {
			g.Migrate(0, 1, func(m *graph.Migration) error { m.RenameNode("old", "new"); return nil })
		}
		return compile(t, g, graph.Options{Store: store})
	}
	writes := func(version int, ask string) int { // one task a superstep: how many appends that takes does not depend on chance
		store := new(checkpoint.Memory)
		counted := &counting{Store: store}
		_, err := program(store, 0, "old").Run(t.Context(), graph.ID("1"), nil)
		q := paused(t, err).Questions[0]
		if _, err := program(counted, version, ask).Resume(t.Context(), graph.ID("1"), graph.AnswerID(q.ID, true)); err != nil {
			t.Fatal(err)
		}
		return counted.appends
	}
	if plain, moved := writes(0, "old"), writes(1, "new"); plain != moved || plain == 0 {
		t.Errorf("%d appends with a migration, %d without", moved, plain)
	}
}

type counting struct {
	checkpoint.Store
	appends int
}

func (c *counting) Append(ctx context.Context, a *checkpoint.Append) (checkpoint.Ack, error) {
	c.appends++
	return c.Store.Append(ctx, a)
}

// E45: a new input migrates too, also of a thread that has ended, was cancelled or has failed; with what is unfinished settled.
func TestMigrationByInput(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"completed", "cancelled"} {
		store, did := new(checkpoint.Memory), new(effects)
		one := compile(t, orderOne(did), graph.Options{Store: store})
		_, err := one.Run(t.Context(), graph.ID("1"), ordering)
		q := paused(t, err).Questions[0]
		if end == "completed" {
			_, err = one.Resume(t.Context(), graph.ID("1"), graph.AnswerID(q.ID, true))
		} else {
			err = one.Cancel(t.Context(), graph.ID("1"))
		}
		if err != nil {
			t.Fatal(err)
		}
		two := compile(t, orderTwo(did, toTwo), graph.Options{Store: store})
		if end == "cancelled" {
			wantErr(t, two.Cancel(t.Context(), graph.ID("1")), graph.ErrNothingToDo)
		}
		_, err = two.Run(t.Context(), graph.ID("1"), func(s *orderV2) {
			if s.Price.Get() != 12 || s.Steps.Slice()[0] != "in" {
				t.Errorf("%s: the input sees %d, %v", end, s.Price.Get(), s.Steps.Slice())
			}
		})
		paused(t, err)
	}
	store, did := new(checkpoint.Memory), new(effects)
	_, err := compile(t, orderOne(did), graph.Options{Store: store}).Run(t.Context(), graph.ID("1"), ordering)
	paused(t, err)
	two := compile(t, orderTwo(did, toTwo), graph.Options{Store: store})
	if err := two.Cancel(t.Context(), graph.ID("1")); err != nil { // migrates, and settles
		t.Fatal(err)
	}
	s, err := two.State(t.Context(), graph.ID("1"))
	if err != nil || strings.Join(s.State.Steps.Slice(), " ") != "in pack h" {
		t.Fatalf("%v", err)
	}
}

// E45, E37: an input that an earlier version has queued is migrated when its turn comes, before or after the thread was.
func TestMigrationOfQueuedInputs(t *testing.T) {
	t.Parallel()
	store, did := new(checkpoint.Memory), new(effects)
	one := compile(t, orderOne(did), graph.Options{Store: store})
	_, err := one.Run(t.Context(), graph.ID("1"), ordering)
	q := paused(t, err).Questions[0]
	queue := one.With(graph.RunOptions{OnBusy: graph.Enqueue})
	for _, word := range []string{"second", "third"} {
		_, err := queue.Run(t.Context(), graph.ID("1"), func(s *orderV1) { s.Log.Append(word); s.Junk.Set("y") })
		wantErr(t, err, graph.ErrQueued)
	}
	_, err = queue.Run(t.Context(), graph.ID("1"), func(s *orderV1) { s.Price.Set("99") })
	wantErr(t, err, graph.ErrQueued)
	two := compile(t, orderTwo(did, toTwo), graph.Options{Store: store})
	var out *orderV2
	answers := []graph.Command{graph.AnswerID(q.ID, true)}
	for tries := 0; tries < 10_000; tries++ { // what ends starts the next one of the queue, in its own time
		var s *orderV2
		s, err = two.Resume(t.Context(), graph.ID("1"), answers...)
		answers = nil
		if in, ok := errors.AsType[*graph.Interrupted](err); ok {
			answers = []graph.Command{graph.AnswerID(in.Questions[0].ID, true)}
		} else if err == nil {
			out = s
		} else if !errors.Is(err, graph.ErrBusy) {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if err == nil || !strings.Contains(err.Error(), "field price, which is converted") || !strings.Contains(err.Error(), "waits") {
		t.Fatalf("the input that cannot be migrated: %v", err)
	}
	if got := strings.Join(out.Steps.Slice(), " "); strings.Count(got, "second") != 1 || strings.Count(got, "third") != 1 || out.Total.Get() != 21 {
		t.Fatal(got)
	}
}

// E45: what cannot be migrated is refused by every call, says why, and stays as it is; an older program refuses what a newer one has
// written.
func TestMigrationIsRefused(t *testing.T) {
	t.Parallel()
	fails := func(fn func(*graph.Migration) error) func(g *graph.Graph[orderV2]) {
		return func(g *graph.Graph[orderV2]) { g.Migrate(1, 2, fn) }
	}
	for _, c := range []struct {
		name, want string
		how        func(g *graph.Graph[orderV2])
	}{
		{"no path", "no migration from version 1 to version 2", func(g *graph.Graph[orderV2]) { g.Migrate(0, 2, nil) }},
		{"its own error", "because", fails(func(*graph.Migration) error { return errors.New("because") })},
		{"a panic", "panic: oh", fails(func(*graph.Migration) error { panic("oh") })},
		{"a kind that it was not", "price", fails(func(m *graph.Migration) error {
			graph.Convert(m, func(*struct {
				Price state.Sum[int] `json:"price"`
			}, *orderV2) error {
				return nil
			})
			return nil
		})},
		{"an argument that it was not", "argument of node item", fails(func(m *graph.Migration) error {
			graph.ConvertArgs(m, "item", func(l []string) (parcel, error) { return parcel{}, nil })
			return nil
		})},
		{"onto another field", "holds a value", fails(func(m *graph.Migration) error { m.RenameField("log", "price"); return nil })},
		{"two writes of a result", "writes both log and junk", fails(func(m *graph.Migration) error { m.RenameField("log", "junk"); return nil })},
		{"a result that cannot be converted", `m.Rerun("pack")`, fails(func(m *graph.Migration) error {
			graph.Convert(m, func(*struct {
				Log state.List[string] `json:"log"`
			}, *struct {
				Steps state.List[string] `json:"steps"`
			}) error {
				return nil
			})
			return nil
		})},
		{"too little", `"approve"`, fails(nil)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			store, did := new(checkpoint.Memory), new(effects)
			one := compile(t, orderOne(did), graph.Options{Store: store})
			_, err := one.Run(t.Context(), graph.ID("1"), ordering)
			q := paused(t, err).Questions[0]
			before := dump(t, store, "1")
			two := compile(t, orderTwo(did, c.how), graph.Options{Store: store})
			_, resume := two.Resume(t.Context(), graph.ID("1"), graph.AnswerID(q.ID, true))
			_, edit := two.Edit(t.Context(), graph.ID("1"), -1, graph.End, func(*orderV2) {})
			_, st := two.State(t.Context(), graph.ID("1"))
			_, queue := two.With(graph.RunOptions{OnBusy: graph.Enqueue}).Run(t.Context(), graph.ID("1"), func(*orderV2) {})
			for i, err := range []error{resume, edit, st, queue} {
				if c.name == "too little" && i > 1 {
					continue
				}
				if !errors.Is(err, graph.ErrIncompatible) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "graph order version 1 (") {
					t.Errorf("call %d: %v", i, err)
				}
			}
			if !sameRecords(before, dump(t, store, "1")) {
				t.Fatal("the thread was touched")
			}
			if s, err := one.Resume(t.Context(), graph.ID("1"), graph.AnswerID(q.ID, true)); err != nil || strings.Join(s.Log.Slice(), " ") != ordered {
				t.Fatalf("the old release goes on: %v", err)
			}
			if _, err := two.Run(t.Context(), graph.ID("1"), nil); c.name != "too little" && !errors.Is(err, graph.ErrIncompatible) {
				t.Fatalf("a new input: %v", err)
			}
		})
	}
}

// E45: once a newer program has continued a thread, an older one neither runs, edits, cancels nor reads it.
func TestOlderProgramRefuses(t *testing.T) {
	t.Parallel()
	store, did := new(checkpoint.Memory), new(effects)
	one := compile(t, orderOne(did), graph.Options{Store: store})
	_, err := one.Run(t.Context(), graph.ID("1"), ordering)
	q := paused(t, err).Questions[0]
	two := compile(t, orderTwo(did, toTwo), graph.Options{Store: store})
	if _, err := two.Edit(t.Context(), graph.ID("1"), -1, graph.End, func(*orderV2) {}); err != nil {
		t.Fatal(err)
	}
	before := dump(t, store, "1")
	_, run := one.Run(t.Context(), graph.ID("1"), ordering)
	_, resume := one.Resume(t.Context(), graph.ID("1"), graph.AnswerID(q.ID, true))
	_, edit := one.Edit(t.Context(), graph.ID("1"), -1, graph.End, func(*orderV1) {})
	_, st := one.State(t.Context(), graph.ID("1"))
	cancel := one.Cancel(t.Context(), graph.ID("1"))
	for i, err := range []error{resume, edit, st, cancel} {
		if !errors.Is(err, graph.ErrIncompatible) || !strings.Contains(err.Error(), "version 2 has written it, and this program is version 1") {
			t.Errorf("call %d: %v", i, err)
		}
	}
	wantErr(t, run, graph.ErrBusy)
	if s, err := one.StateAt(t.Context(), graph.ID("1"), 0); err != nil || s.State.Price.Get() != "12" {
		t.Errorf("what it has written itself: %v", err)
	}
	if !sameRecords(before, dump(t, store, "1")) {
		t.Fatal("the thread was touched")
	}
	if s, err := two.Resume(t.Context(), graph.ID("1"), graph.AnswerID(q.ID, true)); err != nil || s.Total.Get() != 7 {
		t.Fatal(err)
	}
	defer func() { // the way back
		f, err := one.Fork(t.Context(), graph.ID("1"), 0, graph.ForkOptions{Effects: graph.Reuse})
		if err != nil {
			t.Fatal(err)
		}
		_, err = one.Resume(t.Context(), f)
		if s, err := one.Resume(t.Context(), f, graph.AnswerID(paused(t, err).Questions[0].ID, true)); err != nil || strings.Join(s.Log.Slice(), " ") != ordered {
			t.Fatalf("a fork of what the older program has written: %v", err)
		}
	}()
	before = dump(t, store, "1")
	_, run = one.Run(t.Context(), graph.ID("1"), ordering)
	wantErr(t, run, graph.ErrIncompatible)
	if !sameRecords(before, dump(t, store, "1")) {
		t.Fatal("the thread was touched")
	}
}

// E45: migrations run in the order of their versions, each once.
func TestMigrationsInOrder(t *testing.T) {
	t.Parallel()
	for from := range 4 {
		store := new(checkpoint.Memory)
		old := graph.New[notes]("steps")
		old.Version(from)
		old.Node("a", say("a"))
		old.Edge(graph.Start, "a")
		if _, err := compile(t, old, graph.Options{Store: store}).Run(t.Context(), graph.ID("1"), func(s *notes) { s.Value.Set(fmt.Sprint(from)) }); err != nil {
			t.Fatal(err)
		}
		type one struct {
			Value state.Last[string] `json:"value"`
		}
		g := graph.New[notes]("steps")
		g.Version(4)
		g.Node("a", say("a"))
		g.Edge(graph.Start, "a")
		for _, v := range []int{2, 0, 3, 1} {
			g.Migrate(v, v+1, func(m *graph.Migration) error {
				graph.Convert(m, func(o, n *one) error { n.Value.Set(o.Value.Get() + fmt.Sprint(v+1)); return nil })
				return nil
			})
		}
		app := compile(t, g, graph.Options{Store: store})
		for range 3 {
			s, err := app.Run(t.Context(), graph.ID("1"), nil)
			if want := "01234"[from:]; err != nil || s.Value.Get() != want {
				t.Fatalf("from %d: %q, want %q, %v", from, s.Value.Get(), want, err)
			}
		}
	}
}

// E45, E11: what is wrong with migrations is said by Compile.
func TestMigrationMistakes(t *testing.T) {
	t.Parallel()
	g := graph.New[notes]("wrong")
	g.Version(3)
	g.Node("a", say("a"))
	g.Edge(graph.Start, "a")
	g.Migrate(2, 1, nil)
	g.Migrate(0, 1, nil)
	g.Migrate(0, 3, nil)
	g.Migrate(4, 5, nil)
	_, err := g.Compile(graph.Options{})
	for _, want := range []string{"migration 2 -> 1: it must lead to a later version", "two migrations begin with version 0", "migration 4 -> 5: nothing leads on"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %v", want, err)
		}
	}
}

func hint(h *state.Ephemeral[string]) string {
	v, _ := h.Get()
	return v
}
