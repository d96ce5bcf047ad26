package audit

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

// NewMemory returns a log in memory, for tests.
func NewMemory(o Options) (*Log, error) { return New(&inMemory{chains: map[string]*kept{}}, o) }

// inMemory is a back end. A transaction works on a copy of the little that can be undone.
type inMemory struct {
	mu     sync.Mutex
	chains map[string]*kept
}

// kept is what there is of a tenant.
type kept struct {
	head  Head
	rows  []Row
	names map[string]Name   // by token
	users map[string]string // tokens by name
	gone  map[string]bool   // hashes of scopes
}

func (b *inMemory) run(ctx context.Context, tenant string, f func(Tx) error, keep bool) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	was := b.chains[tenant]
	if was == nil {
		was = &kept{names: map[string]Name{}, users: map[string]string{}, gone: map[string]bool{}}
	}
	x := &inMemoryTx{kept: *was, now: time.Now().UTC().Truncate(time.Microsecond)}
	if err := f(x); err != nil {
		return err
	}
	if keep {
		b.chains[tenant] = &x.kept
	}
	return nil
}

func (b *inMemory) View(ctx context.Context, tenant string, f func(Tx) error) error {
	return b.run(ctx, tenant, f, false)
}

func (b *inMemory) Update(ctx context.Context, tenant string, f func(Tx) error) error {
	return b.run(ctx, tenant, f, true)
}

func (*inMemory) Erased(context.Context) error  { return nil }
func (*inMemory) Compact(context.Context) error { return nil }
func (*inMemory) Close() error                  { return nil }

type inMemoryTx struct {
	kept
	now time.Time
}

func (x *inMemoryTx) Now() time.Time { return x.now }

func (x *inMemoryTx) Head(context.Context) (Head, error) { return x.head, nil }

func (x *inMemoryTx) Rows(_ context.Context, s Select) (out []Row, err error) {
	for _, r := range x.rows[x.behind(s.After):] {
		if s.has(r) {
			out = append(out, r)
		}
		if len(out) == s.Limit {
			break
		}
	}
	return out, nil
}

// behind is the place of the first row after a number.
func (x *inMemoryTx) behind(n int64) int {
	i, _ := slices.BinarySearchFunc(x.rows, n+1, func(r Row, n int64) int { return int(r.N - n) })
	return i
}

func (s Select) has(r Row) bool {
	is := func(want, have string) bool { return want == "" || want == have }
	return is(s.User, r.User) && is(s.Agent, r.Agent) && is(s.Box, r.Box) && (s.From.IsZero() || !r.At.Before(s.From)) &&
		(s.To.IsZero() || r.At.Before(s.To))
}

func (x *inMemoryTx) Append(_ context.Context, h Head, names []Name, rows []Row) error {
	x.head, x.rows = h, append(x.rows, rows...)
	if len(names) > 0 {
		x.own()
	}
	for _, n := range names {
		x.names[n.Token], x.users[n.User] = n, n.Token
	}
	return nil
}

// own copies the names before they are changed.
func (x *inMemoryTx) own() { x.names, x.users = maps.Clone(x.names), maps.Clone(x.users) }

func (x *inMemoryTx) Trim(ctx context.Context, h Head, upTo int64) error {
	x.head, x.rows = h, slices.Clone(x.rows[x.behind(upTo):])
	used := map[string]bool{}
	for _, r := range x.rows {
		used[r.User] = true
	}
	for token := range x.names {
		if !used[token] {
			if err := x.DeleteName(ctx, token); err != nil {
				return err
			}
		}
	}
	return nil
}

func (x *inMemoryTx) NamesOf(ctx context.Context, users []string) ([]Name, error) {
	var tokens []string
	for _, u := range users {
		tokens = append(tokens, x.users[u])
	}
	return x.Names(ctx, tokens)
}

func (x *inMemoryTx) Names(_ context.Context, tokens []string) (out []Name, err error) {
	for _, t := range tokens {
		if n, ok := x.names[t]; ok {
			out = append(out, n)
		}
	}
	return out, nil
}

func (x *inMemoryTx) DeleteName(_ context.Context, token string) error {
	x.own()
	delete(x.users, x.names[token].User)
	delete(x.names, token)
	return nil
}

func (x *inMemoryTx) Erased(_ context.Context, scopes []string) (out []string, err error) {
	for _, s := range scopes {
		if x.gone[s] {
			out = append(out, s)
		}
	}
	return out, nil
}

func (x *inMemoryTx) PutErased(_ context.Context, scope string, erased bool) error {
	x.gone = maps.Clone(x.gone)
	x.gone[scope] = erased
	return nil
}
