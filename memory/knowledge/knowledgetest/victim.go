package knowledgetest

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/memory/knowledge"
)

// parts of a document of Work.
const parts = 30

// edition is one version of two documents, which are indexed together.
func edition(n int) (out []knowledge.Document) {
	for _, id := range []string{"zebra", "giraffe"} {
		var b strings.Builder
		for i := range parts {
			fmt.Fprintf(&b, "## Part %d\n\nThe animal %s has number%d in edition %d.\n\n", i, id, i, n)
		}
		out = append(out, knowledge.Document{ID: id, Version: strconv.Itoa(n), Text: b.String(), Roles: []string{knowledge.Everyone}})
	}
	return out
}

// Work indexes one version after another of two documents for ever, from the one after last, and prints the number of each that was acknowledged. It
// is for a process that a test kills.
func Work(s *knowledge.Store, tenant string, last int, out io.Writer) error {
	for n := last + 1; ; n++ {
		if err := s.Index(context.Background(), tenant, edition(n)...); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(out, n); err != nil {
			return err
		}
	}
}

// Check fails unless both documents are there, of one version, no older than the last that was acknowledged, with each of their chunks once and none of
// another version. It returns the version.
func Check(t *testing.T, s *knowledge.Store, tenant string, acknowledged int) int {
	t.Helper()
	r, err := knowledge.NewReader(tenant)
	if err != nil {
		t.Fatal(err)
	}
	docs, err := s.Documents(t.Context(), r, "", 0)
	if err != nil || len(docs) != 2 || docs[0].Version != docs[1].Version {
		t.Fatalf("%+v, %v", docs, err)
	}
	n, err := strconv.Atoi(docs[0].Version)
	if err != nil || n < acknowledged {
		t.Fatalf("version %d; %d was acknowledged: %v", n, acknowledged, err)
	}
	a, err := s.Retrieve(t.Context(), r, knowledge.Query{Text: "Which animal has which number in which edition?", Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for _, c := range a.Chunks {
		got = append(got, c.ID+" "+c.Text)
	}
	for _, d := range edition(n) {
		full, err := s.Document(t.Context(), r, d.ID)
		if err != nil || full.Text != d.Text {
			t.Fatalf("the text of %s: %v", d.ID, err)
		}
		for i := range parts {
			want = append(want, fmt.Sprintf("%s@%d#%d The animal %s has number%d in edition %d.", d.ID, n, i+1, d.ID, i, n))
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Fatalf("chunks\n got %q\nwant %q", got, want)
	}
	return n
}
