//go:build unix

package crash_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/crash"
	"github.com/holdfast-go/holdfast/internal/testserver"
)

// A doomed server belongs to one test, which kills it.
type doomed interface {
	Addr() string
	URL() string
	Kill() error
	Restart() error
}

// doom starts a server that waits for the disk at each write, as in production, and the form of its rooms.
func (l *lab) doom(t *testing.T) (server doomed, query string) {
	if l == inRedis {
		return testserver.NewRedis(t, testserver.RedisConfig{Fsync: "always"}), "prefix=doomed_%d"
	}
	return testserver.NewPostgres(t), "schema=doomed_%d&pool_max_conns=2"
}

// TestCrashServer kills the database server in the middle of a run and starts it again. A program that lives goes on by itself,
// and one that was killed with it is continued by the next. // C21 C22 C13
func TestCrashServer(t *testing.T) {
	skipShort(t)
	t.Parallel()
	each(t, servers(), func(t *testing.T, l *lab) {
		server, query := l.doom(t)
		calms := map[string]*calm{}
		for _, scene := range crash.Scenes {
			calms[scene.Name] = inSQLite.calm(t, scene.Name, "sync") // all stores lead to the same end
		}
		n, rnd := 0, rand.New(rand.NewPCG(seedOf(t), 3))
		for _, c := range []struct{ scene, where string }{
			{"line", "stop 2 write E"}, {"nest", "stop 3 written O"}, {"fan", "stop 3 write R"}, {"fan", "stop 1 written E"},
			{"loop", "stop 1 write P"}, {"ask", "stop 1 acquire"}, {"ask", "stop 1 written R"},
			{"line", ""}, {"fan", ""}, {"ask", ""},
		} {
			for _, both := range []bool{false, true} {
				n++
				s := l.stageAt(t, c.scene, withQuery(server.URL(), fmt.Sprintf(query, n)))
				if err := calms[c.scene].killServer(t, s, server, c.where, both, rnd); err != nil {
					t.Errorf("%s, %q, the program too: %t: %v", c.scene, c.where, both, err)
				}
				s.close(t)
			}
		}
		fmt.Printf("%s: the server was killed %d times\n", t.Name(), n)
	})
}

// stageAt is a stage with a store of the test's own.
func (l *lab) stageAt(t *testing.T, scene, url string) *stage {
	t.Helper()
	bin, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return &stage{room: &room{url: url, leave: func() error { return nil }}, bin: bin, dir: t.TempDir(), scene: scene, mode: "sync"}
}

// killServer plays one such story: at a point, where the program is stopped meanwhile, or at any moment.
func (c *calm) killServer(t *testing.T, s *stage, server doomed, where string, both bool, rnd *rand.Rand) error {
	v, err := s.start(t, where, "-patience", "60s")
	if err != nil {
		return err
	}
	defer v.kill()
	if where != "" {
		err = v.stopped()
	} else {
		err = s.happens(v, 1+rnd.IntN(20))
	}
	if err == nil {
		err = server.Kill()
	}
	if err == nil && both {
		v.kill()
		s.kills++
	} else if err == nil && where != "" {
		err = v.wake()
	}
	if err = errors.Join(err, server.Restart()); err != nil {
		return err
	}
	if !both {
		if err := v.wait(); err != nil {
			return fmt.Errorf("the program did not go on by itself: %w", err)
		}
		if code := v.cmd.ProcessState.ExitCode(); code != crash.ExitDone && code != crash.ExitWaiting {
			return fmt.Errorf("the program did not go on by itself: exit code %d: %s", code, v.stderr.String())
		}
	}
	return c.compare(s, nil, "-answer")
}

// happens waits until the ledger has so many lines, or the program has ended.
func (s *stage) happens(v *victim, lines int) error {
	ledger, err := os.OpenFile(s.ledgerPath(), os.O_CREATE|os.O_RDONLY, 0o600)
	if err != nil {
		return err
	}
	defer ledger.Close()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		b, err := io.ReadAll(io.NewSectionReader(ledger, 0, 1<<20))
		if err != nil || strings.Count(string(b), "\n") >= lines {
			return err
		}
		select {
		case <-tick.C:
		case <-v.done:
			return nil
		}
	}
}

// TestCrashLoses kills a Postgres server that acknowledges before it has written, and cuts the end off Redis's file: what is lost is a
// suffix of the records of all chains, and what is done again has the same keys. A program that lives on ends with ErrStale if one of
// them was lost, of a child graph too, and only then. It has not even begun another chain behind the gap: whoever continues the
// thread would come upon that. // C13 C21 C22
func TestCrashLoses(t *testing.T) {
	skipShort(t)
	t.Parallel()
	each(t, servers(), func(t *testing.T, l *lab) {
		server, query := l.doom(t)
		lose := server.Kill
		if pg, ok := server.(*testserver.PG); ok {
			query += "&synchronous_commit=off"
			lazy(t, pg)
		}
		lost, rnd := 0, rand.New(rand.NewPCG(seedOf(t), 4))
		for n := 0; n < 8 || lost == 0 && n < 40; n++ { // a cut may hit nothing that is a record
			scene := []string{"line", "fan", "ask", "nest"}[n%4]
			if r, ok := server.(*testserver.Redis); ok {
				lose = func() error { return r.CutTail(1 + rnd.Int64N(2000)) }
			}
			s := l.stageAt(t, scene, withQuery(server.URL(), fmt.Sprintf(query, n)))
			k, err := inSQLite.calm(t, scene, "sync").loses(t, s, server, lose, n/4%2 == 0, rnd)
			if err != nil {
				t.Errorf("%s: %v", scene, err)
			}
			lost += k
			s.close(t)
		}
		fmt.Printf("%s: %d records lost\n", t.Name(), lost)
		if lost == 0 {
			t.Error("nothing was lost: this proves nothing")
		}
	})
}

// loses lets a server lose its tail while a program is stopped, which then dies or lives.
func (c *calm) loses(t *testing.T, s *stage, server doomed, lose func() error, lives bool, rnd *rand.Rand) (lost int, err error) {
	where := []string{"stop 1 written O", "stop 2 written O", "stop 3 written O", "stop 1 written E", "stop 2 written E"} // behind an E a child graph may begin
	v, err := s.start(t, where[rnd.IntN(len(where))], "-patience", "60s")
	if err != nil {
		return 0, err
	}
	defer v.kill()
	if err := v.stopped(); err != nil {
		return 0, err
	}
	before, err := s.records(t)
	if err != nil {
		return 0, err
	}
	if err := errors.Join(lose(), server.Restart()); err != nil {
		return 0, err
	}
	after, err := s.records(t)
	if err != nil {
		return 0, err
	}
	if err := beginning(after, before); err != nil {
		return 0, err
	}
	lost = len(before) - len(after)
	if lives {
		if err := s.findsOut(t, v, after, lost); err != nil {
			return lost, err
		}
	}
	v.kill()
	return lost, c.compareAfterLoss(s)
}

// findsOut wakes a program whose server has lost so many records. It must notice, and write nothing behind the gap.
func (s *stage) findsOut(t *testing.T, v *victim, left []string, lost int) error {
	if err := errors.Join(v.wake(), v.wait()); err != nil {
		return err
	}
	code := v.cmd.ProcessState.ExitCode()
	if lost > 0 && code != crash.ExitStale || lost == 0 && code != crash.ExitDone && code != crash.ExitWaiting {
		return fmt.Errorf("%d records were lost; the program ended with code %d: %s", lost, code, v.stderr.String())
	}
	now, err := s.records(t)
	if err == nil && lost > 0 && !slices.Equal(now, left) {
		err = fmt.Errorf("behind the loss of %d records it has written:\n%q\n%q", lost, left, now)
	}
	return err
}

// beginning checks that nothing is missing but a suffix.
func beginning(part, whole []string) error {
	if len(part) > len(whole) || !slices.Equal(part, whole[:len(part)]) {
		return fmt.Errorf("what is left is no beginning of what was there:\n%q\n%q", whole, part)
	}
	return nil
}

// compareAfterLoss is compare where what was acknowledged may run again, under the same keys.
func (c *calm) compareAfterLoss(s *stage) error {
	out, _, err := s.playWith([]string{"-answer"})
	if err != nil {
		return err
	}
	lines, err := s.ledger()
	if err != nil {
		return err
	}
	lines = slices.DeleteFunc(lines, func(line []string) bool { return line[0] == "acked" || line[0] == "recorded" })
	if faults := crash.Audit(lines, c.lines); len(faults) > 0 {
		return errors.New(strings.Join(faults, "; "))
	}
	if !slices.Equal(out.Entries, c.outcome.Entries) {
		return fmt.Errorf("entries %q; undisturbed %q", out.Entries, c.outcome.Entries)
	}
	return nil
}

// lazy makes the server keep what it acknowledges in memory for as long as it can.
func lazy(t *testing.T, pg *testserver.PG) {
	conn := connect(t, pg.URL())
	defer conn.Close(context.Background())
	for _, text := range []string{"alter system set wal_writer_delay = '10s'", "select pg_reload_conf()"} {
		if _, err := conn.Exec(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
}
