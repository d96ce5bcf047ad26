package knowledge

import (
	"errors"
	"fmt"
	"slices"

	"github.com/holdfast-go/holdfast/memory"
)

// ErrReader is returned by every call that needs a reader and was given none, or parts that make none.
var ErrReader = errors.New("knowledge: a reader needs a tenant and the roles of the authenticated request; make it with NewReader")

// A Reader is who asks: a tenant and roles, from the authenticated request. The zero Reader is refused everywhere.
type Reader struct {
	tenant string
	roles  []string // sorted; Everyone among them
}

// NewReader returns a reader of a tenant with roles, and Everyone. It returns ErrReader for parts that memory.NewScope would refuse.
func NewReader(tenant string, roles ...string) (Reader, error) {
	if err := name(tenant); err != nil {
		return Reader{}, fmt.Errorf("%w: the tenant: %w", ErrReader, err)
	}
	for _, r := range roles {
		if err := name(r); err != nil {
			return Reader{}, fmt.Errorf("%w: a role: %w", ErrReader, err)
		}
	}
	return Reader{tenant, sorted(append([]string{Everyone}, roles...))}, nil
}

// Tenant is the tenant's id, never empty in a valid reader.
func (r Reader) Tenant() string { return r.tenant }

func (r Reader) valid() error {
	if r.tenant == "" {
		return ErrReader
	}
	return nil
}

// name refuses what no id or role is, by the rules of a scope.
func name(s string) error {
	_, err := memory.NewScope(s, "user")
	return err
}

// sorted returns the names in order, each once.
func sorted(names []string) []string {
	names = slices.Clone(names)
	slices.Sort(names)
	return slices.Compact(names)
}
