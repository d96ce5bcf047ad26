package nodes_test

import (
	"errors"
	"testing"

	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/message"
	"github.com/holdfast-go/holdfast/nodes"
)

// What is refused for good is refused at once.
func TestRefusalsAreNotTriedAgain(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		input func(*shop)
		want  error
	}{
		"a message of somebody else": {nodes.Input[shop](scopeOf(t, "eve"), message.User("Refund it.")), nodes.ErrForeign},
		"no message":                 {func(*shop) {}, nodes.ErrNoInput},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, nodes.Config{}, tells("hello"))
			if _, err := b.app.Run(t.Context(), b.thread, nodes.Input[shop](b.scope, message.User("Hello"))); err != nil {
				t.Fatal(err)
			}
			var last error
			for e, err := range b.app.Stream(t.Context(), b.thread, tc.input) {
				if last = err; e.Kind == graph.TaskRetried {
					t.Errorf("it was tried again: %s", e.Error)
				}
			}
			if !errors.Is(last, tc.want) {
				t.Errorf("got %v; want %v", last, tc.want)
			}
		})
	}
}
