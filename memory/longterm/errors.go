package longterm

import "errors"

// Errors of calls.
var (
	// ErrDraft is returned for a draft that misses what it needs. Nothing of the call is stored.
	ErrDraft = errors.New("longterm: a draft needs a text, a kind, an origin and the conversation and message that said it")

	// ErrRefused is returned for an edit or a document that holds nothing but a credential, or an instruction to the model.
	ErrRefused = errors.New("longterm: nothing but a credential, or an instruction to the model: it is not kept")

	// ErrExchange is returned by Remember for an exchange that cannot be named.
	ErrExchange = errors.New("longterm: an exchange needs a conversation and a message of the user, with an id")

	// ErrQuery is returned for a query or page that asks for a kind there is not, or begins behind what is no id.
	ErrQuery = errors.New("longterm: unknown kind, or an id that is none")

	// ErrDenied is returned for a write into a namespace or under a label that is not the agent's.
	ErrDenied = errors.New("longterm: the agent has no such namespace, or its clearance is below the label")

	// ErrNotFound is returned for an item or a job that is not there, belongs to somebody else, or may not be seen: they look
	// the same.
	ErrNotFound = errors.New("longterm: no such item")

	// ErrEnded is returned by Update, Confirm and RollBack for an item that ended in another way: look at its History.
	ErrEnded = errors.New("longterm: the item no longer holds")

	// ErrTooLarge is returned for what is over a limit.
	ErrTooLarge = errors.New("longterm: over a limit")

	// ErrOptions is returned when a store is opened with options that make no sense.
	ErrOptions = errors.New("longterm: bad options")

	// ErrNoExtractor is returned by Remember, Work and Drain of a store without Options.Rules and Options.Extractor; the latter
	// two can do without where there is an Options.Embedder.
	ErrNoExtractor = errors.New("longterm: nothing extracts: set Options.Rules to extract.Rules(), or Options.Extractor")

	// ErrClosed is returned by a store that was closed.
	ErrClosed = errors.New("longterm: store closed")

	// ErrUnavailable is returned when a store could not be reached or did not answer in time. Whether a write happened is
	// unknown; repeating it unchanged is safe.
	ErrUnavailable = errors.New("longterm: store unavailable")

	// ErrCorrupt is returned when a store holds what this package did not write.
	ErrCorrupt = errors.New("longterm: stored data cannot be read")

	// ErrNewerFormat is returned by an open for a store of a newer release, which is left as it is.
	ErrNewerFormat = errors.New("longterm: the store was written by a newer release")
)
