package session_test

import (
	"testing"

	"github.com/holdfast-go/holdfast/memory/session"
	"github.com/holdfast-go/holdfast/memory/session/sessiontest"
)

func open(t *testing.T, o session.Options) *session.Store {
	t.Helper()
	s, err := session.NewMemory(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestMemory(t *testing.T) {
	t.Parallel()
	sessiontest.Run(t, open)
}
