package secure

import (
	"crypto/hkdf"
	"crypto/sha256"
	"fmt"
)

// KeyBytes is the length of a key.
const KeyBytes = 32

// A Key is a secret with a name. The name is stored with each row, readable, and must never be given to another secret.
type Key struct {
	ID    string // 1 to 64 bytes
	Bytes []byte // KeyBytes random bytes; a password is none
}

// A Keyring holds the key for new rows and those that are needed to read old ones. Encrypt and Sign copy it.
type Keyring struct {
	Current Key
	Older   []Key

	// Adopt also accepts rows that are not sealed, for a store that was in use before: see the section on adopting in the
	// documentation of the package. It gives away much of the protection and should be turned off as soon as it can be.
	Adopt bool
}

// A secret is the pseudorandom key of one use of a Key, by HKDF (RFC 5869).
type secret []byte

// A ring is a validated Keyring for one use.
type ring struct {
	current string
	secrets map[string]secret
	adopt   bool
}

// newRing checks the keys and derives the secrets of one use from them, so that one Key may serve several uses.
func newRing(k Keyring, use string) (*ring, error) {
	r := &ring{current: k.Current.ID, secrets: make(map[string]secret, 1+len(k.Older)), adopt: k.Adopt}
	for i, key := range append([]Key{k.Current}, k.Older...) {
		switch _, twice := r.secrets[key.ID]; {
		case key.ID == "" || len(key.ID) > maxKeyID:
			return nil, fmt.Errorf("%w: key %d has an id of %d bytes; want 1 to %d", ErrKeyring, i, len(key.ID), maxKeyID)
		case len(key.Bytes) != KeyBytes:
			return nil, fmt.Errorf("%w: key %q has %d bytes; want %d", ErrKeyring, key.ID, len(key.Bytes), KeyBytes)
		case twice:
			return nil, fmt.Errorf("%w: key %q is there twice", ErrKeyring, key.ID)
		}
		prk, err := hkdf.Extract(sha256.New, key.Bytes, []byte("holdfast secure 1 "+use))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrKeyring, err)
		}
		r.secrets[key.ID] = prk
	}
	return r, nil
}

// named finds the secret of a row.
func (r *ring) named(at *row, id string) (secret, error) {
	s := r.secrets[id]
	if s == nil {
		return nil, &RowError{Key: at.key, Row: at.String(), KeyID: id, Why: ErrUnknownKey}
	}
	return s, nil
}
