package testserver

import (
	"io"
	"net"
	"sync"
	"testing"
)

// A Proxy passes TCP connections on to a server, until a test breaks them.
type Proxy struct {
	target string
	l      net.Listener
	wg     sync.WaitGroup

	mu       sync.Mutex
	links    map[*link]struct{}
	requests int
	drop     int           // the request whose reply is dropped; 0: none
	dropped  chan struct{} // closed when it was
	refuse   bool
	thaw     chan struct{} // not nil while frozen; closed to go on
}

// A link is one connection through the proxy.
type link struct {
	client, server net.Conn
	asking         bool // the last bytes came from the client
	dead           bool // the reply under way goes nowhere
}

// NewProxy listens on a free port of 127.0.0.1 until the test ends.
func NewProxy(tb testing.TB, target string) *Proxy {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	p := &Proxy{target: target, l: l, links: map[*link]struct{}{}}
	p.wg.Go(p.accept)
	tb.Cleanup(func() {
		l.Close()
		p.Freeze(false)
		p.Refuse(true)
		p.Cut()
		p.wg.Wait()
	})
	return p
}

// Addr is host and port of the proxy.
func (p *Proxy) Addr() string { return p.l.Addr().String() }

// Requests counts the requests so far, over all connections. A request is all that a client sends before the server says
// something: a round trip.
func (p *Proxy) Requests() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.requests
}

// DropReply lets the n-th request from now reach the server, waits for the first byte of its reply, and cuts that connection
// instead of passing it on. The channel is closed when that has happened.
func (p *Proxy) DropReply(n int) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drop, p.dropped = p.requests+n, make(chan struct{})
	return p.dropped
}

// Cut cuts every connection.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		l.cut()
	}
}

// Refuse closes new connections at once, or takes them again.
func (p *Proxy) Refuse(yes bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refuse = yes
}

// Freeze passes nothing on any more, or again.
func (p *Proxy) Freeze(yes bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case yes && p.thaw == nil:
		p.thaw = make(chan struct{})
	case !yes && p.thaw != nil:
		close(p.thaw)
		p.thaw = nil
	}
}

func (p *Proxy) accept() {
	for {
		client, err := p.l.Accept()
		if err != nil {
			return
		}
		p.wg.Go(func() { p.serve(client) })
	}
}

func (p *Proxy) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		return
	}
	l := &link{client: client, server: server}
	defer l.cut()
	p.mu.Lock()
	if p.refuse {
		p.mu.Unlock()
		return
	}
	p.links[l] = struct{}{}
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.links, l)
	}()
	var wg sync.WaitGroup
	wg.Go(func() { p.pass(l, server, client, p.asked) })
	p.pass(l, client, server, p.replied)
	wg.Wait()
}

// pass copies one direction until it ends or seen says no.
func (p *Proxy) pass(l *link, to io.Writer, from io.Reader, seen func(*link) bool) {
	defer l.cut()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			p.wait()
			if !seen(l) {
				return
			}
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// wait waits while the proxy is frozen.
func (p *Proxy) wait() {
	p.mu.Lock()
	thaw := p.thaw
	p.mu.Unlock()
	if thaw != nil {
		<-thaw
	}
}

func (p *Proxy) asked(l *link) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !l.asking {
		l.asking = true
		if p.requests++; p.requests == p.drop {
			l.dead = true
		}
	}
	return true
}

func (p *Proxy) replied(l *link) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	l.asking = false
	if l.dead {
		close(p.dropped)
	}
	return !l.dead
}

func (l *link) cut() {
	l.client.Close()
	l.server.Close()
}
