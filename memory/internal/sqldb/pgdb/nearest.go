package pgdb

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/holdfast-go/holdfast/memory/internal/sqldb"
	"github.com/holdfast-go/holdfast/memory/search"
	"github.com/pgvector/pgvector-go"
)

// Vectors keep the vectors of documents in a table of their own, which is Prefix + "vector".
type Vectors struct {
	DB     *DB
	Owner  []string // columns that name an owner
	Fresh  string   // a condition that the document of row n is found; empty: all are
	Exact  int      // vectors of an owner in a space that are looked at one by one; owners with more are searched by index. Negative: none
	Logger *slog.Logger

	prepared bool

	mu      sync.Mutex
	indexed map[space]bool // true: there is an index, or nothing more is done about it
}

// Prepare makes the table, before the first use. That is no migration: it needs an extension that stores without an embedder do not. Without it
// vectors can be deleted, but all else is ErrVectors.
func (s *Vectors) Prepare(ctx context.Context) error {
	var columns strings.Builder
	for _, o := range s.Owner {
		columns.WriteString(o + ` text collate "C" not null, `)
	}
	s.prepared = true
	return s.DB.Script(ctx, `set local client_min_messages = warning;
		create table if not exists `+s.table()+`(
			`+columns.String()+`
			space text collate "C" not null, -- the hash of its name, because the conditions of indexes say it
			shelf text collate "C" not null, no bigint not null, dims int not null, v vector not null,
			primary key (`+strings.Join(s.Owner, ", ")+`, space, shelf, no))`)
}

func (s *Vectors) table() string { return s.DB.box.Prefix + "vector" }

// A space is where vectors can be compared.
type space struct {
	hash string
	dims int
}

func spaceOf(name string, dims int) space { return space{HashOf(name), dims} }

// HashOf is the column of a space. It has only letters and digits, so that it can be a part of statements.
func HashOf(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:12])
}

// Of are those of an owner in a transaction. extra are arguments of Fresh, whose places come after those of the owner.
func (s *Vectors) Of(run sqldb.Run, owner []string, extra ...any) *OwnVectors {
	x := &OwnVectors{all: s, run: run, extra: extra}
	for _, o := range owner {
		x.owner = append(x.owner, o)
	}
	return x
}

// OwnVectors are those of one owner in a transaction.
type OwnVectors struct {
	all   *Vectors
	run   sqldb.Run
	owner []any
	extra []any
}

// A statement grows with its arguments.
type statement struct{ args []any }

// at is the place of a further argument.
func (s *statement) at(arg any) string {
	s.args = append(s.args, arg)
	return fmt.Sprintf("$%d", len(s.args))
}

// mine begins a statement with the arguments of the owner, and returns the condition for them.
func (x *OwnVectors) mine() (*statement, string) {
	s := &statement{}
	conditions := make([]string, len(x.owner))
	for i, o := range x.owner {
		conditions[i] = x.all.Owner[i] + " = " + s.at(o)
	}
	return s, strings.Join(conditions, " and ")
}

// PutVectors stores vectors of documents in a space; nil deletes one.
func (x *OwnVectors) PutVectors(ctx context.Context, shelf, name string, vs map[uint32][]float32) error {
	var put [][]any
	var gone []int64
	for _, no := range slices.Sorted(maps.Keys(vs)) {
		v := vs[no]
		if v == nil {
			gone = append(gone, int64(no))
			continue
		}
		if !x.all.prepared {
			return ErrVectors
		}
		if !sound(v) {
			return fmt.Errorf("document %d: %w", no, search.ErrVector)
		}
		sp := spaceOf(name, len(v))
		put = append(put, slices.Concat(x.owner, []any{sp.hash, shelf, int64(no), int64(sp.dims), pgvector.NewVector(v)}))
		x.all.wants(sp)
	}
	var stmts []sqldb.Stmt
	if put != nil {
		stmts = append(stmts, sqldb.ExecMany(x.all.insert(), put))
	}
	if gone != nil {
		s, mine := x.mine()
		stmts = append(stmts, sqldb.Exec(`delete from `+x.all.table()+` where `+mine+` and space = `+s.at(HashOf(name))+` and shelf = `+s.at(shelf)+
			` and no {ints `+s.at(gone)+`}`, s.args...))
	}
	if stmts == nil {
		return nil
	}
	return x.run(ctx, stmts...)
}

func (s *Vectors) insert() string {
	columns := strings.Join(s.Owner, ", ") + `, space, shelf, no`
	var places []string
	for i := range len(s.Owner) + 4 {
		places = append(places, fmt.Sprintf("$%d", i+1))
	}
	return `insert into ` + s.table() + `(` + columns + `, dims, v) values (` + strings.Join(places, ", ") + fmt.Sprintf(`, $%d::{vector})`, len(s.Owner)+5) + `
		on conflict (` + columns + `) do update set dims = excluded.dims, v = excluded.v`
}

// sound reports whether a vector has a direction, and pgvector takes it.
func sound(v []float32) bool {
	sum := 0.0
	for _, f := range v {
		sum += float64(f) * float64(f)
	}
	return len(v) > 0 && len(v) <= 16_000 && sum > 0 && !math.IsInf(sum, 1) && !math.IsNaN(sum)
}

// EraseVectors removes all of the owner. There need not be a table of them; another process may have made it.
func (x *OwnVectors) EraseVectors(ctx context.Context) error {
	there := false
	err := x.run(ctx, sqldb.Query(`select to_regclass('`+x.all.table()+`') is not null`, func(scan func(...any) error) error { return scan(&there) }))
	if err != nil || !there {
		return err
	}
	s, mine := x.mine()
	return x.run(ctx, sqldb.Exec(`delete from `+x.all.table()+` where `+mine, s.args...))
}

// Nearest returns the documents whose vectors have the highest cosine with v.
func (x *OwnVectors) Nearest(ctx context.Context, shelves []string, name string, v []float32, limit int) ([]search.Hit, error) {
	if !x.all.prepared {
		return nil, ErrVectors
	}
	if !sound(v) {
		return nil, search.ErrVector
	}
	sp := spaceOf(name, len(v))
	n, err := x.count(ctx, sp, shelves)
	if err != nil || n == 0 || limit <= 0 {
		return nil, err
	}
	if n > x.all.Exact && sp.canIndex() {
		hits, err := x.byIndex(ctx, sp, shelves, v, limit)
		if err != nil || len(hits) == limit {
			return hits, err
		}
	}
	return x.byLooking(ctx, sp, shelves, v, limit)
}

// count returns how many vectors there are, but not more than one more than are looked at one by one.
func (x *OwnVectors) count(ctx context.Context, sp space, shelves []string) (n int, err error) {
	s, mine := x.mine()
	text := `select count(*) from (select 1 from ` + x.all.table() + ` where ` + mine + ` and space = ` + s.at(sp.hash) + ` and shelf {in ` + s.at(shelves) +
		`} limit ` + s.at(int64(max(x.all.Exact, 0)+1)) + `) as c`
	return n, x.run(ctx, sqldb.Query(text, func(scan func(...any) error) error { return scan(&n) }, s.args...))
}

func (x *OwnVectors) fresh() string { return cmp.Or(x.all.Fresh, "true") }

// byLooking computes the distance of each. To compile a statement for that would take longer than to run it.
func (x *OwnVectors) byLooking(ctx context.Context, sp space, shelves []string, v []float32, limit int) ([]search.Hit, error) {
	var hits []search.Hit
	s, mine := x.mine()
	s.args = append(s.args, x.extra...)
	text := `with n as materialized (select shelf, no, v {cosine} ` + s.at(pgvector.NewVector(v)) + `::{vector} as d from ` + x.all.table() + `
		where ` + mine + ` and space = ` + s.at(sp.hash) + ` and dims = ` + s.at(int64(sp.dims)) + ` and shelf {in ` + s.at(shelves) + `})
		select shelf, no, d from n where ` + x.fresh() + ` order by d, shelf, no limit ` + s.at(int64(limit))
	return hits, x.run(ctx, sqldb.Exec(`set local jit = off`), sqldb.Query(text, eachHit(&hits), s.args...))
}

// inIndex are the settings of a search by index: how many candidates it keeps, which costs some ms and wins much, and how far it goes to
// find enough of the owner's. Sorting is forbidden, because the planner would count on it to be cheaper; it does not know where in the
// index the rows of an owner are.
var inIndex = []string{
	`set local hnsw.iterative_scan = strict_order`, `set local hnsw.ef_search = 200`, `set local hnsw.max_scan_tuples = 100000`,
	`set local hnsw.scan_mem_multiplier = 8`, `set local enable_sort = off`, `set local jit = off`,
}

// byIndex goes through the index. It finds fewer than there are where it gives up before.
func (x *OwnVectors) byIndex(ctx context.Context, sp space, shelves []string, v []float32, limit int) ([]search.Hit, error) {
	var hits []search.Hit
	var stmts []sqldb.Stmt
	for _, set := range inIndex {
		stmts = append(stmts, sqldb.Exec(set))
	}
	s, mine := x.mine()
	s.args = append(s.args, x.extra...)
	column, query := sp.expression(`n.v`), sp.expression(s.at(pgvector.NewVector(v))+`::{vector}`)
	text := `select shelf, no, ` + column + ` {cosine} ` + query + ` as d from ` + x.all.table() + ` n
		where ` + mine + ` and ` + sp.condition() + ` and shelf {in ` + s.at(shelves) + `} and ` + x.fresh() + `
		order by ` + column + ` {cosine} ` + query + ` limit ` + s.at(int64(limit))
	stmts = append(stmts, sqldb.Query(text, eachHit(&hits), s.args...), sqldb.Exec(`set local enable_sort to default`))
	return hits, x.run(ctx, stmts...)
}

func eachHit(hits *[]search.Hit) func(scan func(...any) error) error {
	return func(scan func(...any) error) error {
		var h search.Hit
		var no int64
		var distance float64
		err := scan(&h.Shelf, &no, &distance)
		h.No, h.Score = uint32(no), 1-distance
		*hits = append(*hits, h)
		return err
	}
}

// Dimensions that an HNSW index takes: of vector, and of halfvec.
const maxFull, maxHalf = 2000, 4000

func (s space) canIndex() bool { return s.dims <= maxHalf }

// expression gives a vector the type that the index of the space has.
func (s space) expression(v string) string {
	if s.dims > maxFull {
		return fmt.Sprintf(`(%s::{halfvec}(%d))`, v, s.dims)
	}
	return fmt.Sprintf(`(%s::{vector}(%d))`, v, s.dims)
}

// condition is that of the index, which the planner must find in a query as it is.
func (s space) condition() string { return fmt.Sprintf(`space = '%s' and dims = %d`, s.hash, s.dims) }

// wants notes that a space needs an index.
func (s *Vectors) wants(sp space) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.indexed == nil {
		s.indexed = map[space]bool{}
	}
	if _, known := s.indexed[sp]; !known {
		s.indexed[sp] = !sp.canIndex()
	}
}

// After makes the indexes of new spaces. It is called after a transaction. What was stored stays stored and is found where that fails.
func (s *Vectors) After(ctx context.Context) {
	for _, sp := range s.due() {
		if err := s.DB.Script(ctx, s.index(sp)); err != nil {
			s.Logger.WarnContext(ctx, "postgres: a space of vectors has no index; searches among many get slower",
				"table", s.table(), "dimensions", sp.dims, "error", err)
		}
	}
}

// due are the spaces that have no index yet. Each is tried once.
func (s *Vectors) due() (out []space) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for sp, done := range s.indexed {
		if !done {
			out = append(out, sp)
			s.indexed[sp] = true
		}
	}
	return out
}

// index is the statement that makes the index of a space.
func (s *Vectors) index(sp space) string {
	kind := "vector"
	if sp.dims > maxFull {
		kind = "halfvec"
	}
	return fmt.Sprintf(`set local client_min_messages = warning;
		select set_config('maintenance_work_mem', greatest(pg_size_bytes(current_setting('maintenance_work_mem')) / 1024, 262144) || 'kB', true);
		create index if not exists %s_%s_%d on %[1]s
		using hnsw ((v::%[4]s(%[3]d)) %[4]s_cosine_ops) where %[5]s`, s.table(), sp.hash, sp.dims, kind, sp.condition())
}
