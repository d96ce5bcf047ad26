package longterm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/search"
)

// A unit is one transaction on what a user has, as an agent. What it writes gets into the transaction by flush.
type unit struct {
	s     *Store
	tx    Tx
	scope memory.Scope
	agent memory.Agent
	now   time.Time
	index *cache

	shelves map[string]*Shelf // nil until they are read
	changed map[string]bool   // shelves
	rows    map[string]Row    // that were put
	vectors map[place]map[uint32][]float32
	known   map[string][]float32 // vectors that were made beforehand, by text
	bare    []string             // ids of items in the index that have no vector
	made    int                  // items, so that ids of one moment differ
	queued  bool                 // a job is due
}

// A place is where vectors are.
type place struct{ shelf, space string }

func (s *Store) unit(tx Tx, sc memory.Scope, a memory.Agent) *unit {
	return &unit{
		s: s, tx: tx, scope: sc, agent: a, now: tx.Now(), index: newCache(tx),
		changed: map[string]bool{}, rows: map[string]Row{}, vectors: map[place]map[uint32][]float32{},
	}
}

func (u *unit) flush(ctx context.Context) error {
	if err := u.queueVectors(ctx); err != nil {
		return err
	}
	if err := u.putRows(ctx); err != nil {
		return err
	}
	if err := u.index.flush(ctx); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(u.changed)) {
		if err := u.tx.PutShelf(ctx, *u.shelves[name]); err != nil {
			return err
		}
	}
	for p, vectors := range u.vectors {
		if err := u.tx.PutVectors(ctx, p.shelf, p.space, vectors); err != nil {
			return err
		}
	}
	return nil
}

func (u *unit) putRows(ctx context.Context) error {
	if len(u.rows) == 0 {
		return nil
	}
	var rows []Row
	for _, id := range slices.Sorted(maps.Keys(u.rows)) {
		rows = append(rows, u.rows[id])
	}
	clear(u.rows)
	return u.tx.Put(ctx, rows...)
}

// items are the records of a selection, with what this unit wrote.
func (u *unit) items(ctx context.Context, sel Select) ([]*record, error) {
	if len(sel.Namespaces) == 0 {
		return nil, nil
	}
	if err := u.putRows(ctx); err != nil {
		return nil, err
	}
	rows, err := u.tx.Items(ctx, sel)
	if err != nil {
		return nil, err
	}
	return recordsOf(rows)
}

// seen narrows a selection to what the agent may see.
func (u *unit) seen(sel Select) Select {
	sel.Namespaces, sel.Label = u.agent.Namespaces(), u.agent.Clearance()
	return sel
}

// all widens a selection to all that the user has. It is for what must hold whoever asks; nothing of it is shown.
func (u *unit) all(ctx context.Context, sel Select) (Select, error) {
	if err := u.loadShelves(ctx); err != nil {
		return sel, err
	}
	for _, sh := range u.shelves {
		sel.Namespaces = append(sel.Namespaces, sh.Namespace)
	}
	slices.Sort(sel.Namespaces)
	sel.Namespaces, sel.Label = slices.Compact(sel.Namespaces), memory.Secret
	return sel, nil
}

// item returns a record that the agent may see, or ErrNotFound.
func (u *unit) item(ctx context.Context, id string) (*record, error) {
	if !goodName(id) {
		return nil, ErrNotFound
	}
	found, err := u.items(ctx, u.seen(Select{IDs: []string{id}}))
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, ErrNotFound
	}
	return found[0], nil
}

func (u *unit) sees(r *record) bool { return u.agent.May(r.Label, r.Namespace) }

// id makes the name of a new item. Those of one user sort in the order in which they were made.
func (u *unit) id(origin ...string) string {
	u.made++
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q", u.scope.String(), origin))
	return fmt.Sprintf("%013x-%04x-%s", u.now.UnixMicro(), u.made, hex.EncodeToString(sum[:6]))
}

func (u *unit) loadShelves(ctx context.Context) error {
	if u.shelves != nil {
		return nil
	}
	list, err := u.tx.Shelves(ctx)
	if err != nil {
		return err
	}
	u.shelves = map[string]*Shelf{}
	for _, sh := range list {
		u.shelves[sh.Name] = &sh
	}
	return nil
}

// shelf returns that of a namespace and label, which is made if it is not there.
func (u *unit) shelf(ctx context.Context, namespace string, l memory.Label) (*Shelf, error) {
	if err := u.loadShelves(ctx); err != nil {
		return nil, err
	}
	name := fmt.Sprintf("%d/%s", l, namespace)
	sh := u.shelves[name]
	if sh == nil {
		sh = &Shelf{Name: name, Namespace: namespace, Label: l, Next: 1}
		u.shelves[name], u.changed[name] = sh, true
	}
	return sh, nil
}

// visible are the names of the shelves that the agent may see; of one namespace, if it is given.
func (u *unit) visible(ctx context.Context, namespace string) ([]string, error) {
	if err := u.loadShelves(ctx); err != nil {
		return nil, err
	}
	var names []string
	for name, sh := range u.shelves {
		if sh.Items > 0 && u.agent.May(sh.Label, sh.Namespace) && (namespace == "" || namespace == sh.Namespace) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// save stores a record in place of an old one, which is nil for a new one, and brings the index in line.
func (u *unit) save(ctx context.Context, old, r *record) error {
	if err := u.reindex(ctx, old, r); err != nil {
		return err
	}
	row, err := r.row()
	if err != nil {
		return err
	}
	u.rows[r.ID] = row
	return nil
}

func (u *unit) reindex(ctx context.Context, old, r *record) error {
	was, is := old != nil && old.State == Holds, r.State == Holds
	if was && is && old.doc() == r.doc() {
		return nil
	}
	if was {
		if err := u.unindex(ctx, old); err != nil {
			return err
		}
		r.No, r.Space = 0, ""
	}
	sh, err := u.shelf(ctx, r.Namespace, r.Label)
	if err != nil {
		return err
	}
	r.Shelf = sh.Name
	if !is {
		return nil
	}
	r.No = sh.Next
	sh.Next++
	sh.Items++
	u.changed[sh.Name] = true
	u.vector(r)
	return search.Add(ctx, u.index, sh.Name, r.doc())
}

func (u *unit) unindex(ctx context.Context, r *record) error {
	if err := u.loadShelves(ctx); err != nil {
		return err
	}
	sh := u.shelves[r.Shelf]
	if sh == nil {
		return fmt.Errorf("%w: item %.80q is in shelf %.80q, which is not there", ErrCorrupt, r.ID, r.Shelf)
	}
	sh.Items--
	u.changed[sh.Name] = true
	if r.Space != "" {
		u.setVector(r.Shelf, r.Space, r.No, nil)
	}
	return search.Remove(ctx, u.index, r.Shelf, r.doc())
}

// room is ErrTooLarge if one more item does not fit. It is asked before anything is written: what takes the place of another always fits.
func (u *unit) room(ctx context.Context) error {
	if err := u.loadShelves(ctx); err != nil {
		return err
	}
	n := 1
	for _, sh := range u.shelves {
		n += sh.Items
	}
	return within("items of a user", n, u.s.o.Items)
}

func within(what string, size, limit int) error {
	if size > limit {
		return fmt.Errorf("%w: %d %s, at most %d", ErrTooLarge, size, what, limit)
	}
	return nil
}

// hash names what a user said in a namespace.
func hash(sc memory.Scope, namespace string, d Draft) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q", sc.String(), namespace, normal(d.Text), d.Value))
	return hex.EncodeToString(sum[:12])
}

// normal is a text without what makes no difference to what it says.
func normal(text string) string {
	return strings.TrimRight(strings.Join(strings.Fields(fold(text)), " "), " .!;,。、")
}
