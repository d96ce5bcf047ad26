package postgres_test

import (
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/checkpointtest"
	"github.com/holdfast-go/holdfast/checkpoint/postgres"
)

// C21
func TestStore(t *testing.T) {
	t.Parallel()
	o := postgres.Options{Schema: fresh()} // one for all cases, which use tenants of their own
	dropAtEnd(t, o.Schema)
	checkpointtest.Run(t, func(t *testing.T) checkpoint.Store { return open(t, o) })
}
