package sqlite_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/holdfast-go/holdfast/memory/audit"
	"github.com/holdfast-go/holdfast/memory/audit/audittest"
)

func BenchmarkRecord(b *testing.B) {
	db, err := sql.Open("sqlite", filepath.Join(b.TempDir(), "bare.db")+"?_pragma=synchronous(full)&_pragma=journal_mode(wal)")
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`create table bare(n integer primary key, body blob)`); err != nil {
		b.Fatal(err)
	}
	audittest.Bench(b, func(b *testing.B) *audit.Log { return openAt(b, file(b)) }, func(b *testing.B, row []byte) error {
		_, err := db.ExecContext(b.Context(), `insert into bare(body) values ($1)`, row)
		return err
	})
}
