package secure

import (
	"cmp"
	"context"
	"fmt"

	"github.com/holdfast-go/holdfast/checkpoint"
)

// noChain is a namespace that is never used: a load of it reads all of a thread but records.
const noChain = checkpoint.Namespace("\x00")

// eachChain calls f with every chain of a thread and the position of its last record.
func eachChain(ctx context.Context, inner checkpoint.Store, key checkpoint.Key, f func(c checkpoint.Chain, last int64) error) error {
	l, err := inner.Load(ctx, key, 0, noChain)
	if err != nil {
		return err
	}
	for branch := range l.Head.Branches {
		chains, err := inner.Chains(ctx, key, branch)
		if err != nil {
			return err
		}
		for i := range chains {
			if err := f(checkpoint.Chain{Key: key, Branch: branch, Namespace: chains[i].Namespace}, chains[i].Pos); err != nil {
				return err
			}
		}
	}
	return nil
}

// eachRecord reads a chain in pages.
func eachRecord(ctx context.Context, inner checkpoint.Store, c checkpoint.Chain, f func(r *checkpoint.Record) error) error {
	from := int64(0)
	next := func() ([]checkpoint.Record, error) {
		return inner.Read(ctx, checkpoint.Query{Chain: c, From: from, To: -1, Limit: pageRows})
	}
	return pages(c.Key, next, func(r *checkpoint.Record) (forward bool, err error) {
		forward = r.Pos >= from
		from = r.Pos + 1
		return forward, f(r)
	})
}

// A rowVisitor is called with the rows of a thread that are no records.
type rowVisitor struct {
	question func(*checkpoint.Question) error
	command  func(*checkpoint.Command) error
	run      func(*checkpoint.Run) error
}

// eachRow visits the questions of all branches that are open or answered, the closed ones of the active branch, which
// are all that a store hands out, the inbox and the runs.
func eachRow(ctx context.Context, inner checkpoint.Store, key checkpoint.Key, v rowVisitor) error {
	l, err := inner.Load(ctx, key, 0, noChain)
	if err != nil {
		return err
	}
	for i := range l.Inbox {
		if err := v.command(&l.Inbox[i]); err != nil {
			return err
		}
	}
	for branch := range l.Head.Branches {
		if branch > 0 {
			if l, err = inner.Load(ctx, key, branch, noChain); err != nil {
				return err
			}
		}
		for i := range l.Questions {
			if err := v.question(&l.Questions[i]); err != nil {
				return err
			}
		}
	}
	if err := eachQuestion(ctx, inner, key, checkpoint.Closed, v.question); err != nil {
		return err
	}
	f := checkpoint.RunFilter{Tenant: key.Tenant, Thread: key.Thread, Limit: pageRows}
	return pages(key, func() ([]checkpoint.Run, error) { return inner.Runs(ctx, f) }, func(r *checkpoint.Run) (forward bool, err error) {
		after := checkpoint.RunCursor{Key: r.Key, Run: r.ID}
		forward = cmp.Or(compareKeys(after.Key, f.After.Key), cmp.Compare(after.Run, f.After.Run)) > 0
		f.After = after
		return forward, v.run(r)
	})
}

// eachQuestion visits the questions of the active branch in one state.
func eachQuestion(ctx context.Context, inner checkpoint.Store, key checkpoint.Key, state checkpoint.QuestionState, visit func(*checkpoint.Question) error) error {
	f := checkpoint.QuestionFilter{Tenant: key.Tenant, Thread: key.Thread, State: state, Limit: pageRows}
	return pages(key, func() ([]checkpoint.Question, error) { return inner.Questions(ctx, f) }, func(q *checkpoint.Question) (forward bool, err error) {
		after := checkpoint.QuestionCursor{Asked: q.Asked, Key: q.Key, ID: q.ID}
		forward = f.After.ID == "" || cmp.Or(after.Asked.Compare(f.After.Asked), compareKeys(after.Key, f.After.Key), cmp.Compare(after.ID, f.After.ID)) > 0
		f.After = after
		return forward, visit(q)
	})
}

// pages visits the rows of a list page by page. A forged row could send the list back to where it was: that is refused,
// since it would never end.
func pages[T any](key checkpoint.Key, next func() ([]T, error), visit func(*T) (forward bool, err error)) error {
	for {
		rows, err := next()
		if err != nil {
			return err
		}
		for i := range rows {
			forward, err := visit(&rows[i])
			if err != nil {
				return err
			}
			if !forward {
				at := row{key: key, what: "list of rows"}
				return at.refuse(fmt.Errorf("%w: it is out of order", ErrTampered))
			}
		}
		if len(rows) < pageRows {
			return nil
		}
	}
}

func compareKeys(a, b checkpoint.Key) int {
	return cmp.Or(cmp.Compare(a.Tenant, b.Tenant), cmp.Compare(a.Thread, b.Thread))
}
