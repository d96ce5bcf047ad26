package rows

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/memory/internal/sqldb"
	"github.com/holdfast-go/holdfast/memory/longterm"
	"github.com/holdfast-go/holdfast/memory/search"
)

// Items implements longterm.Tx, in one round trip.
func (x *tx) Items(ctx context.Context, s longterm.Select) ([]longterm.Row, error) {
	var out []longterm.Row
	var stmts []sqldb.Stmt
	each := func(scan func(...any) error) error {
		r, err := scanItem(scan)
		out = append(out, r)
		return err
	}
	parts := partsOf(s)
	for _, p := range parts {
		text, args := p.statement(x.mine())
		stmts = append(stmts, sqldb.Query(text, each, args...))
	}
	if len(stmts) == 0 {
		return nil, nil
	}
	if err := x.run(ctx, stmts...); err != nil {
		return nil, err
	}
	slices.SortFunc(out, order(s))
	if s.Limit > 0 {
		out = out[:min(len(out), s.Limit)]
	}
	return out, nil
}

// A part is a share of a selection that one index finds: both databases would rather read all that a user has than go through an index
// more than once. The parts of a selection have no item in common.
type part struct {
	longterm.Select
	place  search.Place // the zero place: not only one
	newest bool         // of one state and kind, newest first
	state  longterm.State
	kind   longterm.Kind
}

func partsOf(s longterm.Select) (parts []part) {
	switch {
	case s.Places != nil:
		known := map[search.Place]bool{}
		for _, p := range s.Places {
			if p.No > 0 && !known[p] {
				known[p] = true
				parts = append(parts, part{Select: s, place: p})
			}
		}
		return parts
	case s.Newest && !few(s) && s.States != nil && s.Kinds != nil:
		for _, state := range distinct(s.States) {
			for _, kind := range distinct(s.Kinds) {
				parts = append(parts, part{Select: s, newest: true, state: state, kind: kind})
			}
		}
		return parts
	}
	return []part{{Select: s}}
}

// few reports whether a selection names what it wants, which is not much.
func few(s longterm.Select) bool {
	return s.IDs != nil || s.Places != nil || s.Keys != nil || s.Hashes != nil || s.Replaces != nil || s.Depends != nil
}

func distinct[T cmp.Ordered](list []T) []T {
	list = slices.Clone(list)
	slices.Sort(list)
	return slices.Compact(list)
}

// statement is that of a part. mine are the arguments of mineOnly.
func (p part) statement(mine []any) (text string, args []any) {
	c := &condition{args: mine}
	c.write(`select ` + itemColumns + ` from hfl_item` + mineOnly)
	if p.place.No > 0 {
		c.and(`shelf = ? and no = ?`, p.place.Shelf, int64(p.place.No))
	}
	if p.newest {
		c.and(`state = ? and kind = ?`, int64(p.state), string(p.kind))
	} else {
		oneOf(c, `kind {in ?}`, p.Kinds)
		c.states(p.States)
	}
	c.and(`namespace {in ?}`, p.Namespaces)
	c.and(`label <= ?`, int64(p.Label))
	oneOf(c, `id {in ?}`, p.IDs)
	oneOf(c, `subject > '' and subject {in ?}`, p.Keys)
	oneOf(c, `hash > '' and hash {in ?}`, p.Hashes)
	oneOf(c, `replaces > '' and replaces {in ?}`, p.Replaces)
	oneOf(c, `id in (select item from hfl_depend`+mineOnly+` and on_item {in ?})`, p.Depends)
	if !p.AsOf.IsZero() {
		at := sqldb.Micros(p.AsOf)
		c.and(`since <= ? and (ended = 0 or ended > ?)`, at, at)
	}
	if p.After != "" {
		c.and(`id > ?`, p.After)
	}
	if few(p.Select) {
		return c.text.String(), c.args // asked to sort, SQLite would take the index that sorts instead of the one that finds
	}
	if p.Newest {
		c.write(` order by since desc, id desc`)
	} else {
		c.write(` order by id`)
	}
	if p.Limit > 0 {
		c.write(` limit ?`, int64(p.Limit))
	}
	return c.text.String(), c.args
}

// order is that of the items of a selection.
func order(s longterm.Select) func(a, b longterm.Row) int {
	if s.Newest {
		return func(a, b longterm.Row) int { return cmp.Or(b.From.Compare(a.From), cmp.Compare(b.ID, a.ID)) }
	}
	return func(a, b longterm.Row) int { return cmp.Compare(a.ID, b.ID) }
}

// A condition grows with what a selection asks for.
type condition struct {
	text strings.Builder
	args []any
}

// and adds a condition; each ? is the place of the next argument.
func (c *condition) and(text string, args ...any) {
	c.text.WriteString(" and ")
	c.write(text, args...)
}

func (c *condition) write(text string, args ...any) {
	for _, a := range args {
		c.args = append(c.args, a)
		text = strings.Replace(text, "?", fmt.Sprintf("$%d", len(c.args)), 1)
	}
	c.text.WriteString(text)
}

// states adds a condition that no index is used for: it would find most of what a user has.
func (c *condition) states(list []longterm.State) {
	if list == nil {
		return
	}
	states := []int64{}
	for _, s := range list {
		states = append(states, int64(s))
	}
	c.and(`+state {ints ?}`, states)
}

// oneOf adds a condition on a column, if there is a list of values.
func oneOf[T ~string](c *condition, text string, values []T) {
	if values == nil {
		return
	}
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = string(v)
	}
	c.and(text, texts)
}
