package redis

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/holdfast-go/holdfast/checkpoint"
	goredis "github.com/redis/go-redis/v9"
)

var (
	// ErrConfig is returned by Open and New for a server or options that would lose threads, and by Acquire and Post for a
	// thread that expires because the server does not let the client stop it. It says what to change.
	ErrConfig = errors.New("redis: the configuration does not fit")

	// ErrFull is returned when the server has reached maxmemory. Nothing of the write was stored. It also wraps
	// checkpoint.ErrUnavailable: once there is room the same call succeeds.
	ErrFull = errors.New("redis: the server has reached maxmemory")

	// errExpiring is returned for a thread that ended and whose time the server does not take off. Nothing was stored.
	errExpiring = fmt.Errorf("%w: the thread expires and the server refuses PERSIST, nothing was stored: allow PERSIST and PTTL", ErrConfig)

	// errLate is returned when a write reached the server long after it was announced. Nothing of it was stored.
	errLate = fmt.Errorf("%w: the write reached the server too late, nothing was stored", checkpoint.ErrUnavailable)
)

// away are the beginnings of replies that say that the server cannot serve now.
var away = [...]string{
	"LOADING", "BUSY", "READONLY", "CLUSTERDOWN", "MASTERDOWN", "TRYAGAIN", "MISCONF", "NOREPLICAS", "MOVED", "ASK", "UNBLOCKED",
	"ERR max number of clients", "NOMASTERLINK", "FAILOVER",
}

// failure gives an error of the client its meaning. Whatever is no reply of the server is trouble on the way to it.
func failure(err error) error {
	var reply goredis.Error
	switch {
	case err == nil, errors.Is(err, checkpoint.ErrUnavailable), errors.Is(err, checkpoint.ErrCorrupt), errors.Is(err, checkpoint.ErrStale):
		return err
	case !errors.As(err, &reply) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w: redis: %w", checkpoint.ErrUnavailable, err)
	case goredis.IsOOMError(err) || strings.Contains(err.Error(), "OOM command not allowed"):
		return fmt.Errorf("%w (%w): %w", ErrFull, checkpoint.ErrUnavailable, err)
	}
	for _, prefix := range away {
		if goredis.HasErrorPrefix(err, prefix) {
			return fmt.Errorf("%w: redis: %w", checkpoint.ErrUnavailable, err)
		}
	}
	return fmt.Errorf("redis: %w", err)
}

// late is the error of a call whose time ran out.
func late(why error) error { return fmt.Errorf("%w: %w", checkpoint.ErrUnavailable, why) }
