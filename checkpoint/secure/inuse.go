package secure

import (
	"context"

	"github.com/holdfast-go/holdfast/checkpoint"
)

// KeysInUse counts the rows of a tenant by the id of their key; those that are not sealed are under "". An empty tenant
// means all. It reads every row, and for Encrypt over Sign it checks the rows below. A key may leave the keyring when
// every process has another current key and no row is left under it. Closed questions of branches that are not active
// are not counted: no store hands them out. Neither are cached bodies: one whose key is gone is a miss.
func (s *store) KeysInUse(ctx context.Context, tenant string) (map[string]int64, error) {
	uses := map[string]int64{}
	f := checkpoint.ThreadFilter{Tenant: tenant, Limit: pageRows}
	next := func() ([]checkpoint.Head, error) { return s.inner.Threads(ctx, f) }
	err := pages(checkpoint.Key{Tenant: tenant}, next, func(h *checkpoint.Head) (forward bool, err error) {
		forward = compareKeys(h.Key, f.After) > 0
		f.After = h.Key
		return forward, s.countThread(ctx, h.Key, uses)
	})
	return uses, err
}

func (s *store) countThread(ctx context.Context, key checkpoint.Key, uses map[string]int64) error {
	inChain, other := s.guard.forms()
	count := func(stored []byte, f form) {
		id, _, _, ok := cutHeader(stored)
		if !ok || !sealed(stored, f) {
			id = ""
		}
		uses[id]++
	}
	err := eachChain(ctx, s.inner, key, func(c checkpoint.Chain, _ int64) error {
		return eachRecord(ctx, s.inner, c, func(r *checkpoint.Record) error {
			count(r.Body, inChain)
			return nil
		})
	})
	if err != nil {
		return err
	}
	return eachRow(ctx, s.inner, key, rowVisitor{
		question: func(q *checkpoint.Question) error {
			count(q.Body, other)
			if answered(q) {
				count(q.Answer, other)
			}
			return nil
		},
		command: func(c *checkpoint.Command) error {
			count(c.Body, other)
			return nil
		},
		run: func(r *checkpoint.Run) error {
			if r.Error != "" {
				stored, _ := cutText(r.Error)
				count(stored, other)
			}
			return nil
		},
	})
}
