package checkpoint

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// pageRows is the length of a page for which no limit is given.
const pageRows = 100

// Threads implements Directory.
func (m *Memory) Threads(ctx context.Context, f ThreadFilter) ([]Head, error) {
	var out []Head
	err := m.each(ctx, f.Tenant, "", func(t *memThread, now time.Time) {
		h := t.header(now)
		switch {
		case compareKeys(h.Key, f.After) <= 0,
			f.Status != 0 && h.Status != f.Status,
			f.Owner != "" && h.Owner != f.Owner,
			f.Graph != "" && h.Graph != f.Graph,
			f.Held && !h.Held(),
			f.Expired && !h.Expired,
			f.HasInbox && len(t.inbox) == 0,
			!hasMeta(h.Meta, f.Meta):
			return
		}
		out = append(out, h)
	})
	slices.SortFunc(out, func(a, b Head) int { return compareKeys(a.Key, b.Key) })
	return page(out, f.Limit), err
}

// Runs implements Directory.
func (m *Memory) Runs(ctx context.Context, f RunFilter) ([]Run, error) {
	var out []Run
	err := m.each(ctx, f.Tenant, f.Thread, func(t *memThread, _ time.Time) {
		for _, r := range t.runs {
			if cmp.Or(compareKeys(r.Key, f.After.Key), strings.Compare(r.ID, f.After.Run)) > 0 &&
				(f.Status == 0 || r.Status == f.Status) && hasMeta(r.Meta, f.Meta) {
				out = append(out, runCopy(r))
			}
		}
	})
	slices.SortFunc(out, func(a, b Run) int {
		return cmp.Or(compareKeys(a.Key, b.Key), strings.Compare(a.ID, b.ID))
	})
	return page(out, f.Limit), err
}

// Questions implements Directory.
func (m *Memory) Questions(ctx context.Context, f QuestionFilter) ([]Question, error) {
	var out []Question
	after := Question{Asked: f.After.Asked, Key: f.After.Key, ID: f.After.ID}
	err := m.each(ctx, f.Tenant, f.Thread, func(t *memThread, now time.Time) {
		for _, q := range t.questions {
			if q.Branch == t.head.Active && q.State == f.State && (!f.Expired || q.late(now)) &&
				compareQuestions(q.Question, after) > 0 {
				out = append(out, q.seen(now))
			}
		}
	})
	slices.SortFunc(out, compareQuestions)
	return page(out, f.Limit), err
}

// each calls f with every thread of the tenant, or of all tenants, in no order.
func (m *Memory) each(ctx context.Context, tenant, thread string, f func(*memThread, time.Time)) error {
	if err := context.Cause(ctx); err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.closed {
		return ErrClosed
	}
	now := m.now()
	visit := func(t *memThread) {
		t.mu.Lock()
		defer t.mu.Unlock()
		f(t, now)
	}
	if tenant != "" && thread != "" {
		if t := m.threads[Key{tenant, thread}]; t != nil {
			visit(t)
		}
		return nil
	}
	for k, t := range m.threads {
		if (tenant == "" || k.Tenant == tenant) && (thread == "" || k.Thread == thread) {
			visit(t)
		}
	}
	return nil
}

func hasMeta(have, want map[string]string) bool {
	for k, v := range want {
		if got, ok := have[k]; !ok || got != v {
			return false
		}
	}
	return true
}

func page[T any](rows []T, limit int) []T {
	if limit <= 0 {
		limit = pageRows
	}
	return rows[:min(len(rows), limit):min(len(rows), limit)]
}
