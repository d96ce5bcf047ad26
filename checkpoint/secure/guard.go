package secure

import (
	"context"

	"github.com/holdfast-go/holdfast/checkpoint"
)

// A guard is what Encrypt and Sign differ in. It is safe for concurrent use.
type guard interface {
	// form is the first byte of records and of other rows as this guard writes them.
	forms() (record, other form)

	// seal makes what is stored of a row that is no record.
	seal(r *row, body []byte) []byte

	// open is the reverse. It does not write into stored, and the result may be a part of it.
	open(r *row, stored []byte) ([]byte, error)

	// sealRecords replaces the bodies of records, which are the guard's own copies. epoch is that of the thread for which
	// the records are made. wrote is called after the store has taken them.
	sealRecords(ctx context.Context, key checkpoint.Key, epoch int64, records []checkpoint.Record) (wrote func(), err error)

	// openRecords replaces the bodies of records that follow each other in one chain. Those before from are not sealed.
	openRecords(key checkpoint.Key, records []checkpoint.Record, from int) error

	// hide makes what is stored of the hash of what was shown, under the key of that id; the current one for "".
	hide(key checkpoint.Key, id string, shown []byte) []byte

	// loaded, acquired and deleted tell what happened to a thread.
	loaded(l *checkpoint.Loaded, tail *checkpoint.Record, stored []byte)
	acquired(a *checkpoint.Acquire, h *checkpoint.Head)
	deleted(key checkpoint.Key)
}
