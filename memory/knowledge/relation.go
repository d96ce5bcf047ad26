package knowledge

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/holdfast-go/holdfast/memory/internal/audited"
)

// MaxHops is how many relations a path has at most.
const MaxHops = 8

// maxNodes is how many nodes a call of Paths may meet. More are no answer that anybody reads.
const maxNodes = 10_000

// A Relation is a fact of a graph.
type Relation struct {
	From     string `json:"from"`             // such as "checkout"
	Name     string `json:"name"`             // "depends on"
	To       string `json:"to"`               // "payment-api"
	Document string `json:"document"`         // that says so; it is visible to the readers of that, and goes with it
	Version  string `json:"version,omitzero"` // of the document, with which it comes and goes; none: it stays while the document is there
}

// String is for people: "checkout depends on payment-api".
func (r Relation) String() string { return r.From + " " + r.Name + " " + r.To }

// A Path is a chain of relations, each from where the one before leads, in the direction in which it was walked.
type Path []Relation

// String shows the path: "web --depends on--> checkout --depends on--> payment-api", from the left to the right as the relations say, whatever
// the direction in which it was walked.
func (p Path) String() string {
	rs := p
	if len(p) > 1 && NodeKey(p[0].To) != NodeKey(p[1].From) {
		rs = slices.Clone(p)
		slices.Reverse(rs)
	}
	var b strings.Builder
	for i, r := range rs {
		if i == 0 {
			b.WriteString(r.From)
		}
		b.WriteString(" --" + r.Name + "--> " + r.To)
	}
	return b.String()
}

// NodeKey is what names of nodes are compared by: case and the spaces around do not count. No node has a zero byte, which Postgres does not take.
func NodeKey(node string) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimSpace(node)), "\x00", "\uFFFD")
}

// Relate stores relations that a document says, in place of all that it said before. The document must be there. ErrRelation names one that misses
// something. It costs one transaction.
func (s *Store) Relate(ctx context.Context, tenant, document string, rs ...Relation) (err error) {
	acc := access(ctx, tenant, "Relate", document)
	if err := s.audit.Begin(ctx, acc); err != nil {
		return err
	}
	defer s.audit.Ended(ctx, acc, &err)
	clean := make([]Relation, len(rs))
	for i, r := range rs {
		var err error
		if clean[i], err = r.clean(document); err != nil {
			return err
		}
	}
	slices.SortFunc(clean, Relation.compare)
	clean = slices.Compact(clean)
	if name(document) != nil {
		return fmt.Errorf("%w: %.300q", ErrNotFound, document)
	}
	return s.update(ctx, tenant, func(ctx context.Context, tx Tx) error {
		there, err := tx.Versions(ctx, Select{Documents: []string{document}})
		if err == nil && len(there) == 0 {
			err = fmt.Errorf("%w: %q", ErrNotFound, document)
		}
		if err != nil {
			return err
		}
		return tx.PutRelations(ctx, document, clean)
	})
}

func (r Relation) clean(document string) (Relation, error) {
	r.From, r.Name, r.To = strings.TrimSpace(r.From), strings.TrimSpace(r.Name), strings.TrimSpace(r.To)
	if r.Document == "" {
		r.Document = document
	}
	for _, s := range []string{r.From, r.Name, r.To} {
		if s == "" || len(s) > 256 || !utf8.ValidString(s) || strings.Contains(s, "\x00") {
			return r, fmt.Errorf("%w: %.300q: each of the three is a text of 1 to 256 bytes, none of them zero", ErrRelation, r.String())
		}
	}
	if r.Version != "" && name(r.Version) != nil {
		return r, fmt.Errorf("%w: %.300q is of version %.80q, which is none", ErrRelation, r.String(), r.Version)
	}
	if r.Document != document {
		return r, fmt.Errorf("%w: %.300q is of document %.80q, not of %.80q", ErrRelation, r.String(), r.Document, document)
	}
	return r, nil
}

// Paths returns the shortest paths of at most hops relations from a node to every other, forwards, or backwards: who is hit when it fails. The
// first relation of each begins, or backwards ends, at the node; shorter ones come first. Nothing that the reader may not read is walked. It
// costs one query for each hop. More than MaxHops hops, or a graph with more than 10,000 nodes within them, is ErrTooLarge.
func (s *Store) Paths(ctx context.Context, r Reader, node string, backwards bool, hops int) (out []Path, err error) {
	defer audited.Read(ctx, s.audit, access(ctx, r.tenant, "Paths"), &out, &err, pathIDs)
	if hops < 1 || hops > MaxHops {
		return nil, fmt.Errorf("%w: %d hops; 1 to %d are walked", ErrTooLarge, hops, MaxHops)
	}
	err = s.view(ctx, r, func(ctx context.Context, tx Tx, shelves []string) error {
		w := walk{tx: tx, sel: SelectRelations{Shelves: shelves, At: tx.Now()}, backwards: backwards}
		out, err = w.from(ctx, NodeKey(node), hops)
		return err
	})
	return out, err
}

// A walk goes through the graph breadth first.
type walk struct {
	tx        Tx
	sel       SelectRelations
	backwards bool
	enough    int // paths from which no further hop is walked, and of one no more is asked for; 0: all are wanted
	seen      map[string]Path
}

func (w *walk) from(ctx context.Context, node string, hops int) (out []Path, err error) {
	w.seen = map[string]Path{node: nil}
	front := []string{node}
	for ; hops > 0 && len(front) > 0 && (w.enough == 0 || len(out) < w.enough); hops-- {
		if front, err = w.step(ctx, front, &out); err != nil {
			return nil, err
		}
		if w.enough == 0 && len(w.seen) > maxNodes {
			return nil, fmt.Errorf("%w: more than %d nodes are within reach; ask for fewer hops", ErrTooLarge, maxNodes)
		}
	}
	return out, nil
}

// step goes one relation further and returns the nodes that it reached first.
func (w *walk) step(ctx context.Context, front []string, out *[]Path) (next []string, err error) {
	s := w.sel
	s.From = front
	if w.backwards {
		s.From, s.To = nil, front
	}
	s.Limit = 4 * maxNodes
	rs, err := w.tx.Relations(ctx, s)
	if err != nil {
		return nil, err
	}
	if w.enough == 0 && len(rs) == s.Limit {
		return nil, fmt.Errorf("%w: more than %d relations in one hop; ask for fewer", ErrTooLarge, s.Limit)
	}
	for _, r := range rs {
		at, to := NodeKey(r.From), NodeKey(r.To)
		if w.backwards {
			at, to = to, at
		}
		if _, known := w.seen[to]; known {
			continue
		}
		w.seen[to] = append(slices.Clone(w.seen[at]), r)
		*out, next = append(*out, w.seen[to]), append(next, to)
	}
	return next, nil
}
