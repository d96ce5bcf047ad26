package rows

import (
	"context"

	"github.com/holdfast-go/holdfast/memory/internal/sqldb"
	"github.com/holdfast-go/holdfast/memory/knowledge"
)

// Related implements knowledge.Tx.
func (x *tx) Related(ctx context.Context) (some bool, err error) {
	err = x.run(ctx, sqldb.Query(`select 1 from hfk_relation`+mineOnly+` limit 1`,
		func(scan func(...any) error) error { some = true; return scan(new(int64)) }, x.tenant))
	return some, err
}

// PutRelations implements knowledge.Tx.
func (x *tx) PutRelations(ctx context.Context, document string, rs []knowledge.Relation) error {
	stmts := []sqldb.Stmt{sqldb.Exec(`delete from hfk_relation`+mineOnly+` and document = $2`, x.tenant, document)}
	var args [][]any
	for _, r := range rs {
		args = append(args, []any{x.tenant, document, r.From, r.Name, r.To, r.Version, knowledge.NodeKey(r.From), knowledge.NodeKey(r.To)})
	}
	if args != nil {
		stmts = append(stmts, sqldb.ExecMany(`insert into hfk_relation(tenant, document, source, name, target, version, source_key, target_key)
			values ($1, $2, $3, $4, $5, $6, $7, $8)`, args))
	}
	return x.run(ctx, stmts...)
}

// Relations implements knowledge.Tx.
func (x *tx) Relations(ctx context.Context, s knowledge.SelectRelations) (out []knowledge.Relation, err error) {
	c := &condition{args: []any{x.tenant}}
	c.write(`select r.source, r.name, r.target, r.document, r.version from hfk_relation r
		join hfk_document d on d.tenant = r.tenant and d.document = r.document and (r.version = '' or r.version = d.version)
		where r.tenant = $1 and d.shelf {in ?} and d.since <= ? and d.ended > ?`, s.Shelves, s.At.UnixMicro(), s.At.UnixMicro())
	switch {
	case s.From != nil && s.To != nil:
		c.write(` and (r.source_key {in ?} or r.target_key {in ?})`, s.From, s.To)
	case s.From != nil:
		c.write(` and r.source_key {in ?}`, s.From)
	default:
		c.write(` and r.target_key {in ?}`, s.To)
	}
	c.write(` order by r.source, r.name, r.target, r.document, r.version`)
	if s.Limit > 0 {
		c.write(` limit ?`, int64(s.Limit))
	}
	err = x.run(ctx, sqldb.Query(c.text.String(), func(scan func(...any) error) error {
		var r knowledge.Relation
		err := scan(&r.From, &r.Name, &r.To, &r.Document, &r.Version)
		out = append(out, r)
		return err
	}, c.args...))
	return out, err
}
