package longterm

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/internal/audited"
	"github.com/holdfast-go/holdfast/memory/search"
)

// Search returns what fits a query and holds, the best first; none if nothing fits.
//
// Items are found by their words and, with an Embedder, by the direction of their vectors; what is in neither list is not
// returned, however few are. The two lists are joined by rank (search.Fuse). The weight of the kind and the decay of the age,
// max(Options.Floor, 2^(-age/half-life)), break ties: an item passes the one before it only if these outweigh by how much that
// fits better. The profile comes behind what was found. An embedder that fails, or takes more than 2 seconds or half the time
// of the call, is done without.
//
// The words of exchanges whose extraction is not done are searched too, or shown if they say otherwise than an item that was
// found: a user who has just said something is not answered as if they had not. They come first, and take at most half of the
// places. Items with an instruction to a model in them are kept back.
//
// Of a text of more than 8 KB the middle is not looked for. It costs an index lookup for each term, a select, and a select of
// the open jobs.
func (s *Store) Search(ctx context.Context, sc memory.Scope, a memory.Agent, q Query) (out []Hit, err error) {
	defer audited.Read(ctx, s.audit, access(sc, a.Name(), "Search", ""), &out, &err, hitIDs)
	if q.Limit <= 0 {
		q.Limit = 5
	}
	q.Limit = min(q.Limit, 1000)
	q.Profile = min(q.Profile, q.Limit)
	q.AsOf, q.Text = moment(q.AsOf), middle(q.Text, maxQuery)
	if err := cmp.Or(sc.Valid(), a.Valid(), checkPage(q.Kinds, "")); err != nil {
		return nil, err
	}
	err = s.call(ctx, func(ctx context.Context) error {
		v := s.queryVector(ctx, q)
		return s.back.View(ctx, sc, func(tx Tx) (err error) {
			out, err = s.unit(tx, sc, a).recall(ctx, q, v)
			return err
		})
	})
	return out, err
}

// maxQuery is the longest text that is looked for, in bytes.
const maxQuery = 8 << 10

// queryVector is the vector of a question, or nil: a search goes without, and says so once.
func (s *Store) queryVector(ctx context.Context, q Query) (v []float32) {
	if s.o.Embedder == nil || q.Text == "" || !q.AsOf.IsZero() {
		return nil
	}
	const most = 2 * time.Second
	ctx, cancel := half(ctx)
	defer cancel()
	ctx, stop := context.WithTimeout(ctx, most)
	defer stop()
	v, err := s.embedQuery(ctx, q.Text)
	if failed := err != nil; s.blind.Swap(failed) != failed {
		if failed {
			s.o.Logger.WarnContext(ctx, "longterm: the embedder fails; searches go by words alone", "error", fault(err, []Text{{Text: q.Text}}))
		} else {
			s.o.Logger.InfoContext(ctx, "longterm: the embedder answers again")
		}
	}
	return v
}

func (s *Store) embedQuery(ctx context.Context, text string) (v []float32, err error) {
	defer func() {
		if r := recover(); r != nil {
			v, err = nil, &PanicError{Value: fmt.Sprint(r), Stack: debug.Stack()}
		}
	}()
	v, err = s.o.Embedder.EmbedQuery(ctx, text)
	if err == nil && !usable(v) {
		err = fmt.Errorf("longterm: the vector of the query is empty, only zeros, or holds what is no number")
	}
	if err != nil {
		return nil, err
	}
	return v, nil
}

// recall is a search within a view.
func (u *unit) recall(ctx context.Context, q Query, v []float32) ([]Hit, error) {
	if !q.AsOf.IsZero() {
		return u.past(ctx, q)
	}
	found, err := u.found(ctx, q, v)
	if err != nil {
		return nil, err
	}
	profile, err := u.profile(ctx, q)
	if err != nil {
		return nil, err
	}
	hits := join(found, profile, q)
	pending, err := u.pending(ctx, q, hits)
	if err != nil {
		return nil, err
	}
	return u.show(cut(append(pending, hits...), q.Limit)), nil
}

// A hit is a record that was found, and why.
type hit struct {
	*record
	score   float64
	words   float64 // its score by words
	why     Why
	pending bool
}

// found are the items that fit a query: as many as are wanted, whatever has to be passed over for them.
func (u *unit) found(ctx context.Context, q Query, v []float32) ([]hit, error) {
	shelves, err := u.visible(ctx, "")
	if err != nil || len(shelves) == 0 {
		return nil, err
	}
	for k := max(50, 4*q.Limit); ; k *= 4 {
		words, err := search.Search(ctx, u.index, shelves, search.Query{Text: q.Text, Also: q.Also, Now: u.now, Limit: k})
		if err != nil {
			return nil, err
		}
		var near []search.Hit
		if v != nil {
			if near, err = u.tx.Nearest(ctx, shelves, u.s.o.Space, v, k); err != nil {
				return nil, err
			}
		}
		all := len(words) < k && len(near) < k
		near = slices.DeleteFunc(near, func(h search.Hit) bool { return !(h.Score >= u.s.o.Cosine) })
		hits, err := u.scored(ctx, q, words, near)
		if err != nil {
			return nil, err
		}
		if hits = u.harmless(hits, q.Limit); len(hits) >= q.Limit || all {
			return hits, nil
		}
	}
}

// scored joins what was found by words and by vectors.
func (u *unit) scored(ctx context.Context, q Query, words, near []search.Hit) ([]hit, error) {
	records, err := u.at(ctx, slices.Concat(words, near))
	if err != nil {
		return nil, err
	}
	by := map[search.Place]*record{}
	for _, r := range records {
		by[search.Place{Shelf: r.Shelf, No: r.No}] = r
	}
	var hits []hit
	for _, f := range search.Fuse(words, near) {
		r := by[f.Place]
		if r == nil || !u.wanted(r, q) {
			continue
		}
		h := u.weighed(r, f.Score, Why{Lexical: f.Ranks[0], Vector: f.Ranks[1]})
		if n := h.why.Lexical; n > 0 {
			h.words, h.why.Coverage, h.why.Terms = words[n-1].Score, words[n-1].Coverage, terms(words[n-1])
		}
		if n := h.why.Vector; n > 0 {
			h.why.Cosine = near[n-1].Score
		}
		hits = append(hits, h)
	}
	breakTies(hits)
	return hits, nil
}

// terms are those of the query that a hit has.
func terms(h search.Hit) (out []string) {
	for _, t := range h.Terms {
		out = append(out, t.Term)
	}
	return out
}

// wanted reports whether an item may be an answer.
func (u *unit) wanted(r *record, q Query) bool {
	return r.State == Holds && !r.expired(u.now) && (len(q.Kinds) == 0 || slices.Contains(q.Kinds, r.Kind))
}

// harmless takes those out of the hits that hold an instruction to a model, and tells of them, until as many are left as are wanted. Behind
// these it does not look.
func (u *unit) harmless(hits []hit, want int) (out []hit) {
	for i, h := range hits {
		if len(out) == want {
			return append(out, hits[i:]...)
		}
		if h.planted() {
			u.s.o.Logger.Warn("longterm: an item with an instruction to a model is kept back; forget it", "scope", u.scope.String(), "item", h.ID)
			continue
		}
		out = append(out, h)
	}
	return out
}

// weighed is a hit with what its kind and age are worth.
func (u *unit) weighed(r *record, score float64, w Why) hit {
	w.Weight = cmp.Or(u.s.o.Weights[r.Kind], 1)
	w.Decay = u.s.o.decay(r.Kind, u.now.Sub(r.From))
	return hit{record: r, score: score, why: w}
}

// decay is what age leaves of a score: half in each half-life, by the second, and never less than the floor.
func (o Options) decay(k Kind, age time.Duration) float64 {
	life := o.HalfLife[k]
	if life <= 0 || age <= 0 {
		return 1
	}
	return max(o.Floor, math.Exp2(-age.Seconds()/life.Seconds()))
}

// breakTies lets each hit pass those before it that fit hardly better and are worth less, and those that are equal and older.
// Scores are in order afterwards.
func breakTies(hits []hit) {
	for i := range hits {
		for j := i; j > 0 && hits[j].passes(hits[j-1]); j-- {
			hits[j], hits[j-1] = hits[j-1], hits[j]
		}
	}
	for i := range hits {
		hits[i].score *= hits[i].worth()
		if i > 0 {
			hits[i].score = min(hits[i].score, hits[i-1].score)
		}
	}
}

func (h hit) worth() float64 { return h.why.Weight * h.why.Decay }

// passes reports whether a hit, which fits no better than a, is worth so much more that it comes before it.
func (h hit) passes(a hit) bool {
	const equal = 1e-9
	gain := h.worth()/a.worth() - a.lead(h)
	return gain > equal || gain > -equal && h.From.After(a.From)
}

// lead is how many times better a hit fits than another: by what found both, or else by rank.
func (h hit) lead(o hit) float64 {
	lead := 0.0
	if h.words > 0 && o.words > 0 {
		lead = h.words / o.words
	}
	if h.why.Cosine > 0 && o.why.Cosine > 0 {
		lead = max(lead, h.why.Cosine/o.why.Cosine)
	}
	if lead == 0 {
		lead = h.score / o.score
	}
	return lead
}

// profile are the newest preferences and habits.
func (u *unit) profile(ctx context.Context, q Query) ([]hit, error) {
	if q.Profile <= 0 {
		return nil, nil
	}
	sel := u.seen(Select{Kinds: []Kind{Preference, Habit}, States: []State{Holds}, Newest: true})
	for sel.Limit = 2 * q.Profile; ; sel.Limit *= 4 {
		found, err := u.items(ctx, sel)
		if err != nil {
			return nil, err
		}
		var hits []hit
		for _, r := range found {
			if u.wanted(r, q) {
				hits = append(hits, u.weighed(r, 0, Why{Profile: true}))
			}
		}
		if hits = cut(u.harmless(hits, q.Profile), q.Profile); len(hits) == q.Profile || len(found) < sel.Limit {
			return hits, nil
		}
	}
}

// join puts the profile behind what was found, each once, and lets it have its places.
func join(found, profile []hit, q Query) []hit {
	is := map[string]bool{}
	for _, h := range profile {
		is[h.ID] = true
	}
	var out []hit
	kept := map[string]bool{}
	for _, h := range found {
		if h.why.Profile = is[h.ID]; h.why.Profile || len(out) < q.Limit-len(profile)+overlap(out) {
			out, kept[h.ID] = append(out, h), true
		}
	}
	for _, h := range profile {
		if !kept[h.ID] {
			out = append(out, h)
		}
	}
	return out
}

func overlap(hits []hit) (n int) {
	for _, h := range hits {
		if h.why.Profile {
			n++
		}
	}
	return n
}

func cut(hits []hit, limit int) []hit { return hits[:min(len(hits), limit)] }

func (u *unit) show(hits []hit) []Hit {
	var out []Hit
	for _, h := range hits {
		out = append(out, Hit{h.shown(), h.score, h.why, h.pending})
	}
	return out
}
