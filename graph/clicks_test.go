package graph_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/sqlite"
	"github.com/holdfast-go/holdfast/graph"
)

// Two people click different answers on one question, each in a process of its own. Exactly one wins, and the other learns
// who it was and what he said. // E31 // E35 // report 138
func TestTwoPeopleClick(t *testing.T) {
	t.Parallel()
	rounds := 10_000
	if testing.Short() {
		rounds = 500
	}
	file, err := sqlite.Open(filepath.Join(t.TempDir(), "db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	won := map[string]int{}
	for _, c := range []struct {
		store  checkpoint.Store
		rounds int
	}{{new(checkpoint.Memory), rounds - rounds/50}, {file, rounds / 50}} {
		apps := []*graph.App[notes]{}
		for range 2 {
			apps = append(apps, compile(t, deciding(graph.AskOptions[string]{}), graph.Options{Store: c.store}))
		}
		for i := range c.rounds {
			won[click(t, c.store, apps, graph.ID(fmt.Sprint(i)))]++
		}
	}
	t.Logf("%d rounds: %v", rounds, won)
	if len(won) != 2 {
		t.Errorf("the same person has won each time: the clicks never met")
	}
}

// click is one round. It returns who won.
func click(t *testing.T, s checkpoint.Store, apps []*graph.App[notes], th graph.Thread) string {
	t.Helper()
	_, err := apps[0].Run(t.Context(), th, nil)
	q := paused(t, err).Questions[0]
	people := []string{"ada", "bob"}
	var errs [2]error
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i, who := range people {
		wg.Go(func() {
			<-start
			_, errs[i] = apps[i].Resume(t.Context(), th, graph.Answer(q, "from "+who).By(who))
		})
	}
	close(start)
	wg.Wait()
	winner := 0
	if errs[0] != nil {
		winner = 1
	}
	if errs[winner] != nil {
		t.Fatalf("%s: nobody has won: %v; %v", th, errs[0], errs[1])
	}
	late, ok := errors.AsType[*checkpoint.NotPendingError](errs[1-winner])
	who, what := people[winner], "from "+people[winner]
	if !ok || late.By != who || string(late.Answer) != `"`+what+`"` || late.At.IsZero() {
		t.Fatalf("%s: %s has won, and the other learns %v", th, who, errs[1-winner])
	}
	st, err := apps[1].State(t.Context(), th)
	if err != nil || st.State.Value.Get() != what || st.Status != checkpoint.Completed {
		t.Fatalf("%s: %v %+v", th, err, st)
	}
	if u := uses(t, s, th); len(u) != 1 || u[0].By != who || string(u[0].Value) != `"`+what+`"` {
		t.Fatalf("%s: the log has %+v", th, u)
	}
	return who
}
