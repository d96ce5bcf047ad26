package extract_test

import (
	"fmt"
	"testing"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/extract"
	"github.com/holdfast-go/holdfast/memory/longterm"
	"github.com/holdfast-go/holdfast/message"
)

// R83: what a user takes back in their own words, without a subject that a rule has a key for, is gone with the same message.
func TestTakenBackAtOnce(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{{"I like green tea.", "Forget that I like green tea."}, {"我喜欢喝绿茶。", "忘掉我喜欢喝绿茶这件事。"}} {
		store, err := longterm.NewMemory(longterm.Options{Rules: extract.Rules()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { store.Close() })
		sc, _ := memory.NewScope("acme", "ann")
		a, _ := memory.NewAgent("support", memory.Public, "default")
		items := func() int {
			all, err := store.List(t.Context(), sc, a, longterm.Page{})
			if err != nil {
				t.Fatal(err)
			}
			return len(all)
		}
		for i, want := range []int{1, 0} {
			e := longterm.Exchange{Conversation: fmt.Sprint("c", i), Messages: []message.Message{message.User(c[i])}}
			if err := store.Remember(t.Context(), sc, a, e); err != nil {
				t.Fatal(err)
			}
			if got := items(); got != want {
				t.Errorf("after %q there are %d items, want %d", c[i], got, want)
			}
		}
	}
}
