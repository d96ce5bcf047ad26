package state_test

import (
	"errors"
	"fmt"

	"github.com/holdfast-go/holdfast/state"
)

type message struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

func (m message) Key() string { return m.ID }

type refund struct {
	Messages state.Keyed[message]       `json:"messages"`
	Status   state.Last[string]         `json:"status"`
	Docs     state.List[string]         `json:"docs"`
	Scores   state.Map[string, float64] `json:"scores"`
	Tries    state.Sum[int]             `json:"tries"`
}

// A node is a function over a state. It can be tested with the zero value.
func Example() {
	search := func(s *refund) {
		if m, ok := s.Messages.Last(); ok {
			s.Docs.Append("about " + m.Text)
		}
		s.Tries.Add(1)
	}
	s := new(refund)
	s.Messages.Append(message{"1", "refunds"})
	search(s)
	fmt.Println(s.Docs.Slice(), s.Tries.Get())
	// Output: [about refunds] 1
}

// Parallel tasks have a view each, which are folded in task order.
func ExampleSchema_Commit() {
	sc, err := state.Of[refund]()
	if err != nil {
		panic(err)
	}
	a, b := sc.View(sc.Empty()), sc.View(sc.Empty())
	a.Docs.Append("first")
	a.Scores.Put("d1", 0.5)
	b.Docs.Append("second")
	b.Scores.Put("d1", 0.9)
	b.Tries.Add(1)
	for _, v := range []*refund{a, b} {
		if err := sc.Freeze(v); err != nil {
			panic(err)
		}
	}
	h, _, err := sc.Commit(sc.Empty(), []state.Part[refund]{{Task: "a", View: a}, {Task: "b", View: b}})
	if err != nil {
		panic(err)
	}
	b2, _ := sc.JSON(h)
	fmt.Println(string(b2))
	// Output: {"docs":["first","second"],"scores":{"d1":0.9},"tries":1}
}

// Two tasks that set one value do not overwrite each other in silence.
func ExampleConflictError() {
	sc, _ := state.Of[refund]()
	a, b := sc.View(sc.Empty()), sc.View(sc.Empty())
	a.Status.Set("open")
	b.Status.Set("closed")
	_, _ = sc.Freeze(a), sc.Freeze(b)
	_, _, err := sc.Commit(sc.Empty(), []state.Part[refund]{{Task: "triage", View: a}, {Task: "pay", View: b}})
	fmt.Println(errors.Is(err, state.ErrConflict))
	fmt.Println(err)
	// Output:
	// true
	// state: field status (Status): tasks triage, pay wrote it in one superstep; let one of them write it, or use List, Map, Sum or Fold
}

// A stored state is folded without the program that wrote it.
func ExampleRaw() {
	sc, _ := state.Of[refund]()
	v := sc.View(sc.Empty())
	v.Messages.Append(message{"1", "hello"})
	v.Tries.Add(2)
	ws, err := sc.Encode(v)
	if err != nil {
		panic(err)
	}
	for _, w := range ws {
		fmt.Println(w.Field, w.Kind, string(w.Data))
	}
	r := state.NewRaw()
	if err := r.Apply([][]state.Write{ws, ws}, nil); err != nil {
		panic(err)
	}
	b, _ := r.JSON()
	fmt.Println(string(b), r.Size())
	// Output:
	// messages keyed [["1",{"id":"1","text":"hello"}]]
	// tries sum.int64 2
	// {"messages":[{"id":"1","text":"hello"}],"tries":4} 34
}

// Input is JSON of the state's fields.
func ExampleSchema_Merge() {
	sc, _ := state.Of[refund]()
	v := sc.View(sc.Empty())
	fmt.Println(sc.Merge(v, []byte(`{"status":"open","docs":["a"]}`)), v.Status.Get(), v.Docs.Len())
	fmt.Println(sc.Merge(v, []byte(`{"state":"open"}`)))
	// Output:
	// <nil> open 1
	// state: merge: there is no field "state"
}

// Of says everything that is wrong, and what to use.
func ExampleOf() {
	type wrong struct {
		Name string   `json:"name"`
		Tags []string `json:"tags"`
	}
	_, err := state.Of[wrong]()
	fmt.Println(err)
	// Output:
	// state: state_test.wrong.Name has type string, which does not say how writes merge; use state.Last[string]
	// state: state_test.wrong.Tags has type []string, which does not say how writes merge; use state.List[string], or state.Last[[]string] if it is set as a whole
}
