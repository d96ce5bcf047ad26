package graph_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/state"
)

// The state as the first version has it, and as the second does: an amount is a number of cents now, and has another name.
type invoiceV1 struct {
	Amount state.Last[string] `json:"amount"`
}

type invoice struct {
	Cents state.Last[int]    `json:"cents"`
	Log   state.List[string] `json:"log"`
}

// A thread waits for a person while the program is replaced. The second version calls the node and the field otherwise; the question is
// answered with the id that it had.
func ExampleGraph_Migrate() {
	ctx, store := context.Background(), new(checkpoint.Memory)

	v1 := graph.New[invoiceV1]("invoice")
	v1.Version(1)
	v1.Node("approve", func(ctx context.Context, s *invoiceV1) error {
		_, err := graph.Ask[bool](ctx, "ok", "Pay "+s.Amount.Get()+"?")
		return err
	})
	v1.Edge(graph.Start, "approve")
	old, err := v1.Compile(graph.Options{Store: store})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = old.Run(ctx, graph.ID("1"), func(s *invoiceV1) { s.Amount.Set("12.50") })
	asked, _ := errors.AsType[*graph.Interrupted](err)

	v2 := graph.New[invoice]("invoice")
	v2.Version(2)
	v2.Node("review", func(ctx context.Context, s *invoice) error {
		ok, err := graph.Ask[bool](ctx, "ok", fmt.Sprintf("Pay %d.%02d?", s.Cents.Get()/100, s.Cents.Get()%100))
		s.Log.Append(fmt.Sprint("paid: ", ok, " ", s.Cents.Get()))
		return err
	})
	v2.Edge(graph.Start, "review")
	v2.Migrate(1, 2, func(m *graph.Migration) error {
		m.RenameNode("approve", "review")
		graph.Convert(m, func(old *invoiceV1, now *invoice) error {
			if old.Amount.Get() == "" { // a thread in which it was never written
				return nil
			}
			amount, err := strconv.ParseFloat(old.Amount.Get(), 64)
			now.Cents.Set(int(amount*100 + 0.5))
			return err
		})
		return nil
	})
	app, err := v2.Compile(graph.Options{Store: store})
	if err != nil {
		fmt.Println(err)
		return
	}
	out, err := app.Resume(ctx, graph.ID("1"), graph.AnswerID(asked.Questions[0].ID, true))
	fmt.Println(out.Log.Slice(), err)

	_, err = old.Run(ctx, graph.ID("1"), nil)
	fmt.Println(errors.Is(err, graph.ErrIncompatible)) // the first version lets the thread alone from now on
	// Output:
	// [paid: true 1250] <nil>
	// true
}
