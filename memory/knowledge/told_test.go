package knowledge_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/holdfast-go/holdfast/memory/knowledge"
)

func documentsOf(a knowledge.Answer) (out []string) {
	for _, c := range a.Chunks {
		out = append(out, c.Document)
	}
	slices.Sort(out)
	return out
}

// R107: an aspect whose chunk has no room in the answer is not covered: the model is told nothing of it, and must not pass for one that was.
func TestNoRoomIsNoAnswer(t *testing.T) {
	t.Parallel()
	s := open(t, knowledge.Options{})
	index(t, s, "ship", "Shipping takes 3 days.")
	index(t, s, "clean", "Cleaning costs 5 yuan.")
	index(t, s, "both", "Painting takes 4 days. Painting costs 9 yuan.")
	for limit := 1; limit <= 3; limit++ {
		a := answer(t, s, knowledge.Query{Text: "How long does shipping take, what does cleaning cost, and how long does painting take?", Limit: limit})
		covered := 0
		for _, as := range a.Aspects {
			if as.Chunk == "" {
				continue
			}
			covered++
			if !slices.ContainsFunc(a.Chunks, func(c knowledge.Chunk) bool { return c.ID == as.Chunk }) {
				t.Errorf("limit %d: %q is covered by %s, which is not told", limit, as.Text, as.Chunk)
			}
		}
		if len(a.Aspects) != 3 || covered != limit || len(a.Chunks) != limit {
			t.Errorf("limit %d: %+v", limit, a)
		}
	}
}

// R108: the same words under another heading, or of another thing, are another rule, and none of both is left out.
func TestSameWordsOfOtherThings(t *testing.T) {
	t.Parallel()
	s := open(t, knowledge.Options{})
	index(t, s, "kettle", "# Kettle\n\nReturns are accepted within 30 days of the delivery.")
	index(t, s, "lamp", "# Lamp\n\nReturns are accepted within 30 days of the delivery.")
	const long = "The service %s is kept by the team of the platform in Hangzhou, which is on call at night and on holidays too, and every change of it must be " +
		"announced to the desk of operations before the end of the working day by its owner."
	index(t, s, "payment", fmt.Sprintf(long, "payment-api"))
	index(t, s, "order", fmt.Sprintf(long, "order-api"))
	const heron = "Bread is given to the %s of the garden by the keepers in the morning and in the evening, with fish from the river and a little water from the kitchen, " +
		"and nobody else may come near to it at these times of the day, whoever they are and wherever they are from."
	index(t, s, "heron", fmt.Sprintf(heron, "heron"))
	index(t, s, "stork", fmt.Sprintf(heron, "stork"))
	for question, want := range map[string][]string{
		"How long can I return a kettle, and how long can I return a lamp?": {"kettle", "lamp"},
		"Within how many days are returns accepted?":                        {"kettle", "lamp"},
		"Which team keeps payment-api, and which team keeps order-api?":     {"order", "payment"},
		"Which team keeps a service on call at night?":                      {"order", "payment"},
		"Is bread given to the heron, and is bread given to the stork?":     {"heron", "stork"},
	} {
		a := answer(t, s, knowledge.Query{Text: question})
		if got := documentsOf(a); !slices.Equal(got, want) {
			t.Errorf("%s\n got %q of %+v\nwant %q", question, got, a.Aspects, want)
		}
		for _, as := range a.Aspects {
			if as.Chunk == "" {
				t.Errorf("%s: %q is missing", question, as.Text)
			}
		}
	}
}

// R111: a chunk that is sure by its meaning answers, also where another has more of the words, and the same words from elsewhere do not take its place.
func TestTheSureAnswers(t *testing.T) {
	t.Parallel()
	one := func(i int) []float32 { return [][]float32{{1, 0}, {0, 1}}[i%2] }
	o := quiet(made{func(context.Context) ([]float32, error) { return []float32{0, 1}, nil }, each(one)})
	o.Sure = 0.9
	s := open(t, o)
	err := s.Index(t.Context(), "t", knowledge.Document{
		ID: "zoo", Version: "1", Text: "# Puppies\n\nPuppies like milk.\n\n# Dogs\n\nDogs sleep at noon.", Roles: []string{knowledge.Everyone},
	})
	if err != nil {
		t.Fatal(err)
	}
	a := answer(t, s, knowledge.Query{Text: "When do puppies rest?", Limit: 1})
	if a.Refused || len(a.Chunks) != 1 || a.Chunks[0].ID != "zoo@1#2" || a.Aspects[0].Chunk != "zoo@1#2" {
		t.Errorf("%+v", a)
	}
}

// R111: a node on which thousands depend is told of by the nearest, and takes nothing from what the documents say.
func TestHub(t *testing.T) {
	t.Parallel()
	s := open(t, knowledge.Options{Hops: 4})
	index(t, s, "hub", "The hub is kept by the data team.")
	var rs []knowledge.Relation
	for i := range 10_001 {
		rs = append(rs, knowledge.Relation{From: fmt.Sprint("s", i), Name: "depends on", To: "hub"}, knowledge.Relation{From: "web", Name: "depends on", To: fmt.Sprint("s", i)})
	}
	if err := s.Relate(t.Context(), "t", "hub", rs...); err != nil {
		t.Fatal(err)
	}
	a := answer(t, s, knowledge.Query{Text: "Which team keeps the hub, and who is hit if the hub fails?"})
	if len(a.Chunks) != 1 || len(a.Paths) != 50 || len(a.Paths[49]) != 1 {
		t.Errorf("%d chunks, %d paths", len(a.Chunks), len(a.Paths))
	}
	r, err := knowledge.NewReader("t")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Paths(t.Context(), r, "hub", true, 4); !errors.Is(err, knowledge.ErrTooLarge) {
		t.Errorf("all of them: %v", err)
	}
}

// An unrelated back end fails where a relation is asked for.
type unrelated struct{ knowledge.Backend }

func (b unrelated) View(ctx context.Context, tenant string, f func(knowledge.Tx) error) error {
	return b.Backend.View(ctx, tenant, func(tx knowledge.Tx) error { return f(unrelatedTx{tx}) })
}

type unrelatedTx struct{ knowledge.Tx }

func (unrelatedTx) Related(context.Context) (bool, error) { return false, errFault }

func (unrelatedTx) Relations(context.Context, knowledge.SelectRelations) ([]knowledge.Relation, error) {
	return nil, errFault
}

// R109: where the graph is off, and where the question is for none, not one relation is asked for.
func TestNoGraphIsAsked(t *testing.T) {
	t.Parallel()
	back := unrelated{knowledge.MemoryBackend()}
	off, on := shared(back)(t, knowledge.Options{}), shared(back)(t, knowledge.Options{Hops: 2})
	index(t, off, "hub", "The hub is kept by the data team.")
	if err := off.Relate(t.Context(), "t", "hub", knowledge.Relation{From: "web", Name: "depends on", To: "hub"}); err != nil {
		t.Fatal(err)
	}
	answer(t, off, knowledge.Query{Text: "Who is hit if the hub fails?"})
	answer(t, on, knowledge.Query{Text: "Which team keeps the hub?"})
	r, err := knowledge.NewReader("t")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := on.Retrieve(t.Context(), r, knowledge.Query{Text: "Who is hit if the hub fails?"}); !errors.Is(err, errFault) {
		t.Errorf("the graph is not asked where it is on: %v", err)
	}
}

// R111: words, vectors and the graph answer one question together.
func TestAllWaysTogether(t *testing.T) {
	t.Parallel()
	o := quiet(made{func(context.Context) ([]float32, error) { return []float32{0, 1}, nil }, each(func(i int) []float32 {
		return [][]float32{{1, 0}, {0, 1}}[i]
	})})
	o.Sure, o.Hops = 0.9, 2
	s := open(t, o)
	err := s.Index(t.Context(), "t", knowledge.Document{
		ID: "ops", Version: "1", Text: "# Hub\n\nThe hub is kept by the data team.\n\n# Alarm\n\nRing the bell.", Roles: []string{knowledge.Everyone},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Relate(t.Context(), "t", "ops", knowledge.Relation{From: "web", Name: "depends on", To: "hub"}); err != nil {
		t.Fatal(err)
	}
	a := answer(t, s, knowledge.Query{Text: "Which team keeps the hub, and who is hit if the hub fails?"})
	if len(a.Chunks) != 2 || a.Chunks[0].ID != "ops@1#1" || a.Chunks[1].ID != "ops@1#2" || len(a.Paths) != 1 {
		t.Errorf("%+v", a)
	}
}
