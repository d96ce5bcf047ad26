package longterm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/internal/audited"
)

// batch is how many texts an embedder gets at once.
const batch = 64

// vectorsOf returns the vectors of drafts by their texts; none if the embedder fails, since an item is stored without.
func (s *Store) vectorsOf(ctx context.Context, ps []*prepared) map[string][]float32 {
	if s.o.Embedder == nil {
		return nil
	}
	var texts []string
	for _, p := range ps {
		if p.dropped == "" && p.Origin != Inferred && !p.Ends {
			texts = append(texts, p.Text)
		}
	}
	slices.Sort(texts)
	out := map[string][]float32{}
	for texts := range slices.Chunk(slices.Compact(texts), batch) {
		vectors, err := s.embed(ctx, texts)
		if err != nil {
			s.o.Logger.WarnContext(ctx, "longterm: items are stored without vectors; Work makes them later", "error", fault(err, nil))
			return out
		}
		for i, text := range texts {
			out[text] = vectors[i]
		}
	}
	return out
}

// embed calls the embedder outside of any transaction, for at most half of the time that is left.
func (s *Store) embed(ctx context.Context, texts []string) (vectors [][]float32, err error) {
	ctx, cancel := half(ctx)
	defer cancel()
	defer func() {
		if r := recover(); r != nil {
			err = &PanicError{Value: fmt.Sprint(r), Stack: debug.Stack()}
		}
	}()
	if vectors, err = s.o.Embedder.EmbedDocuments(ctx, texts); err != nil {
		return nil, err
	}
	if len(vectors) != len(texts) {
		return nil, fmt.Errorf("longterm: the embedder made %d vectors of %d texts", len(vectors), len(texts))
	}
	if i := slices.IndexFunc(vectors, func(v []float32) bool { return !usable(v) }); i >= 0 {
		return nil, fmt.Errorf("longterm: the vector of text %d is empty, only zeros, or holds what is no number", i)
	}
	return vectors, nil
}

// usable reports whether a vector has a direction.
func usable(v []float32) bool {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	return sum > 0 && !math.IsInf(sum, 1)
}

// half is a context with half of the time.
func half(ctx context.Context) (context.Context, context.CancelFunc) {
	if end, ok := ctx.Deadline(); ok {
		return context.WithTimeout(ctx, time.Until(end)/2)
	}
	return context.WithCancel(ctx)
}

// vector gives a record that is new in the index its vector, if there is one, or notes that it lacks one.
func (u *unit) vector(r *record) {
	if u.s.o.Embedder == nil {
		return
	}
	v := u.known[r.Text]
	if v == nil {
		u.bare = append(u.bare, r.ID)
		return
	}
	r.Space = u.s.o.Space
	u.setVector(r.Shelf, r.Space, r.No, v)
}

func (u *unit) setVector(shelf, space string, no uint32, v []float32) {
	p := place{shelf, space}
	if u.vectors[p] == nil {
		u.vectors[p] = map[uint32][]float32{}
	}
	u.vectors[p][no] = v
}

// vectorJob is the id of the job of a scope that makes vectors. There is one: items that lack a vector are added to it.
const vectorJob = "vectors"

// queueVectors puts the items that lack a vector into the outbox.
func (u *unit) queueVectors(ctx context.Context) error {
	if len(u.bare) == 0 {
		return nil
	}
	ids := u.bare
	u.bare = nil
	j, row, err := u.job(ctx, vectorJob)
	if errors.Is(err, ErrNotFound) {
		j, err = &task{Job: Job{ID: vectorJob}}, nil
	}
	if err != nil {
		return err
	}
	if j.State != Failing { // that has a time of its own
		j.State, j.Queued, j.Due, j.Done, j.Attempts = Queued, u.now, u.now, time.Time{}, 0
	}
	if j.Agent, err = wider(j, u.agent); err != nil {
		return err
	}
	j.Items = append(j.Items, ids...)
	return u.putJob(ctx, j, row)
}

// wider is an agent that may see what any of those may who have made the items of a job: no other is to see their ids.
func wider(j *task, a memory.Agent) (memory.Agent, error) {
	if len(j.Items) == 0 {
		return a, nil
	}
	return memory.NewAgent(a.Name(), max(a.Clearance(), j.Agent.Clearance()), slices.Concat(a.Namespaces(), j.Agent.Namespaces())...)
}

// doVectors makes the vectors that a job asks for.
func (s *Store) doVectors(ctx context.Context, row JobRow, j *task) (bool, error) {
	if s.o.Embedder == nil {
		return false, s.fail(ctx, row, errors.New("there is no Options.Embedder"))
	}
	work, cancel := context.WithTimeout(ctx, s.o.Lease)
	defer cancel()
	items := j.Items[:min(len(j.Items), batch)]
	texts, vectors, err := s.make(work, row.Scope, items)
	if err != nil {
		return false, s.fail(ctx, row, err)
	}
	return s.held(ctx, row, func(ctx context.Context, u *unit, j *task) error {
		if _, err := u.store(ctx, texts, vectors); err != nil {
			return err
		}
		j.Items = slices.DeleteFunc(j.Items, func(id string) bool { return slices.Contains(items, id) })
		if len(j.Items) == 0 {
			j.finish(u.now)
		} else {
			j.State, j.Due, j.Attempts = Queued, u.now, 0
		}
		return u.putJob(ctx, j, JobRow{})
	})
}

// make makes the vectors of items that lack one: texts are by id, vectors by text.
func (s *Store) make(ctx context.Context, sc memory.Scope, ids []string) (map[string]string, map[string][]float32, error) {
	texts := map[string]string{}
	err := s.call(ctx, func(ctx context.Context) error {
		return s.back.View(ctx, sc, func(tx Tx) error { return s.unit(tx, sc, memory.Agent{}).textsOf(ctx, ids, texts) })
	})
	if err != nil || len(texts) == 0 {
		return nil, nil, err
	}
	vectors, err := s.embedAll(ctx, texts)
	return texts, vectors, err
}

func (s *Store) embedAll(ctx context.Context, texts map[string]string) (map[string][]float32, error) {
	var list []string
	for _, text := range texts {
		list = append(list, text)
	}
	slices.Sort(list)
	list = slices.Compact(list)
	made, err := s.embed(ctx, list)
	if err != nil {
		return nil, err
	}
	vectors := map[string][]float32{}
	for i, text := range list {
		vectors[text] = made[i]
	}
	return vectors, nil
}

// store stores vectors of items that are as they were when the vectors were made, and returns how many.
func (u *unit) store(ctx context.Context, texts map[string]string, vectors map[string][]float32) (n int, err error) {
	if len(texts) == 0 {
		return 0, nil
	}
	var ids []string
	for id := range texts {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	sel, err := u.all(ctx, Select{IDs: ids, States: []State{Holds}})
	if err != nil {
		return 0, err
	}
	found, err := u.items(ctx, sel)
	if err != nil {
		return 0, err
	}
	for _, r := range found {
		v := vectors[texts[r.ID]]
		if v == nil || r.Text != texts[r.ID] || r.Space == u.s.o.Space {
			continue
		}
		c := r.clone()
		if c.Space != "" {
			u.setVector(r.Shelf, r.Space, r.No, nil) // of the embedder before
		}
		c.Space = u.s.o.Space
		u.setVector(c.Shelf, c.Space, c.No, v)
		if err := u.save(ctx, r, c); err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}

// Embed makes the vectors that the items of a scope do not have yet in Options.Space, and returns how many it made. It is for
// an embedder that came later, or another one: items keep the vectors of one space. It reads all items of the scope; what it
// made stays when it fails.
func (s *Store) Embed(ctx context.Context, sc memory.Scope) (n int, err error) {
	acc := access(sc, memory.AgentOf(ctx), "Embed", "")
	if err := s.audit.Begin(ctx, acc); err != nil {
		return 0, err
	}
	defer audited.End(ctx, s.audit, acc, &n, &err, nil)
	if s.o.Embedder == nil {
		return 0, fmt.Errorf("%w: there is no Embedder", ErrOptions)
	}
	if err := sc.Valid(); err != nil {
		return 0, err
	}
	for after := ""; ; {
		var ids []string
		err := s.call(ctx, func(ctx context.Context) error {
			return s.back.View(ctx, sc, func(tx Tx) (err error) {
				ids, after, err = s.unit(tx, sc, memory.Agent{}).bareAfter(ctx, after)
				return err
			})
		})
		if err != nil || len(ids) == 0 {
			return n, err
		}
		m, err := s.embedItems(ctx, sc, ids)
		if n += m; err != nil {
			return n, err
		}
	}
}

// bareAfter are the next ids of items without a vector, and where to go on.
func (u *unit) bareAfter(ctx context.Context, after string) (ids []string, last string, err error) {
	sel, err := u.all(ctx, Select{States: []State{Holds}, After: after, Limit: 500})
	if err != nil || len(sel.Namespaces) == 0 {
		return nil, after, err
	}
	err = u.each(ctx, sel, func(r *record) bool {
		if last = r.ID; r.Space != u.s.o.Space {
			ids = append(ids, r.ID)
		}
		return len(ids) < batch
	})
	return ids, last, err
}

func (s *Store) embedItems(ctx context.Context, sc memory.Scope, ids []string) (n int, err error) {
	texts, vectors, err := s.make(ctx, sc, ids)
	if err != nil || len(texts) == 0 {
		return 0, err
	}
	err = s.call(ctx, func(ctx context.Context) error {
		return s.inUpdate(ctx, sc, memory.Agent{}, func(ctx context.Context, u *unit) (err error) {
			n, err = u.store(ctx, texts, vectors)
			return err
		})
	})
	return n, err
}

// textsOf collects the texts of items that hold and have no vector.
func (u *unit) textsOf(ctx context.Context, ids []string, texts map[string]string) error {
	clear(texts)
	sel, err := u.all(ctx, Select{IDs: ids, States: []State{Holds}})
	if err != nil {
		return err
	}
	found, err := u.items(ctx, sel)
	for _, r := range found {
		if r.Space != u.s.o.Space {
			texts[r.ID] = r.Text
		}
	}
	return err
}
