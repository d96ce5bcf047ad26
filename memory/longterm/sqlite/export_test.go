package sqlite

import "github.com/holdfast-go/holdfast/memory/longterm"

// OpenBackend is Open without the store.
func OpenBackend(path string, o Options) (longterm.Backend, error) { return open(path, o) }
