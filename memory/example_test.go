package memory_test

import (
	"fmt"

	"github.com/holdfast-go/holdfast/memory"
)

func Example() {
	scope, err := memory.NewScope("acme", "ann") // from the authenticated request
	fmt.Println(scope, err)

	_, err = memory.NewScope("acme", "")
	fmt.Println(err)

	support, err := memory.NewAgent("support", memory.Internal, "orders")
	fmt.Println(support.May(memory.Public, "orders"), support.May(memory.Secret, "orders"), support.May(memory.Public, "quotes"), err)
	// Output:
	// "acme"/"ann" <nil>
	// memory: a scope needs a tenant and a user; make it with memory.NewScope from the authenticated request: the user is empty
	// true false false <nil>
}
