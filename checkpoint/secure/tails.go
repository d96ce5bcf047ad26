package secure

import (
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
)

// tails remembers the last record of chains, so that an append need not read it. What it says holds for one epoch of a
// thread: whoever takes a thread over may have written since. It forgets at any time, which costs one read.
type tails struct {
	mu      sync.Mutex
	threads map[checkpoint.Key]*threadTails
}

type threadTails struct {
	epoch   int64
	created time.Time // tells a thread from one that was deleted and made again; zero: not known
	chains  map[chainID]tail
}

type chainID struct {
	branch int32
	ns     checkpoint.Namespace
}

// A tail is the last record of a chain and what its successor has to say of it.
type tail struct {
	pos int64
	link
}

// maxChains is how many chains of a thread are remembered.
const maxChains = 64

// at returns the link to the record at pos, if it is known for that epoch.
func (t *tails) at(key checkpoint.Key, epoch int64, id chainID, pos int64) (link, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	th := t.threads[key]
	if th == nil || th.epoch != epoch {
		return link{}, false
	}
	last, ok := th.chains[id]
	return last.link, ok && last.pos == pos
}

// thread returns what is known of a thread in that epoch, which may be nothing yet.
func (t *tails) thread(key checkpoint.Key, epoch int64, created time.Time) *threadTails {
	th := t.threads[key]
	if th == nil {
		evict(t.threads, maxThreads)
	}
	if th == nil || th.epoch != epoch || !th.created.IsZero() && !created.IsZero() && !th.created.Equal(created) {
		th = &threadTails{epoch: epoch, chains: map[chainID]tail{}}
		t.threads[key] = th
	}
	if !created.IsZero() {
		th.created = created
	}
	return th
}

func (th *threadTails) put(id chainID, last tail) {
	if _, ok := th.chains[id]; !ok {
		evict(th.chains, maxChains)
	}
	th.chains[id] = last
}

// loaded notes what a load has shown. A load may be older than an append that has been acknowledged since.
func (t *tails) loaded(h *checkpoint.Head, id chainID, last tail) {
	t.mu.Lock()
	defer t.mu.Unlock()
	th := t.thread(h.Key, h.Epoch, h.Created)
	if old, ok := th.chains[id]; !ok || old.pos <= last.pos {
		th.put(id, last)
	}
}

// wrote notes what the store has taken.
func (t *tails) wrote(key checkpoint.Key, epoch int64, last map[chainID]tail) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if th := t.threads[key]; th != nil && th.epoch != epoch {
		return // a repeat of an older write
	}
	th := t.thread(key, epoch, time.Time{})
	for id, l := range last {
		th.put(id, l)
	}
}

// acquired notes a new epoch. What was known before still holds if the thread was free since: nobody else has written.
func (t *tails) acquired(a *checkpoint.Acquire, h *checkpoint.Head) {
	t.mu.Lock()
	defer t.mu.Unlock()
	th := t.threads[h.Key]
	if th != nil && a.Mode == checkpoint.Free && th.epoch == a.Epoch && (th.created.IsZero() || th.created.Equal(h.Created)) {
		th.epoch = h.Epoch
		return
	}
	t.thread(h.Key, h.Epoch, h.Created)
}

func (t *tails) deleted(key checkpoint.Key) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.threads, key)
}
