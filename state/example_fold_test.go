package state_test

import (
	"fmt"

	"github.com/holdfast-go/holdfast/state"
)

// longest is a reducer of one's own.
type longest struct{}

func (longest) Reduce(acc, w string) (string, error) {
	if len(w) > len(acc) {
		return w, nil
	}
	return acc, nil
}

// The reducer is chosen by type.
func ExampleFold() {
	var s struct {
		Best state.Fold[string, longest] `json:"best"`
	}
	s.Best.Put("maybe")
	s.Best.Put("certainly")
	s.Best.Put("no")
	fmt.Println(s.Best.Get())
	// Output: certainly
}
