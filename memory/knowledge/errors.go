package knowledge

import "errors"

// Errors of calls.
var (
	// ErrTenant is returned for a tenant that is empty or no text.
	ErrTenant = errors.New("knowledge: a tenant is needed, from the authenticated program that feeds the index")

	// ErrDocument is returned for a document that misses what it needs. Nothing of the call is stored. What a person said has no id, version and
	// roles: it belongs into memory/longterm.
	ErrDocument = errors.New("knowledge: a document needs an id, a version, a text and the roles that may read it")

	// ErrConflict is returned for a version that is there with other content. Give what has changed a version of its own.
	ErrConflict = errors.New("knowledge: the version is there with other content")

	// ErrNotFound is returned for a document that is not there, not in force yet, or not the reader's to see: they look the same.
	ErrNotFound = errors.New("knowledge: no such document")

	// ErrRelation is returned for a relation without both nodes and a name, or of another document.
	ErrRelation = errors.New("knowledge: a relation needs two nodes, a name, and the document that says so")

	// ErrTooLarge is returned for what is over a limit.
	ErrTooLarge = errors.New("knowledge: over a limit")

	// ErrEmbedder is returned by Index and Embed where the embedder failed. Nothing of that call's documents is stored.
	ErrEmbedder = errors.New("knowledge: the embedder failed")

	// ErrOptions is returned when a store is opened with options that make no sense.
	ErrOptions = errors.New("knowledge: bad options")

	// ErrClosed is returned by a store that was closed.
	ErrClosed = errors.New("knowledge: store closed")

	// ErrUnavailable is returned when a store could not be reached or did not answer in time. Whether a write happened is
	// unknown; repeating it unchanged is safe.
	ErrUnavailable = errors.New("knowledge: store unavailable")

	// ErrCorrupt is returned when a store holds what this package did not write.
	ErrCorrupt = errors.New("knowledge: stored data cannot be read")

	// ErrNewerFormat is returned by an open for a store of a newer release, which is left as it is.
	ErrNewerFormat = errors.New("knowledge: the store was written by a newer release")
)
