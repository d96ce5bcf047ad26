package rows

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/memory/internal/sqldb"
	"github.com/holdfast-go/holdfast/memory/knowledge"
	"github.com/holdfast-go/holdfast/memory/search"
)

// atPlace is the condition for one place. A list of them a planner may find by reading all that the tenant has.
const atPlace = mineOnly + ` and shelf = $2 and no = $3`

// each are the arguments of a statement for each of several places, and more.
func (x *tx) each(places []search.Place, more ...any) (many [][]any) {
	for _, p := range places {
		many = append(many, append([]any{x.tenant, p.Shelf, int64(p.No)}, more...))
	}
	return many
}

// Chunks implements knowledge.Tx.
func (x *tx) Chunks(ctx context.Context, places []search.Place, at time.Time) (out []knowledge.ChunkRow, err error) {
	if len(places) == 0 {
		return nil, nil
	}
	text, many := `select shelf, no, document, version, body from hfk_chunk`+atPlace, x.each(places)
	if !at.IsZero() {
		text += ` and exists (select 1 from hfk_document d where d.tenant = $1 and d.document = hfk_chunk.document and d.version = hfk_chunk.version
			and d.since <= $4 and d.ended > $4)`
		many = x.each(places, at.UnixMicro())
	}
	err = x.run(ctx, sqldb.Stmt{Text: text, Many: many, Each: func(scan func(...any) error) error {
		var r knowledge.ChunkRow
		var no int64
		err := scan(&r.Shelf, &no, &r.Document, &r.Version, &r.Body)
		r.No = uint32(no)
		out = append(out, r)
		return err
	}})
	return out, err
}

// PutChunks implements knowledge.Tx.
func (x *tx) PutChunks(ctx context.Context, rows ...knowledge.ChunkRow) error {
	if len(rows) == 0 {
		return nil
	}
	args := make([][]any, len(rows))
	for i, r := range rows {
		args[i] = []any{x.tenant, r.Shelf, int64(r.No), r.Document, r.Version, r.Body}
	}
	return x.run(ctx, sqldb.ExecMany(`insert into hfk_chunk(tenant, shelf, no, document, version, body) values ($1, $2, $3, $4, $5, $6)`, args))
}

// DeleteChunks implements knowledge.Tx.
func (x *tx) DeleteChunks(ctx context.Context, places []search.Place) error {
	if len(places) == 0 {
		return nil
	}
	return x.run(ctx, sqldb.ExecMany(`delete from hfk_chunk`+atPlace, x.each(places)))
}
