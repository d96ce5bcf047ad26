package rows

import (
	"context"
	"encoding/json"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/internal/sqldb"
	"github.com/holdfast-go/holdfast/memory/longterm"
)

const itemColumns = `id, shelf, no, namespace, label, kind, subject, hash, replaces, depends, state, since, ended, expires, body`

const sqlPutItem = `insert into hfl_item(tenant, usr, ` + itemColumns + `)
	values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
	on conflict (tenant, usr, id) do update set shelf = excluded.shelf, no = excluded.no, namespace = excluded.namespace,
		label = excluded.label, kind = excluded.kind, subject = excluded.subject, hash = excluded.hash, replaces = excluded.replaces,
		depends = excluded.depends, state = excluded.state, since = excluded.since, ended = excluded.ended, expires = excluded.expires,
		body = excluded.body`

// Put implements longterm.Tx.
func (x *tx) Put(ctx context.Context, rows ...longterm.Row) error {
	if len(rows) == 0 {
		return nil
	}
	last := map[string]int{}
	for i, r := range rows {
		last[r.ID] = i
	}
	var ids []string
	var items, depends [][]any
	for i, r := range rows {
		if last[r.ID] != i {
			continue
		}
		ids = append(ids, r.ID)
		items = append(items, x.mine(r.ID, r.Shelf, int64(r.No), r.Namespace, int64(r.Label), string(r.Kind), r.Key, r.Hash, r.Replaces, list(r.Depends),
			int64(r.State), sqldb.Micros(r.From), sqldb.Micros(r.Until), sqldb.Micros(r.Expires), r.Body))
		for _, on := range r.Depends {
			depends = append(depends, x.mine(r.ID, on))
		}
		x.forgot = x.forgot || r.Hash == ""
	}
	stmts := []sqldb.Stmt{
		sqldb.ExecMany(sqlPutItem, items),
		sqldb.Exec(`delete from hfl_depend`+mineOnly+` and item {in $3}`, x.mine(ids)...),
	}
	if depends != nil {
		stmts = append(stmts, sqldb.ExecMany(`insert into hfl_depend(tenant, usr, item, on_item) values ($1, $2, $3, $4)
			on conflict (tenant, usr, item, on_item) do nothing`, depends))
	}
	return x.run(ctx, stmts...)
}

// list is a column of ids; of none it is empty.
func list(ids []string) string {
	if len(ids) == 0 {
		return ""
	}
	doc, _ := json.Marshal(ids) // strings always can be
	return string(doc)
}

func scanItem(scan func(...any) error) (longterm.Row, error) {
	var r longterm.Row
	var no, label, state, since, ended, expires int64
	var kind, depends string
	err := scan(&r.ID, &r.Shelf, &no, &r.Namespace, &label, &kind, &r.Key, &r.Hash, &r.Replaces, &depends, &state, &since, &ended, &expires, &r.Body)
	if err == nil && depends != "" {
		err = json.Unmarshal([]byte(depends), &r.Depends)
	}
	r.No, r.Label, r.Kind, r.State = uint32(no), memory.Label(label), longterm.Kind(kind), longterm.State(state)
	r.From, r.Until, r.Expires = sqldb.At(since), sqldb.At(ended), sqldb.At(expires)
	return r, err
}

// Shelves implements longterm.Tx.
func (x *tx) Shelves(ctx context.Context) ([]longterm.Shelf, error) {
	var out []longterm.Shelf
	err := x.run(ctx, sqldb.Query(`select name, namespace, label, next, items from hfl_shelf`+mineOnly+` order by name`,
		func(scan func(...any) error) error {
			var s longterm.Shelf
			var label, next, items int64
			err := scan(&s.Name, &s.Namespace, &label, &next, &items)
			s.Label, s.Next, s.Items = memory.Label(label), uint32(next), int(items)
			out = append(out, s)
			return err
		}, x.mine()...))
	return out, err
}

// PutShelf implements longterm.Tx.
func (x *tx) PutShelf(ctx context.Context, s longterm.Shelf) error {
	return x.run(ctx, sqldb.Exec(`insert into hfl_shelf(tenant, usr, name, namespace, label, next, items) values ($1, $2, $3, $4, $5, $6, $7)
		on conflict (tenant, usr, name) do update
		set namespace = excluded.namespace, label = excluded.label, next = excluded.next, items = excluded.items`,
		x.mine(s.Name, s.Namespace, int64(s.Label), int64(s.Next), int64(s.Items))...))
}
