package memory

import (
	"errors"
	"fmt"
	"slices"
)

// A Label says who may see an item. The labels are ordered: who may see one may see those before it.
type Label uint8

// The labels. The zero label is the widest only for what anybody may read; a derived item inherits the highest of its sources.
const (
	Public Label = iota
	Internal
	Secret
)

// String is the label's name.
func (l Label) String() string {
	if int(l) < len(labels) {
		return labels[l]
	}
	return fmt.Sprintf("label %d", uint8(l))
}

var labels = [...]string{"public", "internal", "secret"}

// ErrAgent is returned by every call that needs an agent and was given none, or parts that make none.
var ErrAgent = errors.New("memory: an agent needs a name, a known clearance and namespaces; make it with memory.NewAgent")

// An Agent is a program that reads and writes memories: its name goes into what it writes, its clearance and namespaces
// decide in the store what it can read. The zero Agent is refused everywhere.
type Agent struct {
	name       string
	clearance  Label
	namespaces []string
}

// NewAgent returns an agent that may see items up to a label in the namespaces that are named. It returns ErrAgent if the
// name or a namespace is empty or malformed, as in NewScope, or if no namespace is named.
func NewAgent(name string, clearance Label, namespaces ...string) (Agent, error) {
	errs := []error{part("name", name)}
	for _, ns := range namespaces {
		errs = append(errs, part("namespace", ns))
	}
	if clearance > Secret {
		errs = append(errs, fmt.Errorf("the clearance is %s", clearance))
	}
	if len(namespaces) == 0 {
		errs = append(errs, errors.New("it has no namespace"))
	}
	if err := errors.Join(errs...); err != nil {
		return Agent{}, fmt.Errorf("%w: %w", ErrAgent, err)
	}
	own := slices.Clone(namespaces)
	slices.Sort(own)
	return Agent{name, clearance, slices.Compact(own)}, nil
}

// Name identifies the agent in what it writes.
func (a Agent) Name() string { return a.name }

// Clearance is the highest label it may see.
func (a Agent) Clearance() Label { return a.clearance }

// Namespaces are those it may read and write, sorted. The slice is a copy.
func (a Agent) Namespaces() []string { return slices.Clone(a.namespaces) }

// Valid returns ErrAgent for the zero agent.
func (a Agent) Valid() error {
	if a.name == "" {
		return ErrAgent
	}
	return nil
}

// May reports whether it may see an item with a label in a namespace.
func (a Agent) May(l Label, namespace string) bool {
	_, ok := slices.BinarySearch(a.namespaces, namespace)
	return ok && l <= a.clearance
}
