// Command victim plays a scene on a store and dies where it is told to. The test in the folder above starts it.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/crash"
	"github.com/holdfast-go/holdfast/internal/faultstore"
	"github.com/holdfast-go/holdfast/internal/stores"
)

func main() {
	code, err := run()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

func run() (code int, err error) {
	url := flag.String("store", "", "URL of the store, as package stores takes it")
	path := flag.String("ledger", "", "ledger file")
	name := flag.String("scene", "", "scene to play")
	mode := flag.String("mode", "", "durability: sync, async or exit")
	answer := flag.Bool("answer", false, "answer questions")
	lease := flag.Duration("lease", 15*time.Second, "lease of a thread")
	patience := flag.Duration("patience", 5*time.Second, "how long a run waits for a store that is away")
	fate := flag.String("fate", "", "where to die, as in \"call 3 before\", \"call 3 after\" or \"point 1 written E\"; \"stop 1 written E\" stops instead")
	sealed := flag.Bool("sealed", false, "sign and encrypt what the store keeps")
	host := flag.String("host", "", "the machine that the store is told of; default this one")
	turns := flag.Int("turns", 0, "instead of a scene: turns that each goroutine takes")
	goroutines := flag.Int("goroutines", 1, "how many take turns")
	broken := flag.String("broken", "", "fault that a store must not have")
	flag.Parse()

	scene, err := crash.SceneOf(*name)
	if err != nil {
		return crash.ExitFailed, err
	}
	ledger, err := crash.OpenLedger(*path)
	if err != nil {
		return crash.ExitFailed, err
	}
	defer ledger.Close()
	end, err := crash.ParseFate(*fate)
	if err != nil {
		return crash.ExitFailed, err
	}
	ctx := context.Background()
	real, err := stores.Open(ctx, *url)
	if err != nil {
		return crash.ExitFailed, err
	}
	defer real.Close()
	if *sealed {
		if real, err = crash.Seal(real); err != nil {
			return crash.ExitFailed, err
		}
	}
	if *turns > 0 {
		return outcomeOf(crash.Turns(ctx, real, ledger, *goroutines, *turns, *lease))
	}
	inner, err := crash.Break(real, *broken)
	if err != nil {
		return crash.ExitFailed, err
	}
	store := faultstore.New(inner)
	end.Watch(store, ledger)
	if *host != "" {
		crash.Pretend(store, *host)
	}
	app, err := scene.Compile(ledger, graph.Options{Store: store, Durability: graph.Durability(*mode), Lease: *lease, StorePatience: *patience})
	if err != nil {
		return crash.ExitFailed, err
	}
	mortal, cancel := context.WithCancel(ctx)
	defer cancel()
	end.Cancel = cancel
	out, err := scene.Play(mortal, app, store, *answer)
	if mortal.Err() != nil && err != nil {
		out, err = scene.Play(ctx, app, store, *answer)
	}
	for until := time.Now().Add(*patience); errors.Is(err, checkpoint.ErrUnavailable) && time.Now().Before(until); {
		out, err = scene.Play(ctx, app, store, *answer) // a read found the store away
	}
	err = errors.Join(err, app.Close(ctx))
	return report(out, end, err)
}

func outcomeOf(err error) (int, error) {
	if err != nil {
		return crash.ExitFailed, err
	}
	return crash.ExitDone, nil
}

// report prints what the test wants to know: the outcome, and which fates there were to choose from.
func report(out *crash.Outcome, end *crash.Fate, err error) (int, error) {
	code := crash.ExitDone
	switch {
	case errors.Is(err, crash.ErrWaiting):
		code, err = crash.ExitWaiting, nil
	case errors.Is(err, checkpoint.ErrStale):
		code = crash.ExitStale
	case err != nil:
		code = crash.ExitFailed
	}
	encoded := json.NewEncoder(os.Stdout).Encode(crash.Report{Outcome: out, Calls: end.Calls(), Points: end.Points()})
	return code, errors.Join(err, encoded)
}
