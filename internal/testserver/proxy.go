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
	hang     int           // so many requests are still to hang
	hung     chan struct{} // closed when they do
}

// A link is one connection through the proxy.
type link struct {
	client, server net.Conn
	asking         bool          // the last bytes came from the client
	gone           chan struct{} // closed when it is cut
	once           sync.Once     // closes gone
	dropped        chan struct{} // not nil: the reply under way goes nowhere, and this is closed
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
// instead of passing it on. The channel is closed when that has happened, or when the connection ended before the reply.
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

// Hang lets the next n requests, each on another connection, go nowhere until that connection is cut. Everything else passes. The
// channel is closed when all n hang.
func (p *Proxy) Hang(n int) (hung <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hang, p.hung = n, make(chan struct{})
	return p.hung
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
	l := &link{client: client, server: server, gone: make(chan struct{})}
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
		l.drop()
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
			p.wait(l)
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

// wait waits while the proxy is frozen and the link is not cut.
func (p *Proxy) wait(l *link) {
	p.mu.Lock()
	thaw := p.thaw
	p.mu.Unlock()
	if thaw == nil {
		return
	}
	select {
	case <-thaw:
	case <-l.gone:
	}
}

// asked counts a request that begins. It is false for one that hung.
func (p *Proxy) asked(l *link) bool {
	if !p.hangs(l) {
		return true
	}
	<-l.gone
	return false
}

func (p *Proxy) hangs(l *link) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l.asking {
		return false
	}
	l.asking = true
	if p.requests++; p.requests == p.drop {
		l.dropped = p.dropped
	}
	if p.hang == 0 {
		return false
	}
	if p.hang--; p.hang == 0 {
		close(p.hung)
	}
	return true
}

func (p *Proxy) replied(l *link) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	l.asking = false
	return !l.drop()
}

// drop says that the reply under way has gone nowhere. It reports whether it was to. The mutex is held.
func (l *link) drop() bool {
	if l.dropped == nil {
		return false
	}
	close(l.dropped)
	l.dropped = nil
	return true
}

func (l *link) cut() {
	l.once.Do(func() { close(l.gone) })
	l.client.Close()
	l.server.Close()
}
