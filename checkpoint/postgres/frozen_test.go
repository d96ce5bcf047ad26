package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/postgres"
	"github.com/holdfast-go/holdfast/internal/testserver"
)

// A dam passes connections on to a server, until one upload is stopped in its middle.
type dam struct {
	l       net.Listener
	wg      sync.WaitGroup
	mu      sync.Mutex
	limit   int           // bytes of one connection that still pass; negative: all
	stopped chan struct{} // closed when that was so many
	open    chan struct{} // closed to let the rest pass
	conns   []net.Conn
}

func newDam(t *testing.T, target string) *dam {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := &dam{l: l, limit: -1}
	d.wg.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", target)
			if err != nil {
				client.Close()
				continue
			}
			d.mu.Lock()
			d.conns = append(d.conns, client, server)
			d.mu.Unlock()
			d.wg.Go(func() {
				defer client.Close()
				_, _ = io.Copy(client, server) // it ends with the connection
			})
			d.wg.Go(func() {
				defer server.Close()
				d.upload(server, client)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		d.mu.Lock()
		for _, c := range d.conns {
			c.Close()
		}
		d.mu.Unlock()
		d.wg.Wait()
	})
	return d
}

func (d *dam) upload(to io.Writer, from io.Reader) {
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		d.mu.Lock()
		pass, stop := n, d.limit >= 0 && n > d.limit
		if stop {
			pass, d.limit = d.limit, -1
		} else if d.limit >= 0 {
			d.limit -= n
		}
		stopped, open := d.stopped, d.open
		d.mu.Unlock()
		if _, err := to.Write(buf[:pass]); err != nil {
			return
		}
		if stop {
			close(stopped)
			<-open
			if _, err := to.Write(buf[pass:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// stop lets so many bytes pass from now, then nothing of that connection until open is closed.
func (d *dam) stop(limit int) (stopped, open chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.limit, d.stopped, d.open = limit, make(chan struct{}), make(chan struct{})
	return d.stopped, d.open
}

// frozenSize is about what a frozen call sends.
const frozenSize = 16 << 20

// A frozenCall is a call of the frozen client for a thread, and what it returns after another has taken that thread over.
type frozenCall struct {
	call func(context.Context, checkpoint.Store, checkpoint.Key, checkpoint.Nonce) error
	want error
}

func question(id string) checkpoint.Question {
	return checkpoint.Question{ID: id, Run: "run", Body: []byte("?")}
}

func frozenCalls() map[string]frozenCall {
	big := make([]byte, frozenSize/2)
	return map[string]frozenCall{
		"pause": {func(ctx context.Context, s checkpoint.Store, key checkpoint.Key, nonce checkpoint.Nonce) error {
			a := entry(key, nonce, 2, big)
			q := question("new")
			q.Body = big
			a.Park = &checkpoint.Park{Status: checkpoint.Interrupted, Questions: []checkpoint.Question{q}}
			_, err := s.Append(ctx, a)
			return err
		}, checkpoint.ErrStale},
		"end with a long error": {func(ctx context.Context, s checkpoint.Store, key checkpoint.Key, nonce checkpoint.Nonce) error {
			a := entry(key, nonce, 2, big)
			a.Park = &checkpoint.Park{Status: checkpoint.Failed, Error: string(big)}
			_, err := s.Append(ctx, a)
			return err
		}, checkpoint.ErrStale},
		"superstep": {func(ctx context.Context, s checkpoint.Store, key checkpoint.Key, nonce checkpoint.Nonce) error {
			a := entry(key, nonce, 2, big)
			a.Records = append(a.Records, entry(key, nonce, 3, big).Records...)
			_, err := s.Append(ctx, a)
			return err
		}, checkpoint.ErrStale},
		"many records": {func(ctx context.Context, s checkpoint.Store, key checkpoint.Key, nonce checkpoint.Nonce) error {
			a := entry(key, nonce, 2, nil)
			a.Records = nil
			for i := range int64(32) {
				a.Records = append(a.Records, entry(key, nonce, 2+i, big[:frozenSize/32]).Records...)
			}
			_, err := s.Append(ctx, a)
			return err
		}, checkpoint.ErrStale},
		"answer": {func(ctx context.Context, s checkpoint.Store, key checkpoint.Key, _ checkpoint.Nonce) error {
			_, err := s.Answer(ctx, key, []checkpoint.Reply{{Question: "other", Value: big}, {Question: "old", Value: big}})
			return err
		}, checkpoint.ErrNotPending},
		"start": {func(ctx context.Context, s checkpoint.Store, key checkpoint.Key, _ checkpoint.Nonce) error {
			nonce := checkpoint.NewNonce()
			a := entry(key, nonce, 2, big)
			a.Records = append(a.Records, entry(key, nonce, 3, big).Records...)
			_, err := s.Acquire(ctx, &checkpoint.Acquire{Key: key, Epoch: 1, Nonce: nonce, TTL: time.Hour, Records: a.Records,
				Run: &checkpoint.Run{ID: "next", Meta: map[string]string{"name": "value"}}})
			return err
		}, checkpoint.ErrHeld},
		"post": {func(ctx context.Context, s checkpoint.Store, key checkpoint.Key, _ checkpoint.Nonce) error {
			_, err := s.Post(ctx, checkpoint.Command{Key: key, Kind: checkpoint.CommandInput, Body: make([]byte, frozenSize)})
			return err
		}, nil},
	}
}

// C21, C3: a client that is frozen in the middle of a large upload holds no lock. Others answer, post, and take the thread
// over at once when its lease has run out; what it sends when it wakes is stale.
func TestFrozenUpload(t *testing.T) {
	t.Parallel()
	for name, c := range frozenCalls() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pg := testserver.Postgres(t)
			d := newDam(t, pg.Addr())
			o := postgres.Options{Schema: fresh(), OpTimeout: time.Minute}
			dropAtEnd(t, o.Schema)
			direct := openAt(t, pg.URL(), o)
			frozen := openAt(t, strings.Replace(pg.URL(), pg.Addr(), d.l.Addr().String(), 1)+"&pool_max_conns=1", o)
			for _, at := range []int{1 << 20, frozenSize / 2, frozenSize - 64<<10} {
				key := checkpoint.Key{Tenant: "tenant", Thread: name + string(rune('a'+at>>20))}
				nonce := checkpoint.NewNonce()
				if _, err := direct.Acquire(t.Context(), &checkpoint.Acquire{Key: key, Nonce: nonce, TTL: time.Microsecond,
					Run: &checkpoint.Run{ID: "run"}, Records: entry(key, nonce, 0, nil).Records}); err != nil {
					t.Fatal(err)
				}
				a := entry(key, nonce, 1, nil)
				a.Seen, a.Park = -1, &checkpoint.Park{Status: checkpoint.Interrupted, Questions: []checkpoint.Question{question("old"), question("other")}}
				if _, err := direct.Append(t.Context(), a); err != nil {
					t.Fatal(err)
				}
				stopped, open := d.stop(at)
				var late error
				var wg sync.WaitGroup
				wg.Go(func() { late = c.call(t.Context(), frozen, key, nonce) })
				<-stopped
				takeOver(t, direct, key)
				close(open)
				wg.Wait()
				if !errors.Is(late, c.want) {
					t.Errorf("stopped after %d bytes, woken: %v; want %v", at, late, c.want)
				}
			}
		})
	}
}

// takeOver does with a thread what others do while its holder is away. Nothing may wait.
func takeOver(t *testing.T, s *postgres.Store, key checkpoint.Key) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	nonce := checkpoint.NewNonce()
	_, answer := s.Answer(ctx, key, []checkpoint.Reply{{Question: "old", Value: []byte("!")}})
	_, post := s.Post(ctx, checkpoint.Command{Key: key, Kind: checkpoint.CommandDrain})
	_, acquire := s.Acquire(ctx, &checkpoint.Acquire{Key: key, Mode: checkpoint.Expired, Nonce: nonce, TTL: time.Hour})
	_, write := s.Append(ctx, entry(key, nonce, 2, nil))
	for i, err := range []error{answer, post, acquire, write} {
		if err != nil {
			t.Errorf("call %d of another client: %v", i, err)
		}
	}
}

// C21: two start the same thread, which is not there. One of them is frozen while it sends its input: the other starts.
func TestFrozenStart(t *testing.T) {
	t.Parallel()
	pg := testserver.Postgres(t)
	d := newDam(t, pg.Addr())
	o := postgres.Options{Schema: fresh(), OpTimeout: time.Minute}
	dropAtEnd(t, o.Schema)
	direct := openAt(t, pg.URL(), o)
	frozen := openAt(t, strings.Replace(pg.URL(), pg.Addr(), d.l.Addr().String(), 1)+"&pool_max_conns=1", o)
	key, nonce := checkpoint.Key{Tenant: "tenant", Thread: "thread"}, checkpoint.NewNonce()
	stopped, open := d.stop(1 << 20)
	var late error
	var wg sync.WaitGroup
	wg.Go(func() {
		_, late = frozen.Acquire(t.Context(), &checkpoint.Acquire{Key: key, Nonce: nonce, TTL: time.Hour,
			Run:     &checkpoint.Run{ID: "a", Request: "request"},
			Records: entry(key, nonce, 0, make([]byte, 4<<20)).Records})
	})
	<-stopped
	other := checkpoint.NewNonce()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	_, err := direct.Acquire(ctx, &checkpoint.Acquire{Key: key, Nonce: other, TTL: time.Hour,
		Run: &checkpoint.Run{ID: "b", Request: "request"}, Records: entry(key, other, 0, nil).Records})
	if err != nil {
		t.Errorf("the other start: %v", err)
	}
	close(open)
	wg.Wait()
	if same, ok := errors.AsType[*checkpoint.DuplicateError](late); !ok || same.Run.ID != "b" {
		t.Errorf("the start that was frozen = %v; want a duplicate of the other", late)
	}
}

// C21, C3: a client is frozen while it sends the appends of many threads in one statement. None of them is locked.
func TestFrozenGroup(t *testing.T) {
	t.Parallel()
	pg := testserver.Postgres(t)
	d := newDam(t, pg.Addr())
	o := postgres.Options{Schema: fresh(), OpTimeout: time.Minute}
	dropAtEnd(t, o.Schema)
	direct := openAt(t, pg.URL(), o)
	frozen := openAt(t, strings.Replace(pg.URL(), pg.Addr(), d.l.Addr().String(), 1), o)
	const many, size = 64, 7 << 10
	for round, together := 0, 0; together < 4; round++ { // until some were on their way, or waited behind those
		as, late := make([]*checkpoint.Append, many), make([]error, many)
		for i := range as {
			key, nonce := checkpoint.Key{Tenant: "tenant", Thread: fmt.Sprint(round, "-", i)}, checkpoint.NewNonce()
			as[i] = entry(key, nonce, 1, make([]byte, size))
			if _, err := direct.Acquire(t.Context(), &checkpoint.Acquire{Key: key, Nonce: nonce, TTL: time.Microsecond,
				Run: &checkpoint.Run{ID: "run"}, Records: entry(key, nonce, 0, nil).Records}); err != nil {
				t.Fatal(err)
			}
		}
		stopped, open := d.stop(many * size / 2)
		var wg sync.WaitGroup
		for i, a := range as {
			wg.Go(func() { _, late[i] = frozen.Append(t.Context(), a) })
		}
		<-stopped
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		for _, a := range as {
			thief := &checkpoint.Acquire{Key: a.Key, Mode: checkpoint.Expired, Nonce: checkpoint.NewNonce(), TTL: time.Hour}
			if _, err := direct.Acquire(ctx, thief); err != nil {
				t.Errorf("taking over %s: %v", a.Thread, err)
			}
		}
		cancel()
		close(open)
		wg.Wait()
		for i, err := range late {
			switch {
			case errors.Is(err, checkpoint.ErrStale):
				together++
			case err != nil:
				t.Errorf("append %d, woken: %v", i, err)
			}
		}
		if t.Failed() {
			return
		}
	}
}
