package graphotel

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
)

// Load implements checkpoint.Log.
func (s *store) Load(ctx context.Context, key checkpoint.Key, branch int32, ns checkpoint.Namespace) (*checkpoint.Loaded, error) {
	return observe(ctx, s, "Load", key, func(ctx context.Context) (*checkpoint.Loaded, error) {
		return s.Store.Load(ctx, key, branch, ns)
	}, func(l *checkpoint.Loaded) []checkpoint.Record { return l.Records })
}

// Read implements checkpoint.Log.
func (s *store) Read(ctx context.Context, q checkpoint.Query) ([]checkpoint.Record, error) {
	return observe(ctx, s, "Read", q.Key, func(ctx context.Context) ([]checkpoint.Record, error) {
		return s.Store.Read(ctx, q)
	}, func(rs []checkpoint.Record) []checkpoint.Record { return rs })
}

// Chains implements checkpoint.Log.
func (s *store) Chains(ctx context.Context, key checkpoint.Key, branch int32) ([]checkpoint.Record, error) {
	return observe(ctx, s, "Chains", key, func(ctx context.Context) ([]checkpoint.Record, error) {
		return s.Store.Chains(ctx, key, branch)
	})
}

// Append implements checkpoint.Log.
func (s *store) Append(ctx context.Context, a *checkpoint.Append) (checkpoint.Ack, error) {
	return observe(ctx, s, "Append", a.Key, func(ctx context.Context) (checkpoint.Ack, error) {
		return s.Store.Append(ctx, a)
	}, func(checkpoint.Ack) []checkpoint.Record { return a.Records })
}

// Trim implements checkpoint.Log.
func (s *store) Trim(ctx context.Context, c checkpoint.Chain, below int64) (int64, error) {
	return observe(ctx, s, "Trim", c.Key, func(ctx context.Context) (int64, error) { return s.Store.Trim(ctx, c, below) })
}

// Delete implements checkpoint.Log.
func (s *store) Delete(ctx context.Context, key checkpoint.Key) error {
	_, err := observe(ctx, s, "Delete", key, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, s.Store.Delete(ctx, key)
	})
	return err
}

// Acquire implements checkpoint.Leaser.
func (s *store) Acquire(ctx context.Context, a *checkpoint.Acquire) (checkpoint.Head, error) {
	return observe(ctx, s, "Acquire", a.Key, func(ctx context.Context) (checkpoint.Head, error) {
		return s.Store.Acquire(ctx, a)
	}, func(checkpoint.Head) []checkpoint.Record { return a.Records })
}

// Renew implements checkpoint.Leaser. It is about many threads, so its span names none.
func (s *store) Renew(ctx context.Context, leases []checkpoint.Lease, ttl time.Duration) ([]checkpoint.Renewal, error) {
	return observe(ctx, s, "Renew", checkpoint.Key{}, func(ctx context.Context) ([]checkpoint.Renewal, error) {
		return s.Store.Renew(ctx, leases, ttl)
	})
}

// Release implements checkpoint.Leaser.
func (s *store) Release(ctx context.Context, l checkpoint.Lease, seen int64) (bool, error) {
	return observe(ctx, s, "Release", l.Key, func(ctx context.Context) (bool, error) { return s.Store.Release(ctx, l, seen) })
}

// Answer implements checkpoint.Desk.
func (s *store) Answer(ctx context.Context, key checkpoint.Key, replies []checkpoint.Reply) (int64, error) {
	return observe(ctx, s, "Answer", key, func(ctx context.Context) (int64, error) { return s.Store.Answer(ctx, key, replies) })
}

// Post implements checkpoint.Desk.
func (s *store) Post(ctx context.Context, c checkpoint.Command) (int64, error) {
	return observe(ctx, s, "Post", c.Key, func(ctx context.Context) (int64, error) { return s.Store.Post(ctx, c) })
}

// Inbox implements checkpoint.Desk.
func (s *store) Inbox(ctx context.Context, key checkpoint.Key) ([]checkpoint.Command, error) {
	return observe(ctx, s, "Inbox", key, func(ctx context.Context) ([]checkpoint.Command, error) { return s.Store.Inbox(ctx, key) })
}

// Threads implements checkpoint.Directory.
func (s *store) Threads(ctx context.Context, f checkpoint.ThreadFilter) ([]checkpoint.Head, error) {
	return observe(ctx, s, "Threads", checkpoint.Key{}, func(ctx context.Context) ([]checkpoint.Head, error) {
		return s.Store.Threads(ctx, f)
	})
}

// Runs implements checkpoint.Directory.
func (s *store) Runs(ctx context.Context, f checkpoint.RunFilter) ([]checkpoint.Run, error) {
	return observe(ctx, s, "Runs", checkpoint.Key{}, func(ctx context.Context) ([]checkpoint.Run, error) { return s.Store.Runs(ctx, f) })
}

// Questions implements checkpoint.Directory.
func (s *store) Questions(ctx context.Context, f checkpoint.QuestionFilter) ([]checkpoint.Question, error) {
	return observe(ctx, s, "Questions", checkpoint.Key{}, func(ctx context.Context) ([]checkpoint.Question, error) {
		return s.Store.Questions(ctx, f)
	})
}
