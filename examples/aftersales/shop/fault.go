package shop

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/http"
	"sync"
	"time"
)

// A Fault is a trouble that the service makes on purpose.
type Fault struct {
	Endpoint string        `json:"endpoint"` // such as "refund"; "*" means every one but the ledger
	Kind     FaultKind     `json:"kind"`
	Times    int           `json:"times,omitzero"` // requests that it hits; 0 means one, a negative number all
	Wait     time.Duration `json:"wait,omitzero"`  // of [Slow], at most a minute, in nanoseconds
}

// A FaultKind says what goes wrong.
type FaultKind string

// The kinds of faults. Slow ones come before any other of the same request.
const (
	Slow      FaultKind = "slow"       // the work begins late
	Broken    FaultKind = "broken"     // 500, and no work
	CutBefore FaultKind = "cut_before" // the connection ends, and no work
	CutAfter  FaultKind = "cut_after"  // the work is done, then the connection ends without an answer
	Hold      FaultKind = "hold"       // the work is done, and the answer waits until it is released
)

var endpoints = map[string]bool{"orders": true, "latest": true, "order": true, "check": true, "refund": true, "refunds": true,
	"status": true, "buy": true, "*": true}

func (f Fault) valid() error {
	switch f.Kind {
	case Slow, Broken, CutBefore, CutAfter, Hold:
	default:
		return fmt.Errorf("there is no fault %q", f.Kind)
	}
	if !endpoints[f.Endpoint] {
		return fmt.Errorf("there is no endpoint %q", f.Endpoint)
	}
	if f.Wait < 0 || f.Wait > time.Minute || (f.Wait > 0) != (f.Kind == Slow) {
		return fmt.Errorf("a slow fault waits up to a minute, other faults do not wait: %v", f.Wait)
	}
	return nil
}

// faults are the troubles that are set, and the answers that are held. The zero value has none.
type faults struct {
	mu      sync.Mutex
	set     []Fault
	held    map[string]int
	changed chan struct{} // closed when held or released changes
	release chan struct{} // closed when what is held may go
}

func (fs *faults) init() {
	if fs.changed == nil {
		fs.changed, fs.release, fs.held = make(chan struct{}), make(chan struct{}), map[string]int{}
	}
}

func (fs *faults) add(f Fault) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if f.Times == 0 {
		f.Times = 1
	}
	fs.set = append(fs.set, f)
}

// clear forgets the faults that are set and lets go what is held.
func (fs *faults) clear() {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.init()
	fs.set = nil
	close(fs.release)
	fs.release = make(chan struct{})
}

// take uses up the faults of one request: the sum of the waits and the first other kind, which is "" if there is none.
func (fs *faults) take(endpoint string) (wait time.Duration, kind FaultKind) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for i := range fs.set {
		f := &fs.set[i]
		if f.Times == 0 || f.Endpoint != endpoint && f.Endpoint != "*" || f.Kind != Slow && kind != "" {
			continue
		}
		if f.Kind == Slow {
			wait += f.Wait
		} else {
			kind = f.Kind
		}
		if f.Times > 0 {
			f.Times--
		}
	}
	return wait, kind
}

// hold waits for the release or the end of ctx and reports whether it was released.
func (fs *faults) hold(ctx context.Context, endpoint string) bool {
	fs.mu.Lock()
	fs.init()
	release := fs.release
	fs.count(endpoint, 1)
	fs.mu.Unlock()
	defer func() {
		fs.mu.Lock()
		defer fs.mu.Unlock()
		fs.count(endpoint, -1)
	}()
	select {
	case <-release:
		return true
	case <-ctx.Done():
		return false
	}
}

func (fs *faults) count(endpoint string, by int) {
	fs.held[endpoint] += by
	close(fs.changed)
	fs.changed = make(chan struct{})
}

// wait returns when an answer of the endpoint is held.
func (fs *faults) wait(ctx context.Context, endpoint string) error {
	for {
		fs.mu.Lock()
		fs.init()
		n, changed := fs.held[endpoint], fs.changed
		fs.mu.Unlock()
		if n > 0 {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// troubled puts the faults of an endpoint around its handler.
func (s *Shop) troubled(endpoint string, h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		wait, kind := s.faults.take(endpoint)
		if !pause(r.Context(), wait) {
			panic(http.ErrAbortHandler)
		}
		switch kind {
		case Broken:
			writeError(w, fail(http.StatusInternalServerError, CodeUnavailable, "broken on purpose"))
		case CutBefore:
			panic(http.ErrAbortHandler) // ends the connection without an answer
		case CutAfter:
			h(newAnswer(), r)
			panic(http.ErrAbortHandler)
		case Hold:
			a := newAnswer()
			h(a, r)
			if !s.faults.hold(r.Context(), endpoint) {
				panic(http.ErrAbortHandler)
			}
			a.send(w)
		default:
			h(w, r)
		}
	}
}

// pause waits for d and reports whether ctx lived that long.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// answer is a response that is kept instead of being sent.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func newAnswer() *answer { return &answer{header: http.Header{}, status: http.StatusOK} }

func (a *answer) Header() http.Header         { return a.header }
func (a *answer) WriteHeader(status int)      { a.status = status }
func (a *answer) Write(b []byte) (int, error) { return a.body.Write(b) }

func (a *answer) send(w http.ResponseWriter) {
	maps.Copy(w.Header(), a.header)
	w.WriteHeader(a.status)
	w.Write(a.body.Bytes()) // a client that has gone does not matter
}
