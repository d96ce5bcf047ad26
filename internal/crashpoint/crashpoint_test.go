package crashpoint_test

import (
	"slices"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/internal/crashpoint"
)

func TestHit(t *testing.T) { // not parallel: the hook is the process's
	crashpoint.Hit("nobody listens")
	var got []string
	crashpoint.Set(func(name string) { got = append(got, name) })
	defer crashpoint.Set(nil)
	crashpoint.Hit("a")
	crashpoint.Write("acked", []checkpoint.Record{{Kind: checkpoint.KindEntry}, {Kind: checkpoint.KindPause}})
	crashpoint.Set(nil)
	crashpoint.Hit("b")
	if want := []string{"a", "acked E", "acked P"}; !slices.Equal(got, want) {
		t.Errorf("points %q; want %q", got, want)
	}
}
