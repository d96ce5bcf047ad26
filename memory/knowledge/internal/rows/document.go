package rows

import (
	"context"
	"math"
	"time"

	"github.com/holdfast-go/holdfast/memory/internal/sqldb"
	"github.com/holdfast-go/holdfast/memory/knowledge"
)

// Readable implements knowledge.Tx.
func (x *tx) Readable(ctx context.Context, roles []string) (out []string, err error) {
	err = x.run(ctx, sqldb.Query(`select distinct shelf from hfk_role`+mineOnly+` and role {in $2} and exists (
		select 1 from hfk_document d where d.tenant = $1 and d.shelf = hfk_role.shelf and d.chunks > 0) order by shelf`,
		func(scan func(...any) error) error {
			var name string
			err := scan(&name)
			out = append(out, name)
			return err
		}, x.tenant, roles))
	return out, err
}

// Shelf implements knowledge.Tx.
func (x *tx) Shelf(ctx context.Context, name string) (knowledge.Shelf, error) {
	s := knowledge.Shelf{Name: name}
	err := x.run(ctx, sqldb.Query(`select r.role, s.next from hfk_shelf s join hfk_role r on r.tenant = s.tenant and r.shelf = s.name
		where s.tenant = $1 and s.name = $2 order by r.role`, func(scan func(...any) error) error {
		var role string
		var next int64
		err := scan(&role, &next)
		s.Roles, s.Next = append(s.Roles, role), uint32(next)
		return err
	}, x.tenant, name))
	return s, err
}

// PutShelf implements knowledge.Tx.
func (x *tx) PutShelf(ctx context.Context, s knowledge.Shelf) error {
	var roles [][]any
	for _, r := range s.Roles {
		roles = append(roles, []any{x.tenant, r, s.Name})
	}
	return x.run(ctx,
		sqldb.Exec(`insert into hfk_shelf(tenant, name, next) values ($1, $2, $3) on conflict (tenant, name) do update set next = excluded.next`,
			x.tenant, s.Name, int64(s.Next)),
		sqldb.ExecMany(`insert into hfk_role(tenant, role, shelf) values ($1, $2, $3) on conflict (tenant, role, shelf) do nothing`, roles))
}

// A version that always was in force, and one that nothing follows, can be compared like the others.
const (
	always = math.MinInt64
	never  = math.MaxInt64
)

func column(t time.Time, zero int64) int64 {
	if t.IsZero() {
		return zero
	}
	return t.UnixMicro()
}

func moment(micros, zero int64) time.Time {
	if micros == zero {
		return time.Time{}
	}
	return time.UnixMicro(micros).UTC()
}

const documentColumns = `document, version, seq, shelf, since, ended, first_no, chunks, hash, space, body`

const sqlPutDocument = `insert into hfk_document(tenant, ` + documentColumns + `, content) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
	on conflict (tenant, document, version) do update set seq = excluded.seq, shelf = excluded.shelf, since = excluded.since, ended = excluded.ended,
		first_no = excluded.first_no, chunks = excluded.chunks, hash = excluded.hash, space = excluded.space, body = excluded.body,
		content = excluded.content`

// PutVersions implements knowledge.Tx.
func (x *tx) PutVersions(ctx context.Context, rows ...knowledge.VersionRow) error {
	if len(rows) == 0 {
		return nil
	}
	args := make([][]any, len(rows))
	for i, v := range rows {
		args[i] = []any{x.tenant, v.Document, v.Version, v.Seq, v.Shelf, column(v.Start, always), column(v.Until, never), int64(v.First), int64(v.Count),
			v.Hash, v.Space, v.Body, v.Text}
	}
	return x.run(ctx, sqldb.ExecMany(sqlPutDocument, args))
}

// Versions implements knowledge.Tx.
func (x *tx) Versions(ctx context.Context, s knowledge.Select) (out []knowledge.VersionRow, err error) {
	c := &condition{args: []any{x.tenant}}
	columns := documentColumns
	if s.Text {
		columns += `, content`
	}
	c.write(`select ` + columns + ` from hfk_document` + mineOnly)
	if s.Documents != nil {
		c.write(` and document {in ?}`, s.Documents)
	}
	if s.Shelves != nil {
		c.write(` and shelf {in ?}`, s.Shelves)
	}
	if !s.InForce.IsZero() {
		c.write(` and since <= ? and ended > ?`, s.InForce.UnixMicro(), s.InForce.UnixMicro())
	}
	if !s.Ended.IsZero() {
		c.write(` and chunks > 0 and ended <= ?`, s.Ended.UnixMicro())
	}
	if s.Without != "" {
		c.write(` and chunks > 0 and space <> ?`, s.Without)
	}
	if s.After != "" {
		c.write(` and document > ?`, s.After)
	}
	c.write(` order by document, seq`)
	if s.Limit > 0 {
		c.write(` limit ?`, int64(s.Limit))
	}
	err = x.run(ctx, sqldb.Query(c.text.String(), func(scan func(...any) error) error {
		v, err := scanVersion(scan, s.Text)
		out = append(out, v)
		return err
	}, c.args...))
	return out, err
}

func scanVersion(scan func(...any) error, text bool) (v knowledge.VersionRow, err error) {
	var since, ended, first, chunks int64
	to := []any{&v.Document, &v.Version, &v.Seq, &v.Shelf, &since, &ended, &first, &chunks, &v.Hash, &v.Space, &v.Body}
	if text {
		to = append(to, &v.Text)
	}
	err = scan(to...)
	v.Start, v.Until, v.First, v.Count = moment(since, always), moment(ended, never), uint32(first), int(chunks)
	return v, err
}

// Delete implements knowledge.Tx.
func (x *tx) Delete(ctx context.Context, documents []string) error {
	return x.run(ctx,
		sqldb.Exec(`delete from hfk_document`+mineOnly+` and document {in $2}`, x.tenant, documents),
		sqldb.Exec(`delete from hfk_relation`+mineOnly+` and document {in $2}`, x.tenant, documents))
}
