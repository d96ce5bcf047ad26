package checkpoint

import "context"

// A Compacter keeps files in which there is for a while what was deleted, though no call returns it. A [Store] may be one; those on SQLite,
// Postgres and Redis are, with or without package secure before them.
type Compacter interface {
	// Compact writes the files anew, without what was deleted, and returns when that is done. It costs as much as copying the
	// store, and as much space meanwhile. On SQLite writers wait for it; on Postgres all calls do, and only the owner of the tables may;
	// on Redis nobody waits. Where the
	// context has no deadline it gives up after sixty times the OpTimeout of the store.
	Compact(ctx context.Context) error
}
