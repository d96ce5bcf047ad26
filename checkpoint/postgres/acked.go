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

// acked is what was appended last under each lease of this process. A server that has lost its tail may still have the lease and the
// ends of other chains: their positions alone would let the holder write behind the gap. What came with an acquisition is not here,
// for it is lost only together with the lease.
type acked struct {
	mu sync.Mutex
	m  map[checkpoint.Lease]place
}

// note takes the acknowledgement of an append, of which the last record speaks for all. A holder has one under way at a time.
func (k *acked) note(a *checkpoint.Append) {
	l, r := checkpoint.Lease{Key: a.Key, Nonce: a.Nonce}, &a.Records[len(a.Records)-1]
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
