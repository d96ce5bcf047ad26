package knowledge_test

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/holdfast-go/holdfast/memory/knowledge"
)

// TestRefusalOfPublicSet tells how well coverage parts questions whose answer is there from those whose answer was taken out, over RGB (Chen et al.,
// "Benchmarking Large Language Models in Retrieval-Augmented Generation", AAAI 2024), in Chinese. All texts of all questions are one library; for the
// second curve that of a question is without its own positives. It measures, and has no bar: the texts that are left are about the same thing.
func TestRefusalOfPublicSet(t *testing.T) {
	dir := os.Getenv("HOLDFAST_EVAL_DATA")
	if dir == "" {
		t.Skip("HOLDFAST_EVAL_DATA names no folder of public sets")
	}
	questions := readRGB(t, filepath.Join(dir, "rgb_zh", "zh_refine.json"))
	var docs []knowledge.Document
	for _, q := range questions {
		for i, text := range q.Positive {
			docs = append(docs, knowledge.Document{ID: fmt.Sprintf("%d-p%d", q.ID, i), Version: "1", Text: text, Roles: []string{knowledge.Everyone}})
		}
		for i, text := range q.Negative {
			docs = append(docs, knowledge.Document{ID: fmt.Sprintf("%d-n%d", q.ID, i), Version: "1", Text: text, Roles: []string{knowledge.Everyone}})
		}
	}
	s := open(t, knowledge.Options{Floor: 0.0001})
	r, err := knowledge.NewReader("t")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Index(t.Context(), "t", docs...); err != nil {
		t.Fatal(err)
	}
	var with, without []float64
	for _, q := range questions {
		own := func(i int) string { return fmt.Sprintf("%d-p%d", q.ID, i) }
		with = append(with, ask(t, s, r, q.Query))
		var ids []string
		var again []knowledge.Document
		for i, text := range q.Positive {
			ids = append(ids, own(i))
			again = append(again, knowledge.Document{ID: own(i), Version: "1", Text: text, Roles: []string{knowledge.Everyone}})
		}
		if err := s.Withdraw(t.Context(), "t", ids...); err != nil {
			t.Fatal(err)
		}
		without = append(without, ask(t, s, r, q.Query))
		if err := s.Index(t.Context(), "t", again...); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d questions; floor: refused without need, answered wrongly", len(questions))
	for _, c := range knowledge.Curve(with, without) {
		t.Logf("%.2f: %4.1f%% %4.1f%%", c.Floor, 100*c.Refused, 100*c.Wrong)
	}
}

func ask(t *testing.T, s *knowledge.Store, r knowledge.Reader, question string) float64 {
	t.Helper()
	a, err := s.Retrieve(t.Context(), r, knowledge.Query{Text: question})
	if err != nil {
		t.Fatal(err)
	}
	return a.Coverage()
}

type rgb struct {
	ID                 int
	Query              string
	Positive, Negative []string
}

func readRGB(t *testing.T, path string) (out []rgb) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var q rgb
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			t.Fatal(err)
		}
		for i, text := range q.Positive {
			q.Positive[i] = cmp.Or(text, "-")
		}
		q.Negative = slices.DeleteFunc(q.Negative, func(s string) bool { return s == "" })
		out = append(out, q)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}
