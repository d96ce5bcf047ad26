package knowledge

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/memory/internal/audited"
	"github.com/holdfast-go/holdfast/memory/search"
)

// A Query is a question.
type Query struct {
	Text     string
	Also     []string // what it may be about besides, such as what "it" stands for
	Subjects []string // that it is known to be about: what rules one of them is an answer whatever its words are
	Limit    int      // chunks at most; default 4
}

// An Answer is what the documents say to a question.
type Answer struct {
	Chunks  []Chunk  `json:"chunks"` // the best first; none of a refusal
	Aspects []Aspect `json:"aspects"`
	Paths   []Path   `json:"paths,omitzero"` // of relations, from or to what the question names; see Options.Hops
	Refused bool     `json:"refused"`        // the documents do not say: do not answer from anything else
	Near    []Chunk  `json:"near,omitzero"`  // of a refusal: what came nearest, for people
}

// Coverage is that of the aspect that is covered best, 0 to 1. Options.Floor is the least of an answer.
func (a Answer) Coverage() (best float64) {
	for _, p := range a.Aspects {
		best = max(best, p.Coverage)
	}
	return best
}

// maxLimit is how many chunks an answer has at most.
const maxLimit = 100

// Retrieve returns what the documents say that a reader may read.
//
// Chunks are found by their words and, with an Embedder, by meaning. What counts as an answer goes by coverage: the share of an aspect of the question
// that one chunk has, where rare words weigh more, words that only ask weigh nothing, and a chunk without a time, an amount or a name is half an answer
// to a question for one. An aspect below Options.Floor has no Chunk: say so; where that is all of them the answer is refused. A failing embedder, and
// one that takes more than half of the time or two seconds, is logged, and the words alone count.
func (s *Store) Retrieve(ctx context.Context, r Reader, q Query) (out Answer, err error) {
	defer audited.Read(ctx, s.audit, access(ctx, r.tenant, "Retrieve"), &out, &err, Answer.ids)
	if q.Limit <= 0 {
		q.Limit = 4
	}
	q.Limit = min(q.Limit, maxLimit)
	err = r.valid()
	if err == nil {
		err = s.call(ctx, s.o.OpTimeout, func(ctx context.Context) error {
			out, err = s.retrieve(ctx, r, q)
			return err
		})
	}
	if err != nil {
		return Answer{}, err
	}
	return out, nil
}

func (s *Store) retrieve(ctx context.Context, r Reader, q Query) (Answer, error) {
	l := lookup{Query: q, o: s.o, vector: s.vector(ctx, q.Text), aspects: aspects(q.Text, q.Also)}
	var out Answer
	err := s.viewIn(ctx, r, func(ctx context.Context, tx Tx, shelves []string) error {
		l.tx, l.shelves, l.rows, l.cosines = tx, shelves, map[search.Place]ChunkRow{}, map[search.Place]float64{}
		found, err := l.find(ctx)
		if err != nil {
			return err
		}
		if out, err = l.answer(ctx, found); err != nil {
			return err
		}
		out.Paths, err = l.follow(ctx)
		out.Refused = out.Refused && len(out.Paths) == 0
		return err
	})
	if err == nil && out.Aspects == nil { // no shelf is the reader's
		out, err = l.answer(ctx, nil)
	}
	return out, err
}

// vector is that of a question; nil without an embedder, and where it fails.
func (s *Store) vector(ctx context.Context, question string) []float32 {
	if s.o.Embedder == nil || strings.TrimSpace(question) == "" {
		return nil
	}
	v, err := s.embedQuery(ctx, question)
	if err != nil {
		s.o.Logger.WarnContext(ctx, "knowledge: the embedder failed; words alone are searched", "error", err)
		return nil
	}
	return v
}

// A lookup is a question on its way.
type lookup struct {
	Query
	o       Options
	tx      Tx
	shelves []string
	vector  []float32
	aspects []aspect
	cosines map[search.Place]float64  // of what was found by meaning
	rows    map[search.Place]ChunkRow // that are in force
}

// A candidate is a chunk that was found.
type candidate struct {
	part
	document, version string
	score             float64
	cosine            float64
	wording           wording
	covers            []float64 // each aspect
	best              float64   // of them
	rules             string    // a subject that was asked for
}

// find returns what may be an answer, the best first.
func (l *lookup) find(ctx context.Context) ([]candidate, error) {
	depth := max(5*l.Limit, 20)
	ways := [][]search.Hit{}
	add := func(hits []search.Hit, err error) error {
		ways = append(ways, hits)
		return err
	}
	all := search.Query{Text: l.Text, Also: slices.Concat(l.Also, l.Subjects)}
	if err := add(l.words(ctx, all, depth)); err != nil {
		return nil, err
	}
	if len(l.aspects) > 1 {
		for _, a := range l.aspects {
			if err := add(l.words(ctx, search.Query{Text: a.text, Also: l.Also}, depth)); err != nil {
				return nil, err
			}
		}
	}
	for _, subject := range l.Subjects {
		if err := add(l.words(ctx, search.Query{Text: subject, Also: []string{l.Text}}, depth)); err != nil {
			return nil, err
		}
	}
	if l.vector != nil {
		if err := add(l.meaning(ctx, depth)); err != nil {
			return nil, err
		}
	}
	return l.load(ctx, search.Fuse(ways...))
}

// words finds by words. What is in the index and not in force must not take the place of what is: it looks further until it has enough.
func (l *lookup) words(ctx context.Context, q search.Query, enough int) ([]search.Hit, error) {
	q.Now = l.tx.Now()
	return l.inForce(ctx, enough, func(limit int) ([]search.Hit, error) {
		q.Limit = limit
		return search.Search(ctx, l.tx, l.shelves, q)
	})
}

func (l *lookup) meaning(ctx context.Context, enough int) ([]search.Hit, error) {
	return l.inForce(ctx, enough, func(limit int) ([]search.Hit, error) {
		hits, err := l.tx.Nearest(ctx, l.shelves, l.o.Space, l.vector, limit)
		for _, h := range hits {
			l.cosines[search.Place{Shelf: h.Shelf, No: h.No}] = h.Score
		}
		return slices.DeleteFunc(hits, func(h search.Hit) bool { return h.Score < l.o.Cosine }), err
	})
}

func (l *lookup) inForce(ctx context.Context, enough int, find func(limit int) ([]search.Hit, error)) ([]search.Hit, error) {
	for limit := 2 * enough; ; limit *= 4 {
		hits, err := find(limit)
		if err != nil {
			return nil, err
		}
		rows, err := l.tx.Chunks(ctx, places(hits), l.tx.Now())
		if err != nil {
			return nil, err
		}
		if len(rows) < enough && len(hits) == limit {
			continue
		}
		for _, c := range rows {
			l.rows[c.Place] = c
		}
		hits = slices.DeleteFunc(hits, func(h search.Hit) bool { _, ok := l.rows[search.Place{Shelf: h.Shelf, No: h.No}]; return !ok })
		return hits[:min(enough, len(hits))], nil
	}
}

func places(hits []search.Hit) []search.Place {
	out := make([]search.Place, len(hits))
	for i, h := range hits {
		out[i] = search.Place{Shelf: h.Shelf, No: h.No}
	}
	return out
}

// load measures the chunks of hits.
func (l *lookup) load(ctx context.Context, hits []search.Fused) ([]candidate, error) {
	tells, err := l.tells(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]candidate, len(hits))
	for i, h := range hits {
		row := l.rows[h.Place]
		c := candidate{document: row.Document, version: row.Version, score: h.Score, cosine: l.cosines[h.Place]}
		if c.part, err = row.part(); err != nil {
			return nil, err
		}
		l.measure(&c, tells)
		out[i] = c
	}
	return out, nil
}

// tells is what each term of the question tells.
func (l *lookup) tells(ctx context.Context) (map[string]float64, error) {
	terms := []string{nowhere}
	for _, a := range l.aspects {
		terms = slices.AppendSeq(terms, maps.Keys(a.terms))
	}
	tells, err := search.Weigh(ctx, l.tx, l.shelves, terms, l.tx.Now())
	for _, a := range l.aspects {
		a.sift(tells)
	}
	return tells, err
}

func (l *lookup) measure(c *candidate, tells map[string]float64) {
	c.wording = c.part.wording()
	for _, s := range l.Subjects {
		if slices.Contains(c.Subjects, s) {
			c.rules = s
			break
		}
	}
	for _, a := range l.aspects {
		c.covers = append(c.covers, a.coverage(c.wording, tells))
		c.best = max(c.best, c.covers[len(c.covers)-1])
	}
}

// answer picks the chunks.
func (l *lookup) answer(_ context.Context, found []candidate) (Answer, error) {
	found = l.distinct(found)
	out := Answer{Aspects: []Aspect{}, Chunks: []Chunk{}}
	var picked []int
	pick := func(i int) {
		if !slices.Contains(picked, i) {
			picked = append(picked, i)
		}
	}
	for a := range l.aspects {
		told := Aspect{Text: l.aspects[a].text}
		if best, ok := bestFor(found, a); ok {
			told.Coverage = found[best].covers[a]
		}
		if i, ok := l.answering(found, a); ok {
			pick(i)
		}
		out.Aspects = append(out.Aspects, told)
	}
	for i, c := range found {
		if c.rules != "" {
			pick(i)
		}
	}
	if out.Refused = len(picked) == 0; out.Refused {
		for _, c := range found[:min(l.Limit, len(found))] {
			out.Near = append(out.Near, l.chunk(c))
		}
		return out, nil
	}
	for i, c := range found {
		if c.best >= l.o.Floor*related || l.sure(c) {
			pick(i)
		}
	}
	picked = picked[:min(l.Limit, len(picked))]
	for _, i := range picked {
		out.Chunks = append(out.Chunks, l.chunk(found[i]))
	}
	l.name(out.Aspects, found, picked)
	return out, nil
}

// name says of each aspect which of the chunks that are told covers it. One that there was no room for covers nothing.
func (l *lookup) name(aspects []Aspect, found []candidate, picked []int) {
	told := make([]candidate, len(picked))
	for i, p := range picked {
		told[i] = found[p]
	}
	for a := range aspects {
		if i, ok := l.answering(told, a); ok {
			aspects[a].Chunk = told[i].ID
		}
	}
}

// related is the share of Options.Floor that a further chunk of an answer has.
const related = 0.6

func (l *lookup) sure(c candidate) bool { return l.o.Sure > 0 && c.cosine >= l.o.Sure }

// answering returns the candidate that answers an aspect: the one that covers it best, or else the one that is surest by its meaning.
func (l *lookup) answering(found []candidate, aspect int) (surest int, ok bool) {
	if best, ok := bestFor(found, aspect); ok && found[best].covers[aspect] >= l.o.Floor {
		return best, true
	}
	for i, c := range found {
		if l.sure(c) && (!ok || c.cosine > found[surest].cosine) {
			surest, ok = i, true
		}
	}
	return surest, ok
}

// bestFor returns the candidate that covers an aspect best, of equal ones the one that was found first.
func bestFor(found []candidate, aspect int) (best int, ok bool) {
	for i, c := range found {
		if !ok || c.covers[aspect] > found[best].covers[aspect] {
			best, ok = i, true
		}
	}
	return best, ok
}

func (l *lookup) chunk(c candidate) Chunk {
	out := Chunk{
		ID: c.ID, Document: c.document, Version: c.version, Title: c.Title, Text: c.Text, Effective: c.Effective, Source: c.Source,
		Score: c.score, Coverage: c.best, Subject: c.rules, Terms: []string{},
	}
	terms := map[string]bool{}
	for _, a := range l.aspects {
		for t := range a.terms {
			if c.wording.terms[t] {
				terms[t] = true
			}
		}
	}
	out.Terms = slices.AppendSeq(out.Terms, maps.Keys(terms))
	slices.Sort(out.Terms)
	if out.Subject == "" {
		out.Subject = l.subject(c)
	}
	return out
}

// subject is the one of a document's whose words the question has most of, or the first.
func (l *lookup) subject(c candidate) (best string) {
	asked := termSet(strings.Join(append([]string{l.Text}, l.Also...), " "))
	most := -1
	for _, s := range c.Subjects {
		n := 0
		for _, t := range search.Terms(s) {
			if asked[t] {
				n++
			}
		}
		if n > most {
			best, most = s, n
		}
	}
	return best
}
