package main

import (
	"context"
	"errors"

	"github.com/holdfast-go/holdfast/examples/aftersales/shop"
	"github.com/holdfast-go/holdfast/graph"
)

// riskLimit is the number of points from which a person must approve, whatever the amount.
const riskLimit = 30

// A clerk does the work of the nodes that talk to the shop. It holds nothing of any refund.
type clerk struct {
	shop     *shop.Client
	articles graph.Sender[shop.Item]
}

// find looks the order up, and sends each of its articles to be assessed while the policy is checked.
func (c *clerk) find(ctx context.Context, s *Refund) (graph.Next, error) {
	s.Trail.Append("find")
	order, err := c.order(ctx, s.Request.Get())
	if e, no := shop.Refused(err); no {
		return turnDown(s, Rejected, e.Code), nil
	}
	if err != nil {
		return graph.Next{}, err
	}
	if order.Customer != s.Request.Get().Customer {
		return turnDown(s, Rejected, shop.CodeNotYours), nil // and nothing of it goes into the state
	}
	s.Order.Set(order)
	if len(order.Items) == 0 {
		return turnDown(s, Rejected, shop.CodeRefunded), nil
	}
	return graph.To("policy").And(c.articles.Send(order.Items...)), nil
}

func (c *clerk) order(ctx context.Context, r Request) (shop.Order, error) {
	if r.Order == "" {
		return c.shop.Latest(ctx, r.Customer)
	}
	return c.shop.Order(ctx, r.Order)
}

func (c *clerk) policy(ctx context.Context, s *Refund) error {
	s.Trail.Append("policy")
	r := s.Request.Get()
	check, err := c.shop.Check(ctx, s.Order.Get().ID, r.Customer, r.Amount)
	if e, no := shop.Refused(err); no {
		check, err = shop.Check{Code: e.Code}, nil
	}
	if err != nil {
		return err
	}
	s.Check.Set(check)
	return nil
}

// assess runs once for each article of the order, all at the same time.
func (c *clerk) assess(ctx context.Context, s *Refund, it shop.Item) error {
	p, err := c.shop.Product(ctx, it.SKU)
	if err != nil {
		return err
	}
	points := p.Returns * it.Count
	s.Risk.Put(it.SKU, points)
	s.Points.Add(points)
	return graph.Emit(ctx, "risk", finding{it.NameEN, it.NameZH, points})
}

// decide runs once, after the check and all assessments.
func decide(_ context.Context, s *Refund) (graph.Next, error) {
	s.Trail.Append("assess", "decide")
	check := s.Check.Get()
	if !check.Allowed {
		return turnDown(s, Rejected, check.Code), nil
	}
	amount := s.Request.Get().Amount
	if amount == 0 {
		amount = check.Refundable
	}
	s.Amount.Set(amount)
	if amount > check.ApprovalAbove || s.Points.Get() >= riskLimit {
		return graph.To("approve"), nil
	}
	return graph.To("pay"), nil
}

// approve asks a person, who must not be the customer. Until the answer comes nothing is held: no goroutine, no process.
func approve(ctx context.Context, s *Refund) (graph.Next, error) {
	r := s.Request.Get()
	bill := Bill{s.Order.Get().ID, r.Customer, s.Amount.Get(), s.Check.Get().ApprovalAbove, s.Points.Get(), r.Reason}
	answer, err := graph.Ask(ctx, "approve", bill, graph.AskOptions[Approval]{NotBy: r.Customer})
	if err != nil {
		return graph.Next{}, err
	}
	s.Trail.Append("approve")
	s.Approval.Set(answer)
	if !answer.Approved {
		return turnDown(s, Denied, ""), nil
	}
	return graph.To("pay"), nil
}

// pay moves the money. The key is the same on every attempt and in every process, so whatever gets lost on the way, the
// shop pays once and answers every repetition with the first receipt.
func (c *clerk) pay(ctx context.Context, s *Refund) error {
	r, order := s.Request.Get(), s.Order.Get().ID
	rec, err := graph.Once(ctx, "pay", func(ctx context.Context, key string) (shop.Receipt, error) {
		return c.shop.Refund(ctx, order, key, shop.Wish{Customer: r.Customer, Amount: s.Amount.Get(), Reason: r.Reason})
	})
	if err != nil {
		return err
	}
	s.Trail.Append("pay")
	s.Receipt.Set(rec)
	return nil
}

// errNotBooked says that the ledger has no payment under the key.
var errNotBooked = errors.New("the ledger has no such payment")

// unpaid runs when pay has failed for good: the shop said no, or did not answer however often it was asked. It does not
// guess. The ledger tells whether the money moved: the Once of the same name has the same key. If the ledger cannot be
// read either, the run fails, and whoever resumes it tries to pay again, under that key.
func (c *clerk) unpaid(ctx context.Context, s *Refund, cause error) (graph.Next, error) {
	rec, err := graph.Once(ctx, "pay", func(ctx context.Context, key string) (shop.Receipt, error) {
		return c.booked(ctx, s.Order.Get().ID, key)
	})
	if errors.Is(err, errNotBooked) {
		code := shop.CodeUnavailable
		if e, no := shop.Refused(cause); no {
			code = e.Code
		}
		return turnDown(s, Refused, code), nil
	}
	if err != nil {
		return graph.Next{}, err
	}
	s.Trail.Append("pay")
	s.Receipt.Set(rec)
	return graph.Next{}, nil // on to the customer and the books, as if pay had succeeded
}

func (c *clerk) booked(ctx context.Context, order, key string) (shop.Receipt, error) {
	lines, err := c.shop.Ledger(ctx, order)
	if err != nil {
		return shop.Receipt{}, err
	}
	for _, l := range lines {
		if l.Key == key {
			return shop.Receipt{ID: l.Receipt, Order: l.Order, Amount: l.Amount, At: l.At}, nil
		}
	}
	return shop.Receipt{}, errNotBooked
}

func (c *clerk) notify(ctx context.Context, s *Refund) error {
	if err := c.tell(ctx, s, refundedNotice(s)); err != nil {
		return err
	}
	s.Trail.Append("notify")
	return nil
}

// tell sends the customer a notice, once.
func (c *clerk) tell(ctx context.Context, s *Refund, text string) error {
	n, err := graph.Once(ctx, "notify", func(ctx context.Context, key string) (shop.Notice, error) {
		return c.shop.Notify(ctx, s.Order.Get().ID, key, text)
	})
	if err != nil {
		return err
	}
	s.Notices.Put(n)
	return nil
}

func (c *clerk) books(ctx context.Context, s *Refund) error {
	rec := s.Receipt.Get()
	b, err := graph.Once(ctx, "book", func(ctx context.Context, key string) (shop.Booking, error) {
		return c.shop.Book(ctx, key, rec.ID, rec.Amount)
	})
	if err != nil {
		return err
	}
	s.Trail.Append("books")
	s.Booking.Set(b)
	return nil
}

func done(_ context.Context, s *Refund) error {
	s.Trail.Append("done")
	s.Outcome.Set(Outcome{Refunded, shop.CodeOK})
	return nil
}

// turnDown ends the refund with a reason. The customer hears of it, if the order is the customer's.
func turnDown(s *Refund, status Status, code shop.Code) graph.Next {
	s.Outcome.Set(Outcome{status, code})
	return graph.To("decline")
}

func (c *clerk) decline(ctx context.Context, s *Refund) error {
	s.Trail.Append("decline")
	if !s.Order.Has() {
		return nil
	}
	return c.tell(ctx, s, declinedNotice(s))
}
