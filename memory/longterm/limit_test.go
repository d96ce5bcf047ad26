package longterm_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/longterm"
)

func statement(key, text string, hour int) longterm.Draft {
	return longterm.Draft{
		Kind: longterm.Semantic, Key: key, Text: text, Origin: longterm.FromUser,
		Source: longterm.Source{
			Conversation: "c", Message: fmt.Sprint("m", hour),
			At: time.Now().Add(-100 * 24 * time.Hour).UTC().Truncate(time.Second).Add(time.Duration(hour) * time.Hour),
		},
	}
}

// R82: who has as much as fits can say what is otherwise, and take it back; one more does not fit.
func TestReplacingAtTheLimit(t *testing.T) {
	t.Parallel()
	u := over(t, longterm.MemoryBackend(), longterm.Options{Items: 2})
	u.add(statement("a", "zq1x", 1), statement("b", "zq2x", 2))
	out := u.add(statement("a", "zq3x", 3))
	if out[0].Fate != longterm.Replaced {
		t.Errorf("a later version: %+v", out[0])
	}
	text := "zq5x"
	edited, err := u.s.Update(t.Context(), u.sc, u.a, out[0].ID, longterm.Edit{Text: &text, Source: statement("a", text, 5).Source})
	if err != nil {
		t.Fatalf("an edit: %v", err)
	}
	if _, err := u.s.RollBack(t.Context(), u.sc, u.a, edited.ID); err != nil {
		t.Errorf("the edit back: %v", err)
	}
	if _, err := u.s.RollBack(t.Context(), u.sc, u.a, out[0].ID); err != nil {
		t.Errorf("back: %v", err)
	}
	if _, err := u.s.Add(t.Context(), u.sc, u.a, statement("c", "zq4x", 4)); !errors.Is(err, longterm.ErrTooLarge) {
		t.Errorf("one more: %v", err)
	}
}

// noVectors is an embedder that does not answer.
type noVectors struct{}

func (noVectors) EmbedDocuments(context.Context, []string) ([][]float32, error) {
	return nil, errors.New("down")
}
func (noVectors) EmbedQuery(context.Context, string) ([]float32, error) {
	return nil, errors.New("down")
}

// R91, R92: the job that makes vectors of what several agents wrote is not shown to one that may not see all of it.
func TestVectorsOfSeveralAgents(t *testing.T) {
	t.Parallel()
	u := over(t, longterm.MemoryBackend(), longterm.Options{Embedder: noVectors{}, Space: "s"})
	low, err := memory.NewAgent("low", memory.Public, ns)
	if err != nil {
		t.Fatal(err)
	}
	hidden := statement("a", "zq1x", 1)
	hidden.Label = memory.Secret
	id := u.add(hidden)[0].ID
	if _, err := u.s.Add(t.Context(), u.sc, low, statement("b", "zq2x", 2)); err != nil {
		t.Fatal(err)
	}
	jobs, err := u.s.Jobs(t.Context(), u.sc, low, "", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range jobs {
		if slices.Contains(j.Items, id) {
			t.Errorf("an agent of the label public is shown %+v", j)
		}
	}
}
