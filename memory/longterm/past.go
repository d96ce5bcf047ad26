package longterm

import (
	"context"
	"slices"

	"github.com/holdfast-go/holdfast/memory/search"
)

// past searches what held at a time, in an index made for the occasion.
func (u *unit) past(ctx context.Context, q Query) ([]Hit, error) {
	index := search.NewMap()
	var all []*record
	var docs []search.Doc
	sel := Select{Kinds: q.Kinds, States: []State{Holds, Past}, AsOf: q.AsOf, Limit: 1000}
	err := u.each(ctx, u.seen(sel), func(r *record) bool {
		if r.held(q.AsOf) && !r.planted() {
			all = append(all, r)
			d := r.doc()
			d.No = uint32(len(all))
			docs = append(docs, d)
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	if err := search.Add(ctx, index, "", docs...); err != nil {
		return nil, err
	}
	near, err := search.Search(ctx, index, []string{""}, search.Query{Text: q.Text, Also: q.Also, Now: q.AsOf, Limit: q.Limit})
	if err != nil {
		return nil, err
	}
	u.now = q.AsOf // ages are of then
	var hits []hit
	for i, h := range near {
		w := Why{Lexical: i + 1, Coverage: h.Coverage, Terms: terms(h)}
		found := u.weighed(all[h.No-1], 1/float64(60+i+1), w)
		found.words = h.Score
		hits = append(hits, found)
	}
	breakTies(hits)
	return u.show(cut(join(hits, u.profileOf(all, q), q), q.Limit)), nil
}

// profileOf are the newest preferences and habits of records.
func (u *unit) profileOf(all []*record, q Query) (hits []hit) {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b *record) int { return b.From.Compare(a.From) })
	for _, r := range all {
		if len(hits) < q.Profile && (r.Kind == Preference || r.Kind == Habit) {
			hits = append(hits, u.weighed(r, 0, Why{Profile: true}))
		}
	}
	return hits
}
