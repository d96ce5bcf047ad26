package sqldb

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/memory/search"
)

// An Index keeps the rows of search in a table: the columns that name an owner, then shelf, term (bytes), block and data, the first of
// them up to block the primary key.
type Index struct {
	Table string   // such as "hfl_index"
	Owner []string // columns, such as "tenant" and "usr"
}

// Rows are those of one owner in a transaction. Each method is one round trip.
func (x Index) Rows(run Run, owner ...string) search.Rows {
	args := make([]any, len(owner))
	for i, o := range owner {
		args[i] = o
	}
	return &indexRows{x, run, args}
}

type indexRows struct {
	Index
	run   Run
	owner []any
}

// mine is the condition for the owner.
func (x Index) mine() string {
	conditions := make([]string, len(x.Owner))
	for i, c := range x.Owner {
		conditions[i] = fmt.Sprintf("%s = $%d", c, i+1)
	}
	return strings.Join(conditions, " and ")
}

// place is the parameter n after those of the owner, from 1.
func (x Index) place(n int) string { return fmt.Sprintf("$%d", len(x.Owner)+n) }

// Load implements search.Rows.
func (r *indexRows) Load(ctx context.Context, keys []search.Key) (map[search.Key][]byte, error) {
	var many [][]any
	for _, k := range keys {
		many = append(many, r.args(k.Shelf, []byte(k.Term), int64(k.Block)))
	}
	out := make(map[search.Key][]byte, len(keys))
	return out, r.query(ctx, r.found()+` and block = `+r.place(3), many, func(k search.Key, data []byte) { out[k] = data })
}

// Scan implements search.Rows. An error of each ends it and is returned as it is.
func (r *indexRows) Scan(ctx context.Context, shelves, terms []string, each func(search.Key, []byte) error) error {
	var many [][]any
	for _, s := range shelves {
		for _, t := range terms {
			many = append(many, r.args(s, []byte(t)))
		}
	}
	var failed error
	err := r.query(ctx, r.found(), many, func(k search.Key, data []byte) {
		if failed == nil {
			failed = each(k, data)
		}
	})
	return cmp.Or(err, failed)
}

// found is a statement that finds the rows of a shelf and a term. Each place has one of its own: of a list, a planner that knows
// nothing of the table yet may read all that the owner has.
func (r *indexRows) found() string {
	return `select shelf, term, block, data from ` + r.Table + ` where ` + r.mine() + ` and shelf = ` + r.place(1) + ` and term = ` + r.place(2)
}

func (r *indexRows) query(ctx context.Context, text string, many [][]any, f func(search.Key, []byte)) error {
	if len(many) == 0 {
		return nil
	}
	return r.run(ctx, Stmt{Text: text, Many: many, Each: eachIndexRow(f)})
}

func eachIndexRow(f func(search.Key, []byte)) func(scan func(...any) error) error {
	return func(scan func(...any) error) error {
		var k search.Key
		var term, data []byte
		if err := scan(&k.Shelf, &term, &k.Block, &data); err != nil {
			return err
		}
		k.Term = string(term)
		f(k, data)
		return nil
	}
}

// Save implements search.Rows, in the order of keys: neighbours go into one page.
func (r *indexRows) Save(ctx context.Context, rows map[search.Key][]byte) error {
	var put, del [][]any
	for _, k := range slices.SortedFunc(maps.Keys(rows), compareKeys) {
		if data := rows[k]; len(data) > 0 {
			put = append(put, r.args(k.Shelf, []byte(k.Term), int64(k.Block), data))
		} else {
			del = append(del, r.args(k.Shelf, []byte(k.Term), int64(k.Block)))
		}
	}
	var stmts []Stmt
	if put != nil {
		columns := strings.Join(r.Owner, ", ") + `, shelf, term, block`
		text := `insert into ` + r.Table + `(` + columns + `, data) values (` + places(len(r.Owner)+4) + `)
			on conflict (` + columns + `) do update set data = excluded.data`
		stmts = append(stmts, ExecMany(text, put))
	}
	if del != nil {
		text := `delete from ` + r.Table + ` where ` + r.mine() + ` and shelf = ` + r.place(1) + ` and term = ` + r.place(2) + ` and block = ` + r.place(3)
		stmts = append(stmts, ExecMany(text, del))
	}
	if stmts == nil {
		return nil
	}
	return r.run(ctx, stmts...)
}

func compareKeys(a, b search.Key) int {
	return cmp.Or(cmp.Compare(a.Shelf, b.Shelf), cmp.Compare(a.Term, b.Term), cmp.Compare(a.Block, b.Block))
}

func places(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("$%d", i+1)
	}
	return strings.Join(all, ", ")
}

func (r *indexRows) args(more ...any) []any { return slices.Concat(r.owner, more) }
