package audit

import (
	"cmp"
	"fmt"
	"time"
)

// Options of a log. The zero value is ready for production.
type Options struct {
	OpTimeout time.Duration // of a call whose context has no deadline; default 10 s. Verify, Trim, Forget and Compact have sixty times as long
}

func (o Options) withDefaults() Options {
	o.OpTimeout = cmp.Or(o.OpTimeout, 10*time.Second)
	return o
}

func (o Options) validate() error {
	if o.OpTimeout < 0 {
		return fmt.Errorf("%w: OpTimeout is negative", ErrOptions)
	}
	return nil
}
