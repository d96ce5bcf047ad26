package graph

import (
	"encoding/json"
	"fmt"
	"time"
)

// Names that every graph has.
const (
	Start = "__start__" // where a run begins: a source of edges and routes
	End   = "__end__"   // where a path ends: a target of edges, routes and branches
	All   = "*"         // every node, where a handler or a breakpoint asks for a node
)

// A Next says where to go: nodes, sends, or both. It is made by To and by senders; the zero Next says nothing, which a
// route or a branch must not return: End is how to stop.
type Next struct {
	one   string // the common case of one target, without a slice
	more  []string
	sends []send
	up    []string // of Escape
	err   error
}

// A send is one task with its argument, encoded when it was sent, so that later changes by the sender do not reach it.
type send struct {
	node string
	arg  json.RawMessage
	time time.Duration
}

// To goes to nodes. Several are run in the same superstep.
func To(nodes ...string) Next {
	if len(nodes) == 0 {
		return Next{}
	}
	return Next{one: nodes[0], more: nodes[1:]}
}

// And goes to the targets of both.
func (n Next) And(m Next) Next {
	if n.empty() {
		return m
	}
	if m.one != "" {
		n.more = append(append(n.more[:len(n.more):len(n.more)], m.one), m.more...)
		if n.one == "" {
			n.one, n.more = n.more[0], n.more[1:]
		}
	}
	n.sends = append(n.sends[:len(n.sends):len(n.sends)], m.sends...)
	n.up = append(n.up[:len(n.up):len(n.up)], m.up...)
	if n.err == nil {
		n.err = m.err
	}
	return n
}

func (n *Next) empty() bool {
	return n.one == "" && len(n.sends) == 0 && len(n.up) == 0 && n.err == nil
}

// targets calls f for each plain target in order.
func (n *Next) targets(f func(string) error) error {
	if n.one == "" {
		return nil
	}
	if err := f(n.one); err != nil {
		return err
	}
	for _, t := range n.more {
		if err := f(t); err != nil {
			return err
		}
	}
	return nil
}

// A Sender makes tasks for a node that takes an argument. It is what Each returns.
type Sender[T any] struct {
	node  string
	codec *codec[T]
	time  time.Duration
}

// Send runs the node once for each argument, in parallel.
func (s Sender[T]) Send(args ...T) Next {
	var n Next
	n.sends = make([]send, 0, len(args))
	for i, a := range args {
		raw, err := s.codec.encode(a)
		if err != nil {
			return Next{err: fmt.Errorf("send %d to %s: %w", i, s.node, err)}
		}
		n.sends = append(n.sends, send{s.node, raw, s.time})
	}
	return n
}

// SendOr is Send, or To(fallback) when there is no argument: a map over nothing goes on instead of ending in silence.
func (s Sender[T]) SendOr(fallback string, args ...T) Next {
	if len(args) == 0 {
		return To(fallback)
	}
	return s.Send(args...)
}

// Within returns a sender whose tasks have a run time-out of their own.
func (s Sender[T]) Within(d time.Duration) Sender[T] {
	s.time = d
	return s
}
