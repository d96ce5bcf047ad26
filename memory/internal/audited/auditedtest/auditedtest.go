// Package auditedtest checks that a box notes all that it does.
package auditedtest

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/holdfast-go/holdfast/memory"
)

// A Recorder keeps accesses, and refuses the n-th from now on where Refuse says so.
type Recorder struct {
	mu     sync.Mutex
	all    []memory.Access
	refuse int
}

// ErrFull is what a Recorder refuses with.
var ErrFull = errors.New("the disk of the audit is full")

// Record implements memory.Auditor.
func (r *Recorder) Record(_ context.Context, a memory.Access) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refuse > 0 {
		if r.refuse--; r.refuse == 0 {
			return ErrFull
		}
	}
	r.all = append(r.all, a)
	return nil
}

// Refuse makes the n-th record from now on fail; 0: none.
func (r *Recorder) Refuse(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refuse = n
}

// Take returns what was noted since the last Take.
func (r *Recorder) Take() []memory.Access {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.all
	r.all = nil
	return all
}

// Every calls each exported method of a store with values by their types, or as calls says, and fails unless it is noted in its own name: a read
// once, a write twice; and unless an auditor that refuses makes it return nothing but memory.ErrAudit. except has the methods that touch nothing,
// with the reason; one that is not there is a fault too.
func Every(t *testing.T, r *Recorder, store any, values []any, calls map[string]func() error, except map[string]string) {
	v := reflect.ValueOf(store)
	for name := range except {
		if !v.MethodByName(name).IsValid() {
			t.Errorf("%s is excepted and not there", name)
		}
	}
	for i := range v.NumMethod() {
		name := v.Type().Method(i).Name
		if except[name] != "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			call := calls[name]
			if call == nil {
				call = func() error { return apply(t, v.Method(i), values) }
			}
			noted(t, r, name, call)
			refused(t, r, name, call)
		})
	}
}

func noted(t *testing.T, r *Recorder, name string, call func() error) {
	r.Take()
	err := call()
	got := slices.DeleteFunc(r.Take(), func(a memory.Access) bool { return a.Verb != name })
	if len(got) == 0 {
		t.Fatalf("nothing was noted (%v)", err)
	}
	last := got[len(got)-1]
	if last.Tenant == "" || last.Box == "" || (last.Result == memory.AccessOK) != (err == nil) || last.Result == "error" {
		t.Errorf("%+v for %v", last, err)
	}
	want := 1
	if last.Write {
		want = 2
	}
	if len(got) != want || last.Write && got[0].Result != memory.AccessBegun {
		t.Errorf("%d accesses were noted, want %d: %+v", len(got), want, got)
	}
}

func refused(t *testing.T, r *Recorder, name string, call func() error) {
	r.Refuse(1)
	defer r.Refuse(0)
	if err := call(); !errors.Is(err, memory.ErrAudit) || !errors.Is(err, ErrFull) {
		t.Errorf("%s: %v, want memory.ErrAudit", name, err)
	}
}

// apply calls a method with the first value of each type, or the zero one, and returns its error. What else it returns must be zero where that
// is memory.ErrAudit.
func apply(t *testing.T, m reflect.Value, values []any) error {
	var in []reflect.Value
	for i := range m.Type().NumIn() {
		if m.Type().IsVariadic() && i == m.Type().NumIn()-1 {
			break
		}
		in = append(in, valueOf(m.Type().In(i), values))
	}
	out := m.Call(in)
	err, _ := out[len(out)-1].Interface().(error)
	for _, o := range out[:len(out)-1] {
		if errors.Is(err, memory.ErrAudit) && !o.IsZero() {
			t.Errorf("it returned %v and %v", o, err)
		}
	}
	return err
}

func valueOf(of reflect.Type, values []any) reflect.Value {
	for _, v := range values {
		if reflect.TypeOf(v).AssignableTo(of) {
			return reflect.ValueOf(v)
		}
	}
	return reflect.Zero(of)
}
