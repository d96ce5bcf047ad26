package graph

import (
	"container/list"
	"sync"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/internal/record"
)

// warmBytes is how much stored state the warm threads of an App have at most, together.
const warmBytes = 16 << 20

// A warm keeps what threads have come to whose latest runs have completed here: the next run of such a thread loads the log and
// need not decode it, which would cost the size of the state. The log decides: a thread whose last record has the same place,
// order and writer is the same, since records are never changed and a writer's number is a run's own.
type warm struct {
	mu      sync.Mutex
	threads map[checkpoint.Key]*list.Element // of *kept
	latest  list.List                        // of them, the latest first
	bytes   int64
}

func newWarm() *warm { return &warm{threads: map[checkpoint.Key]*list.Element{}} }

// A kept is a thread behind its last record. It has one owner: whoever takes it changes it.
type kept struct {
	key    checkpoint.Key
	branch int32
	ord    int64 // of the last record
	by     int64
	log    *record.Thread
	head   any
}

// keep takes over the thread of a run that has ended.
func (w *warm) keep(r *run) {
	if r.journal == nil || r.status != checkpoint.Completed {
		return
	}
	pos, ord := r.journal.written()
	r.logMu.Lock()
	k := &kept{key: r.key, branch: r.chain.Branch, ord: ord, by: r.journal.nonce.Writer(), log: r.log.Take(), head: r.plan.ops.stored(r.head)}
	r.logMu.Unlock()
	if k.log.Pos != pos || k.size() > warmBytes {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.drop(k.key)
	w.threads[k.key] = w.latest.PushFront(k)
	for w.bytes += k.size(); w.bytes > warmBytes; {
		w.drop(w.latest.Back().Value.(*kept).key)
	}
}

func (k *kept) size() int64 { return k.log.State.Size() }

// take hands over what is kept of a thread, or nil if the store has gone on without it.
func (w *warm) take(key checkpoint.Key, l *checkpoint.Loaded) *kept {
	w.mu.Lock()
	k := w.drop(key)
	w.mu.Unlock()
	if k == nil || len(l.Records) == 0 || l.Branch != k.branch {
		return nil
	}
	if last := &l.Records[len(l.Records)-1]; last.Pos != k.log.Pos || last.Ord != k.ord || last.By != k.by {
		return nil
	}
	return k
}

// forget lets go of a thread: what is deleted is not kept.
func (w *warm) forget(key checkpoint.Key) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.drop(key)
}

// drop forgets a thread. The lock is held.
func (w *warm) drop(key checkpoint.Key) *kept {
	e, ok := w.threads[key]
	if !ok {
		return nil
	}
	delete(w.threads, key)
	k := w.latest.Remove(e).(*kept)
	w.bytes -= k.size()
	return k
}
