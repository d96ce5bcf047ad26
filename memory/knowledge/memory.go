package knowledge

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/memory/search"
)

// NewMemory returns a store that keeps documents in the memory of the process, for tests and for handbooks that are indexed at every start.
// It returns ErrOptions.
func NewMemory(o Options) (*Store, error) { return New(MemoryBackend(), o) }

// MemoryBackend returns the back end of NewMemory, empty, for tests that put something in front of it.
func MemoryBackend() Backend { return &inMemory{tenants: map[string]*room{}} }

// inMemory is the back end. An update holds the lock for as long as it takes; it never waits for anything.
type inMemory struct {
	mu      sync.RWMutex
	tenants map[string]*room
}

// A room is what is kept for one tenant.
type room struct {
	index     *search.Map
	shelves   map[string]Shelf
	versions  map[string][]VersionRow // by Seq
	chunks    map[search.Place]ChunkRow
	relations map[string][]Relation
}

func newRoom() *room {
	return &room{search.NewMap(), map[string]Shelf{}, map[string][]VersionRow{}, map[search.Place]ChunkRow{}, map[string][]Relation{}}
}

func (b *inMemory) View(_ context.Context, tenant string, f func(Tx) error) error {
	b.mu.RLock()
	defer b.mu.RUnlock()
	r := b.tenants[tenant]
	if r == nil {
		r = newRoom()
	}
	return f(&memoryTx{Map: r.index, room: r, now: clock()})
}

func (b *inMemory) Update(_ context.Context, tenant string, f func(Tx) error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.tenants[tenant]
	if r == nil {
		r = newRoom()
	}
	tx := &memoryTx{Map: r.index.Begin(), room: r, now: clock()}
	if err := f(tx); err != nil {
		for _, undo := range slices.Backward(tx.undo) {
			undo()
		}
		return err
	}
	tx.Map.Commit()
	b.tenants[tenant] = r
	return nil
}

func (b *inMemory) Erase(_ context.Context, tenant string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.tenants, tenant)
	return nil
}

func (b *inMemory) Close() error { return nil }

func clock() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }

// A memoryTx writes into the room at once, and knows how to undo that.
type memoryTx struct {
	*search.Map
	*room
	now  time.Time
	undo []func()
}

func put[K comparable, V any](tx *memoryTx, m map[K]V, k K, v V) {
	before, there := m[k]
	m[k] = v
	tx.undo = append(tx.undo, func() {
		if m[k] = before; !there {
			delete(m, k)
		}
	})
}

func remove[K comparable, V any](tx *memoryTx, m map[K]V, k K) {
	if before, there := m[k]; there {
		delete(m, k)
		tx.undo = append(tx.undo, func() { m[k] = before })
	}
}

func (tx *memoryTx) Now() time.Time { return tx.now }

func (tx *memoryTx) Readable(_ context.Context, roles []string) (out []string, _ error) {
	full := map[string]bool{}
	for _, all := range tx.versions {
		for _, v := range all {
			full[v.Shelf] = full[v.Shelf] || v.Count > 0
		}
	}
	for _, s := range tx.shelves {
		if full[s.Name] && slices.ContainsFunc(s.Roles, func(r string) bool { return slices.Contains(roles, r) }) {
			out = append(out, s.Name)
		}
	}
	slices.Sort(out)
	return out, nil
}

func (tx *memoryTx) Shelf(_ context.Context, name string) (Shelf, error) {
	s := tx.shelves[name]
	s.Name, s.Roles = name, slices.Clone(s.Roles)
	return s, nil
}

func (tx *memoryTx) PutShelf(_ context.Context, s Shelf) error {
	s.Roles = slices.Clone(s.Roles)
	put(tx, tx.shelves, s.Name, s)
	return nil
}

func (tx *memoryTx) Versions(_ context.Context, s Select) (out []VersionRow, _ error) {
	for _, rows := range tx.versions {
		for _, v := range rows {
			if s.has(v) {
				if !s.Text {
					v.Text = nil
				}
				out = append(out, v)
			}
		}
	}
	slices.SortFunc(out, func(a, b VersionRow) int {
		return cmp.Or(cmp.Compare(a.Document, b.Document), cmp.Compare(a.Seq, b.Seq))
	})
	if s.Limit > 0 {
		out = out[:min(s.Limit, len(out))]
	}
	return out, nil
}

func (s Select) has(v VersionRow) bool {
	return (len(s.Documents) == 0 || slices.Contains(s.Documents, v.Document)) &&
		(len(s.Shelves) == 0 || slices.Contains(s.Shelves, v.Shelf)) &&
		(s.InForce.IsZero() || v.InForce(s.InForce)) &&
		(s.Ended.IsZero() || v.Count > 0 && !v.Until.IsZero() && !v.Until.After(s.Ended)) &&
		(s.Without == "" || v.Count > 0 && v.Space != s.Without) &&
		v.Document > s.After
}

func (tx *memoryTx) PutVersions(_ context.Context, rows ...VersionRow) error {
	for _, v := range rows {
		all := slices.DeleteFunc(slices.Clone(tx.versions[v.Document]), func(w VersionRow) bool { return w.Version == v.Version })
		put(tx, tx.versions, v.Document, append(all, v))
	}
	return nil
}

func (tx *memoryTx) Delete(_ context.Context, documents []string) error {
	for _, d := range documents {
		remove(tx, tx.versions, d)
		remove(tx, tx.relations, d)
	}
	return nil
}

func (tx *memoryTx) Chunks(_ context.Context, places []search.Place, at time.Time) (out []ChunkRow, _ error) {
	for _, p := range places {
		if c, ok := tx.chunks[p]; ok && (at.IsZero() || tx.inForce(c.Document, c.Version, at)) {
			out = append(out, c)
		}
	}
	return out, nil
}

// inForce reports whether a version, or with none any, is in force.
func (tx *memoryTx) inForce(document, version string, at time.Time) bool {
	return slices.ContainsFunc(tx.versions[document], func(v VersionRow) bool {
		return (version == "" || v.Version == version) && v.InForce(at)
	})
}

func (tx *memoryTx) PutChunks(_ context.Context, rows ...ChunkRow) error {
	for _, c := range rows {
		put(tx, tx.chunks, c.Place, c)
	}
	return nil
}

func (tx *memoryTx) DeleteChunks(_ context.Context, places []search.Place) error {
	for _, p := range places {
		remove(tx, tx.chunks, p)
	}
	return nil
}

func (tx *memoryTx) PutVectors(ctx context.Context, shelf, space string, vectors map[uint32][]float32) error {
	return search.SaveVectors(ctx, tx.Map, shelf, space, vectors)
}

func (tx *memoryTx) Nearest(ctx context.Context, shelves []string, space string, v []float32, limit int) ([]search.Hit, error) {
	return search.Nearest(ctx, tx.Map, shelves, space, v, tx.now, limit)
}

func (tx *memoryTx) Related(context.Context) (bool, error) { return len(tx.relations) > 0, nil }

func (tx *memoryTx) PutRelations(_ context.Context, document string, rs []Relation) error {
	if len(rs) == 0 {
		remove(tx, tx.relations, document)
		return nil
	}
	put(tx, tx.relations, document, slices.Clone(rs))
	return nil
}

func (tx *memoryTx) Relations(_ context.Context, s SelectRelations) (out []Relation, _ error) {
	for _, document := range slices.Sorted(maps.Keys(tx.relations)) {
		if !tx.readable(document, s) {
			continue
		}
		for _, r := range tx.relations[document] {
			if s.has(r) && tx.inForce(document, r.Version, s.At) {
				out = append(out, r)
			}
		}
	}
	slices.SortFunc(out, func(a, b Relation) int { return a.compare(b) })
	if s.Limit > 0 {
		out = out[:min(s.Limit, len(out))]
	}
	return out, nil
}

func (tx *memoryTx) readable(document string, s SelectRelations) bool {
	return slices.ContainsFunc(tx.versions[document], func(v VersionRow) bool {
		return v.InForce(s.At) && slices.Contains(s.Shelves, v.Shelf)
	})
}

func (s SelectRelations) has(r Relation) bool {
	return slices.Contains(s.From, NodeKey(r.From)) || slices.Contains(s.To, NodeKey(r.To))
}

func (r Relation) compare(o Relation) int {
	return cmp.Or(
		strings.Compare(r.From, o.From), strings.Compare(r.Name, o.Name), strings.Compare(r.To, o.To), strings.Compare(r.Document, o.Document),
		strings.Compare(r.Version, o.Version),
	)
}

// Compact implements Backend: nothing is kept of what is deleted.
func (b *inMemory) Compact(context.Context) error { return nil }
