package memory

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ErrScope is returned by every call that needs a scope and was given none, or parts that make none.
var ErrScope = errors.New("memory: a scope needs a tenant and a user; make it with memory.NewScope from the authenticated request")

// MaxName is the longest name of a tenant, a user or an agent, in bytes.
const MaxName = 256

// A Scope is one user of one tenant. Make it with NewScope where the request was authenticated, and pass it down. The zero
// Scope is refused everywhere. Scopes can be compared.
type Scope struct{ tenant, user string }

// NewScope returns the scope of a user of a tenant. It returns ErrScope if a part is empty or only space, longer than
// MaxName, no valid UTF-8, or has a control character: such an id is a fault of the caller, not a person.
func NewScope(tenant, user string) (Scope, error) {
	if err := errors.Join(part("tenant", tenant), part("user", user)); err != nil {
		return Scope{}, fmt.Errorf("%w: %w", ErrScope, err)
	}
	return Scope{tenant, user}, nil
}

func part(noun, s string) error {
	switch {
	case strings.TrimSpace(s) == "":
		return fmt.Errorf("the %s is empty", noun)
	case len(s) > MaxName:
		return fmt.Errorf("the %s has %d bytes, at most %d fit", noun, len(s), MaxName)
	case !utf8.ValidString(s):
		return fmt.Errorf("the %s is no valid UTF-8", noun)
	case strings.ContainsFunc(s, unicode.IsControl):
		return fmt.Errorf("the %s has a control character", noun)
	}
	return nil
}

// Tenant is the tenant's id, never empty in a valid scope.
func (s Scope) Tenant() string { return s.tenant }

// User is the user's id within the tenant, never empty in a valid scope.
func (s Scope) User() string { return s.user }

// Valid returns ErrScope for the zero scope.
func (s Scope) Valid() error {
	if s == (Scope{}) {
		return ErrScope
	}
	return nil
}

// Hash names the scope where its parts must not stand, such as in a tombstone: the SHA-256 of String in hex. Who guesses the parts can
// find out that it is theirs.
func (s Scope) Hash() string {
	sum := sha256.Sum256([]byte(s.String()))
	return hex.EncodeToString(sum[:])
}

// String is for people and logs. It quotes the parts, so that no two scopes look alike.
func (s Scope) String() string { return fmt.Sprintf("%q/%q", s.tenant, s.user) }

// MarshalJSON writes [tenant, user], so that a job can carry its scope. The zero scope is ErrScope.
func (s Scope) MarshalJSON() ([]byte, error) {
	if err := s.Valid(); err != nil {
		return nil, err
	}
	return json.Marshal([2]string{s.tenant, s.user})
}

// UnmarshalJSON reads what MarshalJSON wrote, by the rules of NewScope.
func (s *Scope) UnmarshalJSON(b []byte) error {
	var parts []string
	if err := json.Unmarshal(b, &parts); err != nil {
		return fmt.Errorf("%w: %w", ErrScope, err)
	}
	if len(parts) != 2 {
		return fmt.Errorf("%w: %d parts", ErrScope, len(parts))
	}
	made, err := NewScope(parts[0], parts[1])
	if err != nil {
		return err
	}
	*s = made
	return nil
}
