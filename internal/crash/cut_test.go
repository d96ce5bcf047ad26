package crash_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/crash"
	"github.com/holdfast-go/holdfast/internal/testserver"
)

// TestCrashReplyCut has the server do what it was asked and cuts the connection instead of passing its reply on, at the nth
// reply, the connecting included, until a program comes to its end unharmed. In half of the trials the program's context
// ends at that moment too, and what it does next is another write. // C4 C21
func TestCrashReplyCut(t *testing.T) {
	skipShort(t)
	t.Parallel()
	each(t, servers(), func(t *testing.T, l *lab) {
		hit := 0
		for _, scene := range crash.Scenes {
			want := l.calmHere(t, scene)
			for _, cancel := range []bool{false, true} {
				step := 4 * l.every()
				for n, harmed := 1+(hit+len(scene.Name))%step, true; harmed; n += step {
					var err error
					if harmed, err = l.cut(t, scene, want, n, cancel); err != nil {
						t.Fatalf("%s, reply %d, cancelled too: %t: %v", scene.Name, n, cancel, err)
					}
					if harmed {
						hit++
					}
				}
			}
		}
		fmt.Printf("%s: %d replies cut\n", t.Name(), hit)
		if int64(hit) < l.floor(40) {
			t.Error("too few to prove anything")
		}
	})
}

// cut plays with the nth reply cut, and tells whether there was one.
func (l *lab) cut(t *testing.T, scene crash.Scene, want *result, n int, cancelled bool) (harmed bool, err error) {
	slots <- struct{}{}
	defer func() { <-slots }()
	r := l.enter(t, t.TempDir())
	defer func() {
		if err := r.leave(); err != nil {
			t.Error(err)
		}
	}()
	proxy := testserver.NewProxy(t, r.addr)
	far := *r
	far.url = strings.Replace(r.url, r.addr, proxy.Addr(), 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	dropped := proxy.DropReply(n)
	if cancelled {
		stop := make(chan struct{})
		ended := make(chan struct{})
		defer func() { close(stop); <-ended }()
		go func() {
			defer close(ended)
			select {
			case <-dropped:
				cancel()
			case <-stop:
			}
		}()
	}
	got, err := show{scene: scene, open: far.open, ctx: ctx, patience: time.Minute}.play(t)
	if err == nil {
		err = got.differs(want)
	}
	select {
	case <-dropped:
		return true, err
	default:
		return false, err
	}
}
