package testserver_test

import (
	"net"
	"testing"

	"github.com/holdfast-go/holdfast/internal/testserver"
)

// A server that takes requests and never replies.
func mute(t *testing.T) (addr string, conns <-chan net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ch := make(chan net.Conn, 4)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			ch <- c
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return l.Addr().String(), ch
}

// Whoever waits for a reply to be dropped is told when there can be none: the server closes without a byte, or the
// connection is cut, also while the proxy is frozen.
func TestDropEndsWithItsConnection(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*testserver.Proxy, net.Conn){
		"closed": func(_ *testserver.Proxy, server net.Conn) { server.Close() },
		"cut":    func(p *testserver.Proxy, _ net.Conn) { p.Cut() },
		"frozen": func(p *testserver.Proxy, server net.Conn) {
			p.Freeze(true)
			server.Write([]byte("reply"))
			p.Cut()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			addr, conns := mute(t)
			p := testserver.NewProxy(t, addr)
			dropped := p.DropReply(1)
			client, err := net.Dial("tcp", p.Addr())
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			if _, err := client.Write([]byte("request")); err != nil {
				t.Fatal(err)
			}
			server := <-conns
			defer server.Close()
			if _, err := server.Read(make([]byte, 7)); err != nil {
				t.Fatal(err)
			}
			end(p, server)
			<-dropped
		})
	}
}
