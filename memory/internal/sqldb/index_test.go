package sqldb_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/holdfast-go/holdfast/memory/internal/sqldb"
	"github.com/holdfast-go/holdfast/memory/search"
)

const indexTables = `
	create table hfx_index(tenant %[1]s not null, usr %[1]s not null, shelf %[1]s not null, term %[2]s not null, block bigint not null, data %[2]s not null,
		primary key (tenant, usr, shelf, term, block))`

func indexBox(p place) sqldb.Box {
	if p.tables == pgTables {
		return box(p.tables, fmt.Sprintf(indexTables, "text", "bytea"))
	}
	return box(p.tables, fmt.Sprintf(indexTables, "text", "blob"))
}

var index = sqldb.Index{Table: "hfx_index", Owner: []string{"tenant", "usr"}}

// R88: an index in a database is one in memory, whatever bytes its keys have, and each owner has one.
func TestIndexIsAMap(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		d, ctx, r := p.must(t, indexBox(p)), t.Context(), rand.New(rand.NewPCG(1, 2))
		names := []string{"", "a", "\x00", "\x00space", "中文", "\"'\\", "\xff\xfe", "%_", "$1"}
		shelves := []string{"s", "secret 货架", "\"'{in $1}"}
		key := func() search.Key {
			return search.Key{Shelf: shelves[r.IntN(3)], Term: names[r.IntN(len(names))], Block: r.IntN(5)}
		}
		users := []string{"u", "v"}
		models := map[string]*search.Map{"u": search.NewMap(), "v": search.NewMap()}
		for range 60 {
			user := users[r.IntN(2)]
			changes := map[search.Key][]byte{}
			for range r.IntN(30) {
				if changes[key()] = nil; r.IntN(3) > 0 {
					changes[key()] = []byte{byte(r.IntN(256)), 0}
				}
			}
			var asked []search.Key
			for range r.IntN(40) {
				asked = append(asked, key())
			}
			if err := models[user].Save(ctx, changes); err != nil {
				t.Fatal(err)
			}
			if err := d.Write(ctx, func(run sqldb.Run) error { return index.Rows(run, "t", user).Save(ctx, changes) }); err != nil {
				t.Fatal(err)
			}
			if err := d.Read(ctx, func(run sqldb.Run) error {
				rows := index.Rows(run, "t", user)
				return errors.Join(sameLoad(ctx, rows, models[user], asked), sameScan(ctx, rows, models[user], shelves[:r.IntN(4)], names[:r.IntN(len(names)+1)]))
			}); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func sameLoad(ctx context.Context, got, want search.Rows, keys []search.Key) error {
	g, err := got.Load(ctx, keys)
	w, err2 := want.Load(ctx, keys)
	return errors.Join(err, err2, same(g, w))
}

func sameScan(ctx context.Context, got, want search.Rows, shelves, terms []string) error {
	g, err := scanned(ctx, got, shelves, terms)
	w, err2 := scanned(ctx, want, shelves, terms)
	return errors.Join(err, err2, same(g, w))
}

func scanned(ctx context.Context, rows search.Rows, shelves, terms []string) (map[search.Key][]byte, error) {
	out := map[search.Key][]byte{}
	err := rows.Scan(ctx, shelves, terms, func(k search.Key, data []byte) error {
		if out[k] != nil {
			return fmt.Errorf("%+v twice", k)
		}
		out[k] = data
		return nil
	})
	return out, err
}

func same(got, want map[search.Key][]byte) error {
	if !maps.EqualFunc(got, want, func(a, b []byte) bool { return string(a) == string(b) }) {
		return fmt.Errorf("got %d rows, want %d:\n%+v\n%+v", len(got), len(want), got, want)
	}
	return nil
}

// What a caller of Scan returns ends it.
func TestScanEnds(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		d, ctx, own := p.must(t, indexBox(p)), t.Context(), errors.New("own")
		calls := 0
		err := d.Write(ctx, func(run sqldb.Run) error {
			rows := index.Rows(run, "t", "u")
			if err := rows.Save(ctx, map[search.Key][]byte{{Shelf: "s", Term: "a"}: {1}, {Shelf: "s", Term: "b"}: {1}}); err != nil {
				return err
			}
			return rows.Scan(ctx, []string{"s"}, []string{"a", "b"}, func(search.Key, []byte) error { calls++; return own })
		})
		if !errors.Is(err, own) || errors.Is(err, sentinels.Corrupt) || calls != 1 {
			t.Errorf("%d calls, %v", calls, err)
		}
	})
}
