package memory_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/memory"
	"pgregory.net/rapid"
)

// R89, R93, T19: there is no scope without a tenant and a user.
func TestNewScope(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", memory.MaxName)
	for _, name := range []string{"a", long, "用户🙂", "a b", "' or 1=1", "unknown", "a/b"} {
		s, err := memory.NewScope(name, "u")
		if err != nil || s.Tenant() != name || s.User() != "u" || s.Valid() != nil {
			t.Errorf("tenant %q: %v, %v", name, s, err)
		}
		if s, err = memory.NewScope("t", name); err != nil || s.User() != name || s.Tenant() != "t" {
			t.Errorf("user %q: %v, %v", name, s, err)
		}
	}
	for _, name := range []string{"", " ", "\t\u3000", long + "x", "\xff", "a\x00b", "a\nb", "a\u0085b"} {
		for _, parts := range [][2]string{{name, "u"}, {"t", name}, {name, name}} {
			if s, err := memory.NewScope(parts[0], parts[1]); !errors.Is(err, memory.ErrScope) || s != (memory.Scope{}) {
				t.Errorf("NewScope(%q, %q) = %v, %v", parts[0], parts[1], s, err)
			}
		}
	}
	if err := (memory.Scope{}).Valid(); !errors.Is(err, memory.ErrScope) {
		t.Errorf("the zero scope: %v", err)
	}
}

// R80: a job carries its scope as JSON. No two scopes have one form.
func TestScopeForms(t *testing.T) {
	t.Parallel()
	name := rapid.StringMatching(`[a"\\/ ,用🙂]{1,6}`).Filter(func(s string) bool { return strings.TrimSpace(s) != "" })
	rapid.Check(t, func(t *rapid.T) {
		a, errA := memory.NewScope(name.Draw(t, "tenant"), name.Draw(t, "user"))
		b, errB := memory.NewScope(name.Draw(t, "tenant"), name.Draw(t, "user"))
		if err := errors.Join(errA, errB); err != nil {
			t.Fatal(err)
		}
		doc, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		var back memory.Scope
		if err := json.Unmarshal(doc, &back); err != nil || back != a {
			t.Fatalf("%v came back as %v, %v", a, back, err)
		}
		if (a.String() == b.String()) != (a == b) {
			t.Fatalf("%v and %v", a, b)
		}
		if (memory.ResultID(a, "c", "x", nil) == memory.ResultID(b, "c", "x", nil)) != (a == b) {
			t.Fatalf("%v and %v have one result id", a, b)
		}
	})
}

func TestScopeFromBadJSON(t *testing.T) {
	t.Parallel()
	if doc, err := json.Marshal(memory.Scope{}); !errors.Is(err, memory.ErrScope) {
		t.Errorf("the zero scope as JSON: %s, %v", doc, err)
	}
	was, err := memory.NewScope("t", "u")
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range []string{`null`, `[]`, `["t"]`, `["t",""]`, `["","u"]`, `["t","u","x"]`, `["t",7]`, `{"tenant":"t","user":"u"}`, `"t"`, `["t","a\u0000b"]`} {
		s := was
		if err := s.UnmarshalJSON([]byte(doc)); !errors.Is(err, memory.ErrScope) || s != was {
			t.Errorf("%s: %v, %v", doc, s, err)
		}
	}
}
