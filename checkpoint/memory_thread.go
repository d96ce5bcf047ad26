package checkpoint

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// A memThread is everything of one thread.
type memThread struct {
	mu        sync.Mutex
	head      Head
	released  Nonce // the acquisition that was released last, so that a repeated release is told from a stale one
	chains    map[chainID]*memChain
	questions map[string]*memQuestion
	runs      map[string]*Run
	requests  map[string]string // request id -> run id
	inbox     []Command
	branches  []Branch
}

type chainID struct {
	branch int32
	ns     Namespace
}

// A memChain is never empty.
type memChain struct{ records []Record }

type memQuestion struct{ Question }

// A write is an append whose bodies are the store's own copies.
type write struct {
	records   []Record
	questions []Question
	closed    []string
	branch    *Branch
	activate  *int32
}

func newThread(key Key, owner string, now time.Time) *memThread {
	return &memThread{
		head:      Head{Key: key, Owner: owner, Branches: 1, Created: now, Updated: now},
		chains:    map[chainID]*memChain{},
		questions: map[string]*memQuestion{},
		runs:      map[string]*Run{},
		requests:  map[string]string{},
	}
}

// writeOf copies what is kept, before any lock is taken.
func writeOf(a *Append) *write {
	w := &write{records: slices.Clone(a.Records), closed: a.Closed, branch: a.Branch, activate: a.Activate}
	for i := range w.records {
		w.records[i].Body = bytes.Clone(w.records[i].Body)
	}
	if a.Park == nil {
		return w
	}
	for _, q := range a.Park.Questions {
		q.Key, q.State, q.Expired, q.Deadline = a.Key, Open, false, q.Deadline.Truncate(time.Millisecond)
		q.Answer, q.AnsweredBy, q.AnsweredAt = nil, "", time.Time{}
		q.Shown, q.Body = bytes.Clone(q.Shown), bytes.Clone(q.Body)
		w.questions = append(w.questions, q)
	}
	return w
}

// append is Memory.Append under the lock.
func (t *memThread) append(a *Append, w *write, now time.Time) (Ack, error) {
	mine := t.head.Nonce == a.Nonce
	if t.written(w.records) {
		return Ack{Inbox: t.head.Inbox, Released: a.Park != nil && !mine}, nil
	}
	if !mine || !t.fits(w) {
		return Ack{}, ErrStale
	}
	t.apply(w, now)
	t.inbox = slices.DeleteFunc(t.inbox, func(c Command) bool { return c.N <= a.Taken })
	ack := Ack{Inbox: t.head.Inbox}
	if a.Park != nil {
		t.park(a.Park, w.questions, now)
		ack.Released = t.release(a.Seen)
	}
	return ack, nil
}

// written reports whether the records are there already, by the writer and order of each. Those before the last of its chain
// may have been trimmed since: then the last one speaks for them.
func (t *memThread) written(records []Record) bool {
	last := make(map[chainID]int64, 1)
	for i := range records {
		last[chainID{records[i].Branch, records[i].Namespace}] = records[i].Pos
	}
	for i := range records {
		r := &records[i]
		id := chainID{r.Branch, r.Namespace}
		c := t.chains[id]
		if c == nil {
			return false
		}
		if r.Pos < last[id] && r.Pos < c.records[0].Pos {
			continue
		}
		old := c.at(r.Pos)
		if old == nil || old.By != r.By || old.Ord != r.Ord {
			return false
		}
	}
	return len(records) > 0
}

// fits reports whether each record comes right after the tail of its chain, and the branches are as expected.
func (t *memThread) fits(w *write) bool {
	next := make(map[chainID]int64, 1)
	for i := range w.records {
		id := chainID{w.records[i].Branch, w.records[i].Namespace}
		want, ok := next[id]
		if c := t.chains[id]; !ok && c != nil {
			want = c.records[len(c.records)-1].Pos + 1
		}
		if w.records[i].Pos != want {
			return false
		}
		next[id] = want + 1
	}
	branches := t.head.Branches
	if w.branch != nil {
		if w.branch.N != branches || slices.ContainsFunc(t.branches, func(b Branch) bool { return b.Name == w.branch.Name }) {
			return false
		}
		branches++
	}
	for i := range w.records {
		if w.records[i].Branch >= branches {
			return false
		}
	}
	return w.activate == nil || *w.activate >= 0 && *w.activate < branches
}

// apply stores what fits.
func (t *memThread) apply(w *write, now time.Time) {
	for _, r := range w.records {
		r.At = now
		id := chainID{r.Branch, r.Namespace}
		c := t.chains[id]
		if c == nil {
			c = &memChain{}
			t.chains[id] = c
		}
		c.records = append(c.records, r)
		if r.Kind == KindEntry {
			t.head.Takeovers = 0
		}
	}
	for _, id := range w.closed {
		if q := t.questions[id]; q != nil {
			q.State = Closed
		}
	}
	if w.branch != nil {
		t.branches = append(t.branches, *w.branch)
		t.head.Branches++
	}
	if w.activate != nil {
		t.head.Active = *w.activate
	}
}

func (t *memThread) park(p *Park, questions []Question, now time.Time) {
	t.setStatus(p.Status, p.Error, now)
	for _, q := range questions {
		q.Asked = now
		t.questions[q.ID] = &memQuestion{q}
	}
}

func (t *memThread) setStatus(s Status, why string, now time.Time) {
	t.head.Status, t.head.Updated = s, now
	r := t.runs[t.head.Run]
	if r == nil {
		return
	}
	r.Status, r.Error, r.Ended = s, why, time.Time{}
	if s.Ended() {
		r.Ended = now
	}
}

// release gives the lease back if its holder has seen everything.
func (t *memThread) release(seen int64) bool {
	if t.head.Inbox != seen {
		return false
	}
	t.released, t.head.Nonce = t.head.Nonce, Nonce{}
	t.head.LeaseUntil, t.head.Holder = time.Time{}, Holder{}
	return true
}

// acquire is Memory.Acquire under the lock.
func (t *memThread) acquire(a *Acquire, w *write, now time.Time) (Head, error) {
	h := &t.head
	if h.Nonce == a.Nonce {
		return t.header(now), nil
	}
	if r := t.sameRun(a.Run); r != nil && !a.Again {
		return Head{}, &DuplicateError{Run: runCopy(r)}
	}
	ok := false
	switch a.Mode {
	case Free:
		ok = !h.Held() && h.Epoch == a.Epoch
	case Expired:
		ok = h.Held() && !now.Before(h.LeaseUntil)
	case Steal:
		ok = h.Held() && h.Nonce == a.Seen
	}
	if !ok {
		return Head{}, ErrHeld
	}
	if !t.fits(w) || a.Again && t.runs[a.Run.ID] == nil {
		return Head{}, ErrStale
	}
	h.Nonce, h.LeaseUntil, h.Holder = a.Nonce, now.Add(a.TTL), a.Holder
	h.Epoch++
	h.Takeovers++
	if a.Mode == Free {
		h.Takeovers = 0
	}
	t.start(a, now)
	t.apply(w, now)
	return t.header(now), nil
}

// sameRun is the run that the same start made before, or nil.
func (t *memThread) sameRun(r *Run) *Run {
	if r == nil {
		return nil
	}
	if old := t.runs[r.ID]; old != nil {
		return old
	}
	if r.Request == "" {
		return nil
	}
	return t.runs[t.requests[r.Request]]
}

// start puts a new run in place, or resumes the latest.
func (t *memThread) start(a *Acquire, now time.Time) {
	if a.Run == nil {
		if a.Resume {
			t.setStatus(Running, "", now)
		}
		return
	}
	r := runCopy(a.Run)
	t.head.Run, t.head.Status, t.head.Graph, t.head.Meta, t.head.Updated = r.ID, r.First(), r.Graph, r.Meta, now
	if a.Again {
		return
	}
	r.Key, r.Status, r.Error, r.Started, r.Ended = t.head.Key, r.First(), "", now, time.Time{}
	if r.Status.Ended() {
		r.Ended = now
	}
	t.runs[r.ID] = &r
	if r.Request != "" {
		t.requests[r.Request] = r.ID
	}
}

// answer is Memory.Answer under the lock.
func (t *memThread) answer(replies []Reply, now time.Time) (int64, error) {
	for i := range replies {
		same := func(r Reply) bool { return r.Question == replies[i].Question }
		if slices.ContainsFunc(replies[:i], same) {
			return 0, &NotPendingError{Question: replies[i].Question}
		}
		if err := t.accepts(&replies[i], now); err != nil {
			return 0, err
		}
	}
	for i := range replies {
		q := t.questions[replies[i].Question]
		q.State, q.Answer, q.AnsweredBy, q.AnsweredAt = Answered, bytes.Clone(replies[i].Value), replies[i].By, now
	}
	t.head.Inbox++
	return t.head.Inbox, nil
}

func (t *memThread) accepts(r *Reply, now time.Time) error {
	q := t.questions[r.Question]
	if q == nil {
		return &NotPendingError{Question: r.Question, State: Closed}
	}
	return q.Accepts(r, t.head.Active, now)
}

func (t *memThread) post(c Command, now time.Time) int64 {
	if c.Request != "" {
		if i := slices.IndexFunc(t.inbox, func(o Command) bool { return o.Request == c.Request }); i >= 0 {
			return t.inbox[i].N
		}
	}
	t.head.Inbox++
	c.N, c.At = t.head.Inbox, now
	t.inbox = append(t.inbox, c)
	return c.N
}

func (t *memThread) trim(id chainID, below int64) int64 {
	c := t.chains[id]
	if c == nil {
		return 0
	}
	n := c.index(below)
	if n == len(c.records) {
		delete(t.chains, id)
		return int64(n)
	}
	c.records = slices.Clone(c.records[n:]) // the old array would keep the bodies alive
	return int64(n)
}

// header is a copy that the caller may keep.
func (t *memThread) header(now time.Time) Head {
	h := t.head
	h.Meta = maps.Clone(h.Meta)
	h.Expired = h.Held() && !now.Before(h.LeaseUntil)
	return h
}

func (t *memThread) resolve(branch int32) int32 {
	if branch == Active {
		return t.head.Active
	}
	return branch
}

func (c *memChain) at(pos int64) *Record {
	i := pos - c.records[0].Pos
	if i < 0 || i >= int64(len(c.records)) {
		return nil
	}
	return &c.records[i]
}

// index is the place of the first record at pos or after it.
func (c *memChain) index(pos int64) int {
	return int(min(max(pos-c.records[0].Pos, 0), int64(len(c.records))))
}

func (c *memChain) read(q *Query) []Record {
	to := len(c.records)
	if q.To >= 0 {
		to = c.index(q.To + 1)
	}
	rs := c.records[min(c.index(q.From), to):to]
	if q.MaxOrd > 0 {
		n, _ := slices.BinarySearchFunc(rs, q.MaxOrd+1, func(r Record, ord int64) int { return cmp.Compare(r.Ord, ord) })
		rs = rs[:n] // order numbers ascend along a chain
	}
	switch {
	case q.Limit <= 0 || q.Limit >= len(rs):
	case q.Newest:
		rs = rs[len(rs)-q.Limit:]
	default:
		rs = rs[:q.Limit]
	}
	rs = slices.Clone(rs)
	for i := range rs {
		if q.NoBody {
			rs[i].Body = nil
		}
	}
	return rs
}

func (q *memQuestion) seen(now time.Time) Question {
	c := q.Question
	c.Expired = c.State == Open && c.late(now)
	return c
}

func runCopy(r *Run) Run {
	c := *r
	c.Meta = maps.Clone(r.Meta)
	return c
}

func compareKeys(a, b Key) int {
	return cmp.Or(strings.Compare(a.Tenant, b.Tenant), strings.Compare(a.Thread, b.Thread))
}

func compareQuestions(a, b Question) int {
	return cmp.Or(a.Asked.Compare(b.Asked), compareKeys(a.Key, b.Key), strings.Compare(a.ID, b.ID))
}
