package redis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// Options of a store. The zero value is ready for production.
type Options struct {
	Prefix    string        // of all keys; default "hf". Stores with different prefixes share nothing
	TTL       time.Duration // how long a thread stays after it ended; 0: for ever. Nothing else ever expires
	OpTimeout time.Duration // how long a call may take whose context has no deadline; default 10 s

	// NoEviction states that the server's maxmemory-policy is noeviction. It counts only where the server does not let a
	// client look (CONFIG is not allowed on some managed servers).
	NoEviction bool
}

func (o Options) withDefaults() Options {
	o.Prefix = cmp.Or(o.Prefix, "hf")
	o.OpTimeout = cmp.Or(o.OpTimeout, 10*time.Second)
	return o
}

func (o Options) validate() error {
	switch {
	case strings.ContainsAny(o.Prefix, "{}"):
		return fmt.Errorf("%w: the prefix %q has a brace: braces say which node of a cluster has a key", ErrConfig, o.Prefix)
	case o.TTL < 0, o.OpTimeout < 0:
		return fmt.Errorf("%w: an option is negative", ErrConfig)
	case o.TTL > 0 && o.TTL < time.Millisecond:
		return fmt.Errorf("%w: a TTL under a millisecond", ErrConfig)
	}
	return nil
}

// A Store keeps threads on a Redis server. It is safe for concurrent use.
type Store struct {
	client   goredis.UniversalClient
	renewer  goredis.UniversalClient // its one connection carries nothing but renewals: they do not wait behind large writes
	o        Options
	server   server
	holds    holds
	pipeline pipeline

	life life
}

var _ checkpoint.Store = (*Store)(nil)

// A life counts the calls under way, for which Close waits. A call that comes while it waits is refused, not held up.
type life struct {
	mu     sync.Mutex
	closed bool
	calls  sync.WaitGroup
}

func (l *life) enter() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.calls.Add(1)
	}
	return !l.closed
}

// end waits for the calls under way. It reports whether it is the first to do so.
func (l *life) end() bool {
	l.mu.Lock()
	first := !l.closed
	l.closed = true
	l.mu.Unlock()
	l.calls.Wait()
	return first
}

// Open connects to the server of a URL such as redis://user:password@host:6379/0, or rediss:// for TLS. It returns ErrConfig for
// a server that evicts, and checkpoint.ErrUnavailable if there is none.
func Open(ctx context.Context, url string, o Options) (*Store, error) {
	opt, err := goredis.ParseURL(url)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	client := goredis.NewClient(opt)
	defer client.Close() // New connects with its options
	return New(ctx, client, o)
}

// New is Open for a cluster, for Sentinel, or for TLS of your own: the store makes clients of its own with the options of a
// *redis.Client or a *redis.ClusterClient. Their time-outs and retries are set so that a call ends with its context; their
// hooks are not taken over. Any other client is used as it is. The client stays the caller's to close.
func New(ctx context.Context, client goredis.UniversalClient, o Options) (*Store, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	s := &Store{client: derive(client, 0), renewer: derive(client, 1), o: o.withDefaults()}
	_, single := s.client.(*goredis.Client)
	s.pipeline.s, s.pipeline.apart = s, !single
	s.holds.m = map[checkpoint.Lease]hold{}
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	if err := s.examine(ctx); err != nil {
		return nil, errors.Join(err, s.closeClients())
	}
	return s, nil
}

// A borrowed client is the caller's: it is not closed.
type borrowed struct{ goredis.UniversalClient }

func (borrowed) Close() error { return nil }

// untilContext is longer than any deadline.
const untilContext = 24 * time.Hour

// derive makes a client with the same options; connections may be 0 for as many as the options say. The socket's time-outs
// are those of the calls, which all have a deadline: a fixed one would cut large bodies off.
func derive(client goredis.UniversalClient, connections int) goredis.UniversalClient {
	switch c := client.(type) {
	case *goredis.Client:
		opt := *c.Options()
		opt.ReadTimeout, opt.WriteTimeout, opt.PoolTimeout, opt.ContextTimeoutEnabled, opt.MaxRetries = -1, -1, untilContext, true, -1
		opt.Protocol, opt.DisableIdentity = 2, true
		opt.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
		if connections > 0 {
			opt.PoolSize, opt.MinIdleConns, opt.MaxIdleConns, opt.MaxActiveConns = connections, 0, 0, 0
		}
		return goredis.NewClient(&opt)
	case *goredis.ClusterClient:
		opt := *c.Options()
		opt.ReadTimeout, opt.WriteTimeout, opt.PoolTimeout, opt.ContextTimeoutEnabled, opt.MaxRetries = -1, -1, untilContext, true, -1
		opt.Protocol, opt.DisableIdentity = 2, true
		opt.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
		opt.ReadOnly, opt.RouteByLatency, opt.RouteRandomly = false, false, false // a replica may be behind
		if connections > 0 {
			opt.PoolSize, opt.MinIdleConns, opt.MaxIdleConns, opt.MaxActiveConns = connections, 0, 0, 0
		}
		return goredis.NewClusterClient(&opt)
	}
	return borrowed{client}
}

// Info names what the server gave when the store was opened. It knows nothing of replicas.
func (s *Store) Info() checkpoint.Info {
	return checkpoint.Info{Name: "redis", Durability: s.server.durability, LossWindow: s.server.window, Shared: true}
}

// Close waits for the calls under way and closes the connections. Calls that come meanwhile return ErrClosed.
func (s *Store) Close() error {
	if !s.life.end() {
		return nil
	}
	s.pipeline.ended.Wait()
	return s.closeClients()
}

func (s *Store) closeClients() error { return errors.Join(s.client.Close(), s.renewer.Close()) }

// bounded gives a context a deadline if it has none.
func (s *Store) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, s.o.OpTimeout)
}

// do runs f and returns with it or when the context ends, whichever is first. The client looks at a context only before it
// waits for the server, so f may go on for a while.
func do[T any](ctx context.Context, s *Store, f func(context.Context) (T, error)) (zero T, err error) {
	if !s.life.enter() {
		return zero, checkpoint.ErrClosed
	}
	if err := context.Cause(ctx); err != nil {
		s.life.calls.Done()
		return zero, late(err)
	}
	bounded, cancel := s.bounded(ctx)
	if ctx.Done() == nil { // only the deadline can end it, and the client keeps to that
		defer s.life.calls.Done()
		defer cancel()
		return f(bounded)
	}
	type outcome struct {
		v   T
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		defer s.life.calls.Done()
		defer cancel()
		v, err := f(bounded)
		done <- outcome{v, err}
	}()
	select {
	case o := <-done:
		return o.v, o.err
	case <-bounded.Done():
	}
	select {
	case o := <-done:
		return o.v, o.err
	default:
		return zero, late(context.Cause(bounded))
	}
}
