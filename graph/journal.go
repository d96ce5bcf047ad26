package graph

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/internal/crashpoint"
	"github.com/holdfast-go/holdfast/internal/record"
)

// A journal writes the records of one run, in order. One append is in flight at a time; what comes meanwhile forms the
// next one. An append whose outcome is unknown is repeated unchanged until it is known, and nothing else is appended
// before that.
type journal struct {
	store    checkpoint.Store
	chain    checkpoint.Chain
	nonce    checkpoint.Nonce
	patience time.Duration

	mu      sync.Mutex
	place            // of the last record
	good    place    // of the last record that is written
	queue   []*batch // to be written; the last one collects records
	now     *batch   // being written
	writing bool
	err     error // the first write that failed for good: nothing is written after it
	seen    int64 // the last inbox number that the run has looked at
	taken   int64
	inbox   int64 // the highest inbox number that a reply has carried
	parks   bool  // the last record ends or pauses the run
	writer  sync.WaitGroup
}

// A place is where a record stands: what the next one is counted from.
type place struct{ pos, ord, base int64 }

// A batch is one append.
type batch struct {
	records []checkpoint.Record
	closed  []string
	park    *checkpoint.Park
	branch  *checkpoint.Branch // a new one, which becomes the active one
	bytes   int
	work    context.Context // that its last record is a part of. It never ends
	done    chan struct{}
	ack     checkpoint.Ack
	err     error
}

// An item is one record to write.
type item struct {
	kind    checkpoint.Kind
	step    int64
	body    any
	encoded []byte             // instead of body
	track   *track             // of another chain than the root's
	branch  *checkpoint.Branch // of a chain, with a track, of this new branch
	work    context.Context    // that it is a part of, if there is a Tracer
}

const (
	asyncEntries = 64
	asyncBytes   = 8 << 20
)

// add puts records into the open batch and gives them their places. Whoever folds them calls it while nobody else adds.
func (j *journal) add(closed []string, park *checkpoint.Park, items ...item) ([]checkpoint.Record, *batch, error) {
	bodies := make([][]byte, len(items))
	for i, it := range items {
		if bodies[i] = it.encoded; it.encoded != nil {
			continue
		}
		b, err := record.Encode(it.body)
		if err != nil {
			return nil, nil, fmt.Errorf("record %c: %w", it.kind, err)
		}
		bodies[i] = b
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil {
		return nil, nil, j.err
	}
	if n := len(j.queue); n == 0 || j.queue[n-1].park != nil {
		j.queue = append(j.queue, &batch{done: make(chan struct{}), work: context.Background()})
	}
	b := j.queue[len(j.queue)-1]
	from := len(b.records)
	for i, it := range items {
		branch, ns, pos, base := j.chain.Branch, j.chain.Namespace, &j.pos, &j.base
		if tr := it.track; tr != nil {
			ns, pos, base = tr.ns, &tr.pos, &tr.base
		}
		if it.branch != nil {
			branch, b.branch = it.branch.N, it.branch
		}
		*pos++
		j.ord++
		if it.kind == checkpoint.KindSnapshot {
			*base = *pos
		}
		b.records = append(b.records, checkpoint.Record{
			Branch: branch, Namespace: ns, Pos: *pos, Ord: j.ord, By: j.nonce.Writer(),
			Base: *base, Step: it.step, Kind: it.kind, Body: bodies[i],
		})
		b.bytes += len(bodies[i])
		if it.work != nil {
			b.work = detached(it.work)
		}
	}
	b.closed = append(b.closed, closed...)
	if park != nil {
		b.park = park
	}
	j.parks = b.park != nil
	return b.records[from:len(b.records):len(b.records)], b, nil
}

// next is the position of the next record, if nobody else adds one.
func (j *journal) next(tr *track) int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	if tr != nil {
		return tr.pos + 1
	}
	return j.pos + 1
}

// flush writes the batch and all before it, and returns its outcome.
func (j *journal) flush(b *batch) (checkpoint.Ack, error) {
	j.lead()
	<-b.done
	return b.ack, b.err
}

// sync waits until what was added before is written.
func (j *journal) sync() error {
	j.mu.Lock()
	b, err := j.now, j.err
	if n := len(j.queue); n > 0 {
		b = j.queue[n-1]
	}
	j.mu.Unlock()
	if b != nil && err == nil {
		_, err = j.flush(b)
	}
	return err
}

// start sees to it that what was added gets written, without waiting.
func (j *journal) start() {
	j.mu.Lock()
	lead := !j.writing && len(j.queue) > 0
	if lead {
		j.writing = true
		j.writer.Add(1)
	}
	j.mu.Unlock()
	if lead {
		go func() {
			defer j.writer.Done()
			j.writeAll()
		}()
	}
}

// lead writes what is there, unless somebody does already; then whoever does goes on until nothing is left.
func (j *journal) lead() {
	j.mu.Lock()
	lead := !j.writing
	j.writing = true
	j.mu.Unlock()
	if lead {
		j.writeAll()
	}
}

func (j *journal) writeAll() {
	for {
		j.mu.Lock()
		if len(j.queue) == 0 {
			j.writing = false
			j.mu.Unlock()
			return
		}
		b := j.queue[0]
		j.queue, j.now = j.queue[1:], b
		err := j.err
		seen, taken := j.seen, j.taken
		j.mu.Unlock()
		if err == nil {
			b.ack, err = j.write(b, seen, taken)
		}
		b.err = err
		j.mu.Lock()
		if err != nil && j.err == nil {
			j.err = err
		}
		if err == nil {
			j.noteGood(b.records)
		}
		j.inbox = max(j.inbox, b.ack.Inbox)
		j.mu.Unlock()
		close(b.done)
	}
}

// noteGood notes what is written. The lock is held.
func (j *journal) noteGood(recs []checkpoint.Record) {
	for i := range recs {
		j.good.ord = recs[i].Ord
		if recs[i].Namespace == j.chain.Namespace {
			j.good.pos, j.good.base = recs[i].Pos, recs[i].Base
		}
	}
}

// written is where the last record stands that is written.
func (j *journal) written() (pos, ord int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.good.pos, j.good.ord
}

// write appends one batch and repeats it until its outcome is known.
func (j *journal) write(b *batch, seen, taken int64) (checkpoint.Ack, error) {
	a := &checkpoint.Append{Key: j.chain.Key, Nonce: j.nonce, Records: b.records, Closed: b.closed, Seen: seen, Taken: taken, Park: b.park}
	if b.branch != nil {
		a.Branch, a.Activate = b.branch, &b.branch.N
	}
	var ack checkpoint.Ack
	crashpoint.Write("write", b.records)
	err := persist(b.work, j.patience, b.bytes, func(ctx context.Context) (err error) {
		ack, err = j.store.Append(ctx, a)
		return err
	})
	crashpoint.Write("written", b.records)
	return ack, err
}

// persist repeats a call until its outcome is known, the store's time is up, or the caller gives up. The call must be safe to
// repeat; it moves about so many bytes. A try under way is not ended with the caller: a write is not left in the dark because
// somebody lost patience.
func persist(caller context.Context, patience time.Duration, bytes int, call func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(caller), patience)
	defer cancel()
	wait := 5 * time.Millisecond
	for {
		err := within(ctx, tryFor(patience, bytes), call)
		if err == nil || decided(err) {
			return err
		}
		if sleep(caller, realClock{}, wait) != nil {
			return fmt.Errorf("%w; the store had not taken a write: %w", context.Cause(caller), err)
		}
		if ctx.Err() != nil {
			return fmt.Errorf("graph: the store did not take a write for %s: %w", patience, err)
		}
		wait = min(2*wait, time.Second)
	}
}

// slowest is a rate in bytes a second that any link to a store has.
const slowest = 4 << 20

// tryFor is how long one try may take: one that hangs, on a connection that leads nowhere any more, leaves time for others.
func tryFor(patience time.Duration, bytes int) time.Duration {
	return max(patience/6, time.Second) + time.Duration(bytes)*time.Second/slowest
}

// within makes one try.
func within(ctx context.Context, limit time.Duration, call func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return call(ctx)
}

// decided reports whether a store's error says for certain that nothing was changed.
func decided(err error) bool {
	for _, known := range []error{
		checkpoint.ErrStale, checkpoint.ErrHeld, checkpoint.ErrClosed, checkpoint.ErrBadKey, checkpoint.ErrTooLarge, checkpoint.ErrCorrupt,
		checkpoint.ErrNewerFormat, checkpoint.ErrNotPending, checkpoint.ErrExpired, checkpoint.ErrChanged, checkpoint.ErrNotAllowed, checkpoint.ErrNoThread,
	} {
		if errors.Is(err, known) {
			return true
		}
	}
	_, dup := errors.AsType[*checkpoint.DuplicateError](err)
	return dup
}

// backlog is how much is not written yet, what is under way included.
func (j *journal) backlog() (entries, bytes int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.writing && j.now != nil {
		entries, bytes = len(j.now.records), j.now.bytes
	}
	for _, b := range j.queue {
		entries += len(b.records)
		bytes += b.bytes
	}
	return entries, bytes
}

// unseen reports whether a reply has told of commands or answers that the run has not looked at.
func (j *journal) unseen() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.inbox > j.seen
}

// looked notes what the run has looked at.
func (j *journal) looked(seen, taken int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.seen, j.taken = max(j.seen, seen), max(j.taken, taken)
	j.inbox = max(j.inbox, seen)
}

// news notes an inbox number that came by another way than a write.
func (j *journal) news(inbox int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.inbox = max(j.inbox, inbox)
}

func (j *journal) seenInbox() int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.seen
}

// parking reports whether the last write pauses or ends the run, so that the lease may be gone for a good reason.
func (j *journal) parking() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.parks
}

// unwritten is how many records were added and not written.
func (j *journal) unwritten() int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.ord - j.good.ord
}

// rewind forgets what was not written, so that something else can be. It is for a store that has refused for good, and for a
// driver that no task works beside.
func (j *journal) rewind() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.place, j.queue, j.err = j.good, nil, nil
}

// put says that the records so far were written by another way.
func (j *journal) put() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.queue, j.good = nil, j.place
}
