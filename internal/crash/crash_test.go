package crash_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/holdfast-go/holdfast/internal/crash"
)

// TestCrash kills at every store call, before and after it, and at the first hits of every marked point, then once more
// during recovery. Whatever happens, the thread must come to the same end, and what was acknowledged never runs again. // E61 E23 E17 E38 C5 // report 30 // report 34
func TestCrash(t *testing.T) {
	skipShort(t)
	t.Parallel()
	seed := seedOf(t)
	inAll(t, func(t *testing.T, l *lab) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		var trials []trial
		for _, scene := range crash.Scenes {
			c := l.calm(t, scene.Name, "sync")
			for n, r := range c.reports {
				for _, fate := range fatesOf(r) {
					fates := append(make([]string, n), fate) // the processes before it live
					trials = append(trials, trial{c, append(fates, again(rnd))})
				}
			}
		}
		report(t, try(t, l.share(trials, rnd)), seed, l.floor(300))
	})
}

// share is the part of the trials that a run has time for, another one with each seed.
func (l *lab) share(trials []trial, rnd *rand.Rand) (part []trial) {
	for n := rnd.IntN(l.every()); n < len(trials); n += l.every() {
		part = append(part, trials[n])
	}
	return part
}

// every says that a run makes one of so many trials. HOLDFAST_CRASH_PART=1 makes all of them.
func (l *lab) every() int {
	if n, err := strconv.Atoi(os.Getenv("HOLDFAST_CRASH_PART")); err == nil && n > 0 {
		return n
	}
	return l.part
}

// floor is how many kills of all trials together prove something.
func (l *lab) floor(all int) int64 { return int64(all / l.every()) }

// TestCrashInRecovery kills the second process at each of its calls and points too. // E61
func TestCrashInRecovery(t *testing.T) {
	skipShort(t)
	t.Parallel()
	seed := seedOf(t)
	first := map[string]string{"line": "point 2 written O", "nest": "point 3 written O", "fan": "point 3 written R", "loop": "point 1 written R", "queue": "point 1 written E", "ask": "point 1 written R"}
	inAll(t, func(t *testing.T, l *lab) {
		var trials []trial
		for _, scene := range crash.Scenes {
			c := l.calm(t, scene.Name, "sync")
			s := l.newStage(t, scene.Name, "sync")
			_, reports, err := s.play(first[scene.Name])
			s.close(t)
			if err != nil || len(reports) < 2 {
				t.Fatalf("%s: %d reports, %v", scene.Name, len(reports), err)
			}
			for _, fate := range fatesOf(reports[1]) {
				trials = append(trials, trial{c, []string{first[scene.Name], fate}})
			}
		}
		rnd := rand.New(rand.NewPCG(seed, 2))
		report(t, try(t, l.share(trials, rnd)), seed, l.floor(100))
	})
}

// TestCrashBehind kills runs whose entries are written late: what was not acknowledged may run again, nothing else. // E60
func TestCrashBehind(t *testing.T) {
	skipShort(t)
	t.Parallel()
	seed := seedOf(t)
	inEach(t, func(t *testing.T, l *lab) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		var trials []trial
		for _, mode := range []string{"async", "exit"} {
			for _, scene := range crash.Scenes {
				c := l.calm(t, scene.Name, mode)
				for range 6 {
					trials = append(trials, randomTrial(c, rnd))
				}
			}
		}
		report(t, try(t, trials), seed, 20)
	})
}

// TestCrashLong kills as often as HOLDFAST_CRASH_KILLS says, at random, on each store or on the one that
// HOLDFAST_CRASH_STORE names. HOLDFAST_CRASH_SEED and HOLDFAST_CRASH_FROM repeat a run from one of its trials.
func TestCrashLong(t *testing.T) {
	want, err := strconv.Atoi(os.Getenv("HOLDFAST_CRASH_KILLS"))
	if err != nil {
		t.Skip("HOLDFAST_CRASH_KILLS is not set")
	}
	seed := seedOf(t)
	from, _ := strconv.ParseUint(os.Getenv("HOLDFAST_CRASH_FROM"), 10, 64)
	list := labs()
	if len(list) == 0 {
		t.Fatal("HOLDFAST_CRASH_STORE is none of sqlite, postgres, redis")
	}
	for _, l := range list { // one after the other, so that each can be gone on with
		t.Run(l.name, func(t *testing.T) { l.long(t, want, seed, from) })
	}
}

func (l *lab) long(t *testing.T, want int, seed, from uint64) {
	var calms []*calm
	for _, mode := range []string{"sync", "sync", "async", "exit"} {
		for _, scene := range crash.Scenes {
			calms = append(calms, l.calm(t, scene.Name, mode))
		}
	}
	kills, recoveries := 0, 0
	for n := from; kills < want && !t.Failed(); {
		var trials []trial
		for range 100 {
			rnd := rand.New(rand.NewPCG(seed, n))
			trials = append(trials, randomTrial(calms[rnd.IntN(len(calms))], rnd))
			n++
		}
		sum := try(t, trials)
		kills, recoveries = kills+int(sum.kills.Load()), recoveries+int(sum.recoveries.Load())
		fmt.Printf("crash: %d kills, %d recoveries; to go on: HOLDFAST_CRASH_STORE=%s HOLDFAST_CRASH_KILLS=%d HOLDFAST_CRASH_SEED=%d HOLDFAST_CRASH_FROM=%d\n",
			kills, recoveries, l.name, max(want-kills, 0), seed, n)
	}
}

func skipShort(t *testing.T) {
	if testing.Short() {
		t.Skip("kills processes: run by make crash")
	}
}

func seedOf(t *testing.T) uint64 {
	seed, err := strconv.ParseUint(os.Getenv("HOLDFAST_CRASH_SEED"), 10, 64)
	if err != nil {
		seed = rand.Uint64()
	}
	t.Logf("HOLDFAST_CRASH_SEED=%d", seed)
	return seed
}

// fatesOf lists the ends that a process had to choose from which did what the report says.
func fatesOf(r crash.Report) (fates []string) {
	for n := range r.Calls {
		fates = append(fates, fmt.Sprintf("call %d before", n+1), fmt.Sprintf("call %d after", n+1))
	}
	for _, p := range slices.Sorted(maps.Keys(r.Points)) {
		for n := range min(r.Points[p], hits(p)) {
			fates = append(fates, fmt.Sprintf("point %d %s", n+1, p))
		}
	}
	return fates
}

// hits is how many hits of a point are worth a trial: of the results of siblings each leaves another thread behind.
func hits(point string) int {
	if point == "kept" {
		return 8
	}
	return 2
}

// again kills half of those that recover, somewhere early.
func again(rnd *rand.Rand) string {
	if rnd.IntN(2) == 0 {
		return ""
	}
	return fmt.Sprintf("call %d %s", 1+rnd.IntN(14), []string{"before", "after"}[rnd.IntN(2)])
}

// randomTrial kills up to four processes in a row. More of them without progress would be a crash loop (E21).
func randomTrial(c *calm, rnd *rand.Rand) trial {
	var fates []string
	for n := range 1 + rnd.IntN(4) {
		list := fatesOf(c.reports[min(n, len(c.reports)-1)])
		fates = append(fates, list[rnd.IntN(len(list))])
	}
	return trial{c, fates}
}

func report(t *testing.T, sum *tally, seed uint64, want int64) {
	t.Helper()
	kills, recoveries := sum.kills.Load(), sum.recoveries.Load()
	fmt.Printf("%s: %d kills hit, %d recoveries, seed %d\n", t.Name(), kills, recoveries, seed)
	if kills < want && !t.Failed() {
		t.Errorf("%d processes were killed; fewer than %d prove nothing", kills, want)
	}
}
