package longterm

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/memory/guard"
	"github.com/holdfast-go/holdfast/memory/internal/relate"
	"github.com/holdfast-go/holdfast/memory/search"
)

// maxPending are the texts that still wait for their extraction of which a search looks at the newest.
const maxPending = 200

// pending are words of the user whose extraction is not done: those that say otherwise than what was found, then those that fit
// a query. They take at most half of the places, so that words that wait for a worker that never comes do not hide what is
// known.
func (u *unit) pending(ctx context.Context, q Query, hits []hit) ([]hit, error) {
	if len(q.Kinds) > 0 {
		return nil, nil
	}
	said, err := u.said(ctx, hits)
	if err != nil || len(said) == 0 {
		return nil, err
	}
	var out []hit
	for _, h := range said {
		if corrects(h.Text, hits) {
			out = append(out, h)
		}
	}
	fit, err := u.fitting(ctx, q, said)
	for _, h := range fit {
		if !slices.ContainsFunc(out, func(o hit) bool { return o.ID == h.ID }) {
			out = append(out, h)
		}
	}
	return cut(out, (q.Limit+1)/2), err
}

// fitting are those of some texts that fit a query, the best first.
func (u *unit) fitting(ctx context.Context, q Query, said []hit) (fit []hit, err error) {
	index, docs := search.NewMap(), make([]search.Doc, len(said))
	for i, h := range said {
		docs[i] = search.Doc{No: uint32(i + 1), Text: h.Text, At: h.From}
	}
	if err := search.Add(ctx, index, "", docs...); err != nil {
		return nil, err
	}
	found, err := search.Search(ctx, index, []string{""}, search.Query{Text: q.Text, Also: q.Also, Now: u.now, Limit: q.Limit})
	for i, f := range found {
		h := said[f.No-1]
		h.score, h.why.Lexical, h.why.Coverage, h.why.Terms = 1/float64(60+i+1), i+1, f.Coverage, terms(f)
		fit = append(fit, h)
	}
	return fit, err
}

// said are the texts of open jobs that the agent may see, the newest first, without those that made one of the hits.
func (u *unit) said(ctx context.Context, hits []hit) ([]hit, error) {
	var said []hit
	err := u.eachJob(ctx, SelectJobs{Open: true, Limit: 500}, func(j *task, _ JobRow) (bool, error) {
		if !sees(u.agent, j) {
			return true, nil
		}
		for i, t := range j.Texts {
			told := slices.ContainsFunc(hits, func(h hit) bool { return h.has(t.Source) })
			if t.Origin == FromUser && !told && len(guard.Planted(t.Text)) == 0 {
				said = append(said, u.saidNow(j, i, t))
			}
		}
		return true, nil
	})
	slices.SortStableFunc(said, func(a, b hit) int { return cmp.Or(b.From.Compare(a.From), cmp.Compare(b.ID, a.ID)) })
	return cut(said, maxPending), err
}

func (u *unit) saidNow(j *task, i int, t Text) hit {
	return hit{
		record: &record{Item: Item{
			ID: fmt.Sprintf("%s-%d", j.ID, i), Namespace: j.Agent.Namespaces()[0], Label: j.Agent.Clearance(), Text: t.Text, Words: t.Text,
			Origin: t.Origin, Sources: []Source{t.Source}, Agent: j.Agent.Name(), Version: 1, From: t.Source.At, Stored: j.Queued,
		}},
		why: Why{Weight: 1, Decay: 1}, pending: true,
	}
}

// corrects reports whether a sentence of a text says otherwise than an item that was found.
func corrects(text string, hits []hit) bool {
	sentences := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("\n.!?;。\uff01\uff1f\uff1b", r) })
	for _, h := range hits {
		for _, s := range sentences {
			if relate.Compare(h.Text, s) == relate.Supersedes {
				return true
			}
		}
	}
	return false
}
