package crash

import (
	"fmt"
	"maps"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/internal/crashpoint"
	"github.com/holdfast-go/holdfast/internal/faultstore"
	"github.com/holdfast-go/holdfast/internal/record"
)

// The exit codes of a victim that lives.
const (
	ExitDone    = 0
	ExitFailed  = 1
	ExitWaiting = 3 // a question is open
	ExitStale   = 4 // somebody else has the thread
)

// A Report is what a victim that lives prints.
type Report struct {
	Outcome *Outcome       `json:"outcome,omitzero"`
	Calls   int            `json:"calls"`  // of the store
	Points  map[string]int `json:"points"` // how often each marked point was passed
}

// A Fate is the end of a victim: at a store call or at a marked point. It counts both, also when nothing is to happen.
type Fate struct {
	what string // "", "call", "point", "stop" or "cancel"
	nth  int
	at   string // of a call: "before" or "after"; else the name of the point

	Cancel func() // ends the victim's context, where that is its fate

	mu     sync.Mutex
	calls  int
	points map[string]int
}

// ParseFate reads "call 3 before", "point 2 written E", "stop 1 effect", "cancel 1 folded", or "" for a long life.
func ParseFate(s string) (*Fate, error) {
	f := &Fate{points: map[string]int{}}
	if s == "" {
		return f, nil
	}
	words := strings.SplitN(s, " ", 3)
	if len(words) != 3 {
		return nil, fmt.Errorf("fate %q has not three parts", s)
	}
	n, err := strconv.Atoi(words[1])
	f.what, f.nth, f.at = words[0], n, words[2]
	return f, err
}

// Watch sets the traps.
func (f *Fate) Watch(s *faultstore.Store, l *Ledger) {
	s.Before = func(c *faultstore.Call) error {
		f.mu.Lock()
		f.calls = max(f.calls, c.N)
		f.mu.Unlock()
		if f.what == "call" && f.at == "before" && c.N == f.nth {
			die()
		}
		return nil
	}
	s.After = func(c *faultstore.Call) error {
		Witness(c, l)
		if f.what == "call" && f.at == "after" && c.N == f.nth {
			die()
		}
		return c.Err
	}
	crashpoint.Set(f.pass)
}

// Pretend has the store be told that another machine holds what this process holds.
func Pretend(s *faultstore.Store, host string) {
	before := s.Before
	s.Before = func(c *faultstore.Call) error {
		if c.Acquire != nil {
			c.Acquire.Holder.Host = host
		}
		return before(c)
	}
}

// pass counts a marked point, and ends the victim there if it is the one.
func (f *Fate) pass(name string) {
	f.mu.Lock()
	f.points[name]++
	hit := f.at == name && f.points[name] == f.nth
	f.mu.Unlock()
	switch {
	case hit && f.what == "point":
		die()
	case hit && f.what == "stop":
		stop()
	case hit && f.what == "cancel":
		f.Cancel()
	}
}

// Witness notes in the ledger what the store has taken for good with a call.
func Witness(c *faultstore.Call, l *Ledger) {
	if c.Err != nil || c.Append == nil {
		return
	}
	for _, r := range c.Append.Records {
		switch r.Kind {
		case checkpoint.KindResult:
			if b := body[record.Result](r); b.Fail == "" {
				l.Note("acked", b.ID)
			}
		case checkpoint.KindEntry:
			for _, t := range body[record.Entry](r).Tasks {
				l.Note("acked", t.ID)
			}
		case checkpoint.KindOnce:
			if b := body[record.Once](r); b.Result != nil {
				l.Note("recorded", b.Task+"/"+b.Name)
			}
		}
	}
}

func body[T any](r checkpoint.Record) (b T) {
	if err := record.Decode(r, &b); err != nil {
		panic(err)
	}
	return b
}

// Calls is how many calls of the store have come.
func (f *Fate) Calls() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls
}

// Points is how often each marked point was passed.
func (f *Fate) Points() map[string]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.points)
}

// die is kill -9: nothing is unwound, nothing is flushed.
func die() {
	if p, err := os.FindProcess(os.Getpid()); err == nil {
		p.Kill()
	}
	select {}
}
