package sqlitedb

import "context"

// Compact implements sqldb.DB. Zeros over what is deleted do not reach the copies that a page keeps in its gaps when its rows were moved
// to another; only VACUUM, which writes the file anew, leaves them behind. It needs as much space again, in the log and beside it. Who reads
// an older state, in whatever process, keeps that in the log, and is waited for; where the context ends first that is an error.
func (d *DB) Compact(ctx context.Context) error {
	err := d.patiently(ctx, func() error {
		_, err := d.writer.ExecContext(ctx, `vacuum`)
		return d.failure(err)
	})
	if err != nil {
		return err
	}
	err = d.patiently(ctx, func() error { return d.fold(ctx) })
	d.unfolded.Store(err != nil)
	return err
}

// Erased implements sqldb.DB: nobody else waits for the file.
func (d *DB) Erased(ctx context.Context) error { return d.Compact(ctx) }
