package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/postgres"
	"github.com/holdfast-go/holdfast/internal/alloctest"
	"github.com/holdfast-go/holdfast/internal/testserver"
	"github.com/jackc/pgx/v5"
)

// A column is one that no key is made of.
type column struct{ table, name, typ string }

func columnsOf(t testing.TB, conn *pgx.Conn, schema string) []column {
	t.Helper()
	rows, err := conn.Query(t.Context(), `select table_name, column_name, data_type from information_schema.columns c
		where table_schema = $1 and table_name not in ('hf_version', 'hf_branch') and not exists (select 1 from information_schema.key_column_usage k
			where k.table_schema = c.table_schema and k.table_name = c.table_name and k.column_name = c.column_name)
		order by 1, 2`, schema)
	if err != nil {
		t.Fatal(err)
	}
	columns, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (c column, err error) {
		return c, r.Scan(&c.table, &c.name, &c.typ)
	})
	if err != nil {
		t.Fatal(err)
	}
	return columns
}

// set writes a value of the column's own type: a number in digits where it is one, or bytes as they are.
func (c column) set(ctx context.Context, conn *pgx.Conn, schema string, number int64, text []byte) error {
	value, arg := `$1`, any(text)
	switch c.typ {
	case "bytea":
	case "text":
		arg = string(text)
	case "timestamp with time zone":
		value, arg = `$1::text::timestamptz`, string(text)
		if !strings.HasSuffix(string(text), "infinity") {
			value, arg = `to_timestamp($1::bigint / 1000.0)`, number
		}
	default: // integers
		value, arg = `$1::bigint`, number
	}
	_, err := conn.Exec(ctx, fmt.Sprintf(`update %s.%s set %s = %s`, schema, c.table, c.name, value), arg)
	return err
}

// FuzzColumns puts values into the columns of a thread. Reading it is right or ErrCorrupt, and takes memory for no more
// than is there. // report 120
func FuzzColumns(f *testing.F) {
	schema := fresh()
	dropAtEnd(f, schema)
	url := testserver.Postgres(f).URL()
	store := openAt(f, url+"&pool_max_conns=1", postgres.Options{Schema: schema, SynchronousCommit: postgres.Off})
	key := checkpoint.Key{Tenant: "t", Thread: "a"}
	fill(f, store, key)
	conn := connect(f, url)
	mustExec(f, conn, `set synchronous_commit = off`)
	columns := columnsOf(f, conn, schema)
	if len(columns) < 35 {
		f.Fatalf("only %d columns", len(columns))
	}
	for i := range columns {
		f.Add(i, int64(-1<<63), []byte("infinity"))
		f.Add(i, int64(1<<63-1), []byte("-infinity"))
		f.Add(i, int64(256+'E'), []byte(`{"pid":"x"}`))
		f.Add(i, int64(3), []byte{0xff, 0, '{'})
		f.Add(i, int64(-62135596800000), []byte{}) // the first year
	}
	for _, c := range columns {
		mustExec(f, conn, fmt.Sprintf(`create table %[1]s.kept_%[2]s_%[3]s as select %[3]s as v from %[1]s.%[2]s limit 1`, schema, c.table, c.name))
	}
	for range 2 {
		readAll(f, store, key) // its statements are prepared
	}
	f.Fuzz(func(t *testing.T, at int, number int64, text []byte) {
		c := columns[uint(at)%uint(len(columns))]
		if c.set(t.Context(), conn, schema, number, text) != nil {
			return // a constraint of the schema, or no value of the type
		}
		corrupt := false
		alloctest.Bound(t, 0, func() { corrupt = readAll(t, store, key) }, text)
		if c.typ == "smallint" && number != int64(byte(number)) && !corrupt {
			t.Errorf("%s.%s is %d, and nothing that reads it says so", c.table, c.name, number)
		}
		mustExec(t, conn, fmt.Sprintf(`update %[1]s.%[2]s set %[3]s = (select v from %[1]s.kept_%[2]s_%[3]s)`, schema, c.table, c.name))
	})
}

// fill writes one row into every table but that of branches.
func fill(t testing.TB, s checkpoint.Store, key checkpoint.Key) {
	t.Helper()
	ctx, nonce := context.Background(), checkpoint.NewNonce()
	rec := func(pos int64, k checkpoint.Kind) checkpoint.Record {
		return checkpoint.Record{Pos: pos, Ord: 1<<32 + pos, By: nonce.Writer(), Kind: k, Body: []byte("\x01{}")}
	}
	_, err := s.Acquire(ctx, &checkpoint.Acquire{
		Key: key, Nonce: nonce, Holder: checkpoint.Holder{Host: "h", PID: 1}, Records: []checkpoint.Record{rec(0, checkpoint.KindInput)},
		Run: &checkpoint.Run{ID: "r", Graph: "g", Meta: map[string]string{"k": "v"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Append(ctx, &checkpoint.Append{
		Key: key, Nonce: nonce, Records: []checkpoint.Record{rec(1, checkpoint.KindPause)},
		Park: &checkpoint.Park{Status: checkpoint.Interrupted, Questions: []checkpoint.Question{{Key: key, ID: "q", Run: "r", Task: "0.0", Body: []byte("\x01{}")}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Post(ctx, checkpoint.Command{Key: key, Kind: checkpoint.CommandCancel, Body: []byte(`{}`)}); err != nil {
		t.Fatal(err)
	}
}

// readAll calls everything that reads, and reports whether anything was corrupt.
func readAll(t testing.TB, s checkpoint.Store, key checkpoint.Key) (corrupt bool) {
	t.Helper()
	ctx := context.Background()
	_, load := s.Load(ctx, key, checkpoint.Active, "")
	_, read := s.Read(ctx, checkpoint.Query{Chain: checkpoint.Chain{Key: key}, To: -1})
	_, chains := s.Chains(ctx, key, 0)
	_, inbox := s.Inbox(ctx, key)
	_, threads := s.Threads(ctx, checkpoint.ThreadFilter{})
	_, runs := s.Runs(ctx, checkpoint.RunFilter{})
	_, questions := s.Questions(ctx, checkpoint.QuestionFilter{})
	for what, err := range map[string]error{
		"Load": load, "Read": read, "Chains": chains, "Inbox": inbox, "Threads": threads, "Runs": runs, "Questions": questions,
	} {
		corrupt = corrupt || err != nil
		if err != nil && !errors.Is(err, checkpoint.ErrCorrupt) {
			t.Errorf("%s: %v", what, err)
		}
	}
	return corrupt
}
