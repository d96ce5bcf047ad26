package audit

import (
	"context"
	"fmt"
	"sync"

	"github.com/holdfast-go/holdfast/memory"
)

// groups gather accesses of each tenant while a transaction of it is under way. The zero value is ready.
type groups struct {
	mu      sync.Mutex
	next    map[string]*group // of a tenant, where a transaction is under way or about to be
	writers sync.WaitGroup
}

// A group is written in one transaction.
type group struct {
	accesses []memory.Access
	done     chan struct{}
	err      error // when it is done
}

// join adds an access to the next group of its tenant, and waits until it is written.
func (gs *groups) join(ctx context.Context, a memory.Access, write func(tenant string, as []memory.Access) error) error {
	g := gs.add(a, write)
	select {
	case <-g.done:
		return g.err
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", ErrUnavailable, context.Cause(ctx))
	}
}

func (gs *groups) add(a memory.Access, write func(string, []memory.Access) error) *group {
	gs.mu.Lock()
	defer gs.mu.Unlock()
	g, writing := gs.next[a.Tenant]
	if !writing {
		if gs.next == nil {
			gs.next = map[string]*group{}
		}
		gs.writers.Go(func() { gs.write(a.Tenant, write) })
	}
	if g == nil {
		g = &group{done: make(chan struct{})}
		gs.next[a.Tenant] = g
	}
	g.accesses = append(g.accesses, a)
	return g
}

// write works off the groups of a tenant until there is none.
func (gs *groups) write(tenant string, write func(string, []memory.Access) error) {
	for {
		gs.mu.Lock()
		g := gs.next[tenant]
		if g == nil {
			delete(gs.next, tenant)
			gs.mu.Unlock()
			return
		}
		gs.next[tenant] = nil // who comes now waits for the next one
		gs.mu.Unlock()
		g.err = write(tenant, g.accesses)
		close(g.done)
	}
}

// wait returns when nothing is being written. Nobody joins any more.
func (gs *groups) wait() { gs.writers.Wait() }
