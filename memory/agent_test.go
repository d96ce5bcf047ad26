package memory_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/holdfast-go/holdfast/memory"
)

// R90, R91: what an agent may see is decided by its clearance and its namespaces.
func TestAgentMay(t *testing.T) {
	t.Parallel()
	a, err := memory.NewAgent("support", memory.Internal, "profile", "orders", "orders")
	if err != nil {
		t.Fatal(err)
	}
	if a.Name() != "support" || a.Clearance() != memory.Internal || !slices.Equal(a.Namespaces(), []string{"orders", "profile"}) || a.Valid() != nil {
		t.Errorf("agent %+v", a)
	}
	for _, c := range []struct {
		label     memory.Label
		namespace string
		want      bool
	}{
		{memory.Public, "orders", true}, {memory.Internal, "profile", true}, {memory.Secret, "orders", false},
		{memory.Public, "quotes", false}, {memory.Public, "", false}, {memory.Public, "order", false}, {memory.Secret + 1, "orders", false},
	} {
		if got := a.May(c.label, c.namespace); got != c.want {
			t.Errorf("May(%v, %q) = %v", c.label, c.namespace, got)
		}
	}
	a.Namespaces()[0] = "quotes"
	if a.May(memory.Public, "quotes") {
		t.Error("a namespace was added through the copy")
	}
	if (memory.Agent{}).May(memory.Public, "") || (memory.Agent{}).May(memory.Public, "orders") {
		t.Error("the zero agent sees something")
	}
}

// R93: an agent without an identity is refused.
func TestNewAgentRefuses(t *testing.T) {
	t.Parallel()
	given := []string{"a", "b"}
	for _, make := range []func() (memory.Agent, error){
		func() (memory.Agent, error) { return memory.NewAgent("", memory.Public, given...) },
		func() (memory.Agent, error) { return memory.NewAgent("a\x00", memory.Public, given...) },
		func() (memory.Agent, error) { return memory.NewAgent("name", memory.Public) },
		func() (memory.Agent, error) { return memory.NewAgent("name", memory.Public, "a", "") },
		func() (memory.Agent, error) { return memory.NewAgent("name", memory.Secret+1, given...) },
		func() (memory.Agent, error) { return memory.Agent{}, memory.Agent{}.Valid() },
	} {
		if a, err := make(); !errors.Is(err, memory.ErrAgent) || a.Name() != "" {
			t.Errorf("%+v, %v", a, err)
		}
	}
}

func TestLabels(t *testing.T) {
	t.Parallel()
	if !(memory.Public < memory.Internal && memory.Internal < memory.Secret) {
		t.Error("the labels are not in order")
	}
	for l, want := range map[memory.Label]string{memory.Public: "public", memory.Internal: "internal", memory.Secret: "secret", 9: "label 9"} {
		if l.String() != want {
			t.Errorf("label %d is %q", l, l)
		}
	}
}
