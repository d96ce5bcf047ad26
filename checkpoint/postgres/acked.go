package postgres

import (
	"sync"

	"github.com/holdfast-go/holdfast/checkpoint"
)

// A place is where the last record of an acknowledged write stands.
type place struct {
	branch int32
	ns     checkpoint.Namespace
	pos    int64
}

// acked is what this process knows to be written under each lease of its own. A server that has lost its tail may still have the
// lease and the ends of other chains: their positions alone would let the holder write behind the gap.
type acked struct {
	mu sync.Mutex
	m  map[checkpoint.Lease]place
}

// note takes an acknowledgement. One append of a holder is under way at a time, so the last one is the youngest.
func (k *acked) note(l checkpoint.Lease, rs []checkpoint.Record) {
	if len(rs) == 0 {
		return
	}
	r := &rs[len(rs)-1]
	k.mu.Lock()
	defer k.mu.Unlock()
	k.m[l] = place{r.Branch, r.Namespace, r.Pos}
}

// last is nil if nothing is known.
func (k *acked) last(l checkpoint.Lease) *place {
	k.mu.Lock()
	defer k.mu.Unlock()
	if p, ok := k.m[l]; ok {
		return &p
	}
	return nil
}

// behind is the record that must still be there for an append to be written. It is nil where the positions of the append say so
// themselves: it goes on where the last one ended.
func (k *acked) behind(a *checkpoint.Append) *place {
	p := k.last(checkpoint.Lease{Key: a.Key, Nonce: a.Nonce})
	if p == nil {
		return nil
	}
	for i := range a.Records {
		if r := &a.Records[i]; r.Branch == p.branch && r.Namespace == p.ns && r.Pos == p.pos+1 {
			return nil
		}
	}
	return p
}

// forget is for a lease that is over.
func (k *acked) forget(l checkpoint.Lease) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.m, l)
}
