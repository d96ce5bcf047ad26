package postgres_test

import (
	"testing"

	"github.com/holdfast-go/holdfast/memory/audit"
	"github.com/holdfast-go/holdfast/memory/audit/audittest"
	"github.com/holdfast-go/holdfast/memory/audit/postgres"
)

func BenchmarkRecord(b *testing.B) {
	url, schema, db := fresh(b)
	openAt(b, url, postgres.Options{Schema: schema}).Close()
	if _, err := db.Exec(`create table ` + schema + `.bare(n bigserial primary key, body bytea)`); err != nil {
		b.Fatal(err)
	}
	audittest.Bench(b, func(b *testing.B) *audit.Log { return openAt(b, url, postgres.Options{Schema: schema}) }, func(b *testing.B, row []byte) error {
		_, err := db.ExecContext(b.Context(), `insert into `+schema+`.bare(body) values ($1)`, row)
		return err
	})
}
