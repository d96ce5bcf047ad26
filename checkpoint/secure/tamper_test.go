package secure_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/secure"
)

// A forger has write access to the file, and no key.
type forger struct {
	testing.TB
	conn *sql.Conn
}

func openForger(t testing.TB, path string) *forger {
	t.Helper()
	db, err := sql.Open("sqlite", path+"?_pragma=busy_timeout(10000)&_pragma=synchronous(off)")
	if err != nil {
		t.Fatal(err)
	}
	conn, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(); db.Close() })
	return &forger{t, conn}
}

func (f *forger) exec(query string, args ...any) (int64, error) {
	r, err := f.conn.ExecContext(context.Background(), query, args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// A table is what a forger knows of one: its rows, numbered from 1 in a copy of it.
type table struct {
	name    string
	key     string // columns that name a row
	columns []string
	rows    [][]any
}

// table reads a table and keeps a copy.
func (f *forger) table(name, key string) table {
	f.Helper()
	f.must("create temp table copy_of_" + name + " as select * from " + name)
	rs, err := f.conn.QueryContext(context.Background(), "select * from copy_of_"+name+" order by rowid")
	if err != nil {
		f.Fatal(err)
	}
	defer rs.Close()
	t := table{name: name, key: key}
	t.columns, _ = rs.Columns()
	for rs.Next() {
		cells := make([]any, len(t.columns))
		to := make([]any, len(cells))
		for i := range cells {
			to[i] = &cells[i]
		}
		if err := rs.Scan(to...); err != nil {
			f.Fatal(err)
		}
		t.rows = append(t.rows, cells)
	}
	return t
}

// where finds a row by its number.
func (t *table) where(n int) string {
	return fmt.Sprintf(" where (%s) = (select %s from copy_of_%s where rowid = %d)", t.key, t.key, t.name, n+1)
}

func (f *forger) must(query string) {
	f.Helper()
	if _, err := f.exec(query); err != nil {
		f.Fatal(err)
	}
}

// restore makes a table what it was.
func (f *forger) restore(t table) {
	f.Helper()
	f.must("begin immediate")
	f.must("delete from " + t.name)
	f.must("insert into " + t.name + " select * from copy_of_" + t.name)
	f.must("commit")
}

// forgeries are other values for a cell. others are the values of that column in other rows.
func forgeries(cell any, others []any) (out []any) {
	switch v := cell.(type) {
	case int64:
		out = append(out, v+1, v-1, int64(0), v+1<<32)
	case string:
		out = append(out, v+"x", strings.TrimSuffix(v, v[max(len(v)-1, 0):]), "")
	case []byte:
		out = append(out, []byte{}, append(slices.Clone(v), 0))
		for _, i := range []int{0, 1, 2, len(v) / 3, len(v) / 2, len(v) - 1} {
			if i < len(v) && i >= 0 {
				flipped := slices.Clone(v)
				flipped[i] ^= 1
				out = append(out, flipped, v[:i])
			}
		}
	}
	return append(out, others...)
}

// unprotected are the columns that a database filters by and that no wrapper covers. The documentation of the package
// lists them.
var unprotected = map[string]bool{
	"hf_record.at": true, "hf_question.state": true, "hf_question.asked": true, "hf_question.answered": true, "hf_inbox.n": true, "hf_inbox.at": true,
	"hf_run.request": true, "hf_run.status": true, "hf_run.graph": true, "hf_run.started_by": true, "hf_run.started": true, "hf_run.ended": true, "hf_run.run": true,
}

// away are the columns by which a row is found: another value is as good as a deletion.
var away = map[string]bool{"tenant": true, "thread": true, "branch": true, "ns": true, "pos": true, "id": true}

// C12: whatever single cell of a row that is protected changes, or whatever row goes, is seen; exceptions are those of the
// documentation of the package.
func TestEveryForgeryIsSeen(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "threads.db")
			s := kind.wrap(t, openSQLite(t, path), ring("k1"))
			fill(t, s, thread)
			fill(t, s, checkpoint.Key{Tenant: "tenant", Thread: "twin"})
			c := &court{TB: t, forger: openForger(t, path), store: s}
			if c.signed = signedOf(t, s, path); c.signed != nil {
				var err error
				if c.anchor, err = c.signed.Anchor(t.Context(), thread); err != nil {
					t.Fatal(err)
				}
			}
			c.before = c.verdict(nil)
			for name, key := range map[string]string{"hf_record": "branch, ns, pos", "hf_question": "id", "hf_inbox": "n", "hf_run": "run"} {
				c.try(c.forger.table(name, "tenant, thread, "+key))
			}
			if c.seen < 200 {
				t.Errorf("only %d forgeries were seen: the test has proved nothing", c.seen)
			}
			t.Logf("%d forgeries were seen, %d changed nothing, %d were documented exceptions", c.seen, c.harmless, c.excepted)
			if got := c.verdict(nil); got != c.before {
				t.Errorf("the store was not restored: %s", got)
			}
		})
	}
}

// A court judges forgeries.
type court struct {
	testing.TB
	forger                   *forger
	store                    checkpoint.Store
	signed                   *secure.Signed // nil: only encrypted
	anchor                   secure.Anchor
	before                   string
	tried                    int
	seen, harmless, excepted int
}

// verdict is the content of the thread, or "" if the forgery was seen.
func (c *court) verdict(what []any) string {
	c.Helper()
	got, err := content(c, c.store, thread)
	if err == nil && c.signed != nil {
		err = c.signed.Verify(c.Context(), thread, c.anchor)
	}
	if err == nil {
		return got
	}
	if _, ok := errors.AsType[*secure.RowError](err); !ok || !errors.Is(err, checkpoint.ErrCorrupt) {
		if !errors.Is(err, checkpoint.ErrCorrupt) {
			c.Errorf("%v: error %v; want a typed one", what, err)
		}
	}
	return ""
}

// judge counts a forgery; excepted says that the documentation allows it to pass.
func (c *court) judge(excepted bool, what ...any) {
	c.Helper()
	switch got := c.verdict(what); {
	case got == "":
		c.seen++
	case got == c.before:
		c.harmless++
	case excepted:
		c.excepted++
	default:
		c.Errorf("%v was not seen:\n%s\nbefore:\n%s", what, got, c.before)
	}
}

func (c *court) try(t table) {
	for n, row := range t.rows {
		if row[slices.Index(t.columns, "thread")] != thread.Thread {
			continue
		}
		end := c.isEnd(t, row)
		for i, column := range t.columns {
			var others []any
			for m, other := range t.rows {
				if m != n {
					others = append(others, other[i])
				}
			}
			for _, v := range forgeries(row[i], others) {
				if fmt.Sprint(v) == fmt.Sprint(row[i]) {
					continue
				}
				if c.tried++; testing.Short() && c.tried%8 != 0 {
					continue
				}
				if _, err := c.forger.exec("update "+t.name+" set "+column+" = coalesce(?, x'')"+t.where(n), v); err != nil {
					continue // a constraint of the database
				}
				c.judge(unprotected[t.name+"."+column] || away[column] && end || emptied(t, column, v), t.name, n, column, v)
				c.forger.restore(t)
			}
		}
		c.forger.must("delete from " + t.name + t.where(n))
		c.judge(end, "delete", t.name, n)
		c.forger.restore(t)
	}
}

// isEnd reports whether a row may vanish unseen: rows in no chain, and, without an anchor, the first and the last record
// of a chain.
func (c *court) isEnd(t table, row []any) bool {
	if t.name != "hf_record" {
		return true
	}
	at := func(row []any, column string) string { return fmt.Sprint(row[slices.Index(t.columns, column)]) }
	below, above := false, false
	for _, other := range t.rows {
		if at(other, "thread") == at(row, "thread") && at(other, "ns") == at(row, "ns") {
			below = below || at(other, "pos") < at(row, "pos")
			above = above || at(other, "pos") > at(row, "pos")
		}
	}
	return c.signed == nil && !(below && above)
}

// signedOf finds the signing store below.
func signedOf(t testing.TB, s checkpoint.Store, path string) *secure.Signed {
	if sg, ok := s.(*secure.Signed); ok {
		return sg
	}
	if strings.Contains(s.Info().Durability, "signed") {
		return sign(t, openSQLite(t, path), ring("k1")) // the one below
	}
	return nil
}

// emptied reports whether a forgery is the documented one of run errors: empty, as a store itself makes it.
func emptied(t table, column string, v any) bool {
	return t.name == "hf_run" && column == "error" && fmt.Sprint(v) == "[]"
}
