package rows

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/memory/internal/sqldb"
	"github.com/holdfast-go/holdfast/memory/knowledge"
	"github.com/holdfast-go/holdfast/memory/search"
)

// A condition grows with what a selection asks for.
type condition struct {
	text strings.Builder
	args []any
}

// write adds a text; each ? is the place of the next argument.
func (c *condition) write(text string, args ...any) {
	for _, a := range args {
		c.args = append(c.args, a)
		text = strings.Replace(text, "?", fmt.Sprintf("$%d", len(c.args)), 1)
	}
	c.text.WriteString(text)
}

// places adds where chunks are, shelf by shelf.
func (c *condition) places(ps []search.Place) {
	shelves := map[string][]int64{}
	for _, p := range ps {
		shelves[p.Shelf] = append(shelves[p.Shelf], int64(p.No))
	}
	c.write(` and (1 = 0`)
	for _, name := range slices.Sorted(maps.Keys(shelves)) {
		c.write(` or shelf = ? and no {ints ?}`, name, shelves[name])
	}
	c.write(`)`)
}

// Chunks implements knowledge.Tx.
func (x *tx) Chunks(ctx context.Context, places []search.Place, at time.Time) (out []knowledge.ChunkRow, err error) {
	if len(places) == 0 {
		return nil, nil
	}
	c := &condition{args: []any{x.tenant}}
	c.write(`select shelf, no, document, version, body from hfk_chunk` + mineOnly)
	c.places(places)
	if !at.IsZero() {
		c.write(` and exists (select 1 from hfk_document d where d.tenant = $1 and d.document = hfk_chunk.document and d.version = hfk_chunk.version
			and d.since <= ? and d.ended > ?)`, at.UnixMicro(), at.UnixMicro())
	}
	err = x.run(ctx, sqldb.Query(c.text.String(), func(scan func(...any) error) error {
		var r knowledge.ChunkRow
		var no int64
		err := scan(&r.Shelf, &no, &r.Document, &r.Version, &r.Body)
		r.No = uint32(no)
		out = append(out, r)
		return err
	}, c.args...))
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
	c := &condition{args: []any{x.tenant}}
	c.write(`delete from hfk_chunk` + mineOnly)
	c.places(places)
	return x.run(ctx, sqldb.Exec(c.text.String(), c.args...))
}
