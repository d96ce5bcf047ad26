package graph

import (
	"fmt"
	"runtime/debug"
	"sync"
)

// outside lists the tasks of a superstep that run in goroutines of their own. The driver alone changes it; Close reads it.
type outside struct {
	mu    sync.Mutex
	tasks map[*task]bool
}

func (o *outside) set(tasks map[*task]bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.tasks = tasks
}

func (o *outside) add(t *task) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.tasks[t] = true
}

func (o *outside) remove(t *task) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.tasks, t)
}

// busy names the nodes that a run executes now, but for those that are counted by their time-out.
func (r *run) busy() (names []string) {
	note := func(t *task) {
		if t.time == 0 && t.node.policy.Timeout == 0 && t.node.policy.IdleTimeout == 0 {
			names = append(names, t.node.name)
		}
	}
	if t := r.inline.Load(); t != nil {
		note(t)
	}
	r.out.mu.Lock()
	defer r.out.mu.Unlock()
	for t := range r.out.tasks {
		note(t)
	}
	return names
}

// aside runs user code in a goroutine of its own: neither a panic nor an exit of the goroutine reaches the caller.
func aside(f func() error) error {
	done := make(chan error, 1)
	go func() {
		err := error(errExit)
		defer func() { done <- err }()
		err = protected(f)
	}()
	return <-done
}

// protected turns a panic into an error with its stack.
func protected(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &PanicError{Value: fmt.Sprint(p), Stack: debug.Stack()}
		}
	}()
	return f()
}
