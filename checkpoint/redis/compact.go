package redis

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	goredis "github.com/redis/go-redis/v9"
)

var _ checkpoint.Compacter = (*Store)(nil)

// Compact implements checkpoint.Compacter. First the names of deleted threads go from the index: it keeps them until no write that was
// announced can come, ten operation time-outs after they were noticed, for which Compact waits. Then each master writes its append-only
// file and its snapshot anew, where it has them, beside its other work. Replicas and backups keep what was deleted for as long as they
// keep anything.
func (s *Store) Compact(ctx context.Context) error {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, 60*s.o.OpTimeout)
		defer cancel()
	}
	if err := s.sweep(ctx); err != nil {
		return err
	}
	_, err := do(ctx, s, func(ctx context.Context) (struct{}, error) { return struct{}{}, s.eachMaster(ctx, rewrite) })
	return err
}

// sweep takes out of the index what does not belong: the first look makes it suspect, the second, a grace later, takes it out.
func (s *Store) sweep(ctx context.Context) error {
	doubts, err := do(ctx, s, s.doubts)
	if err != nil || doubts == 0 {
		return err
	}
	if err := rest(ctx, time.Duration(s.grace())*time.Millisecond+pollEvery); err != nil {
		return err
	}
	_, err = do(ctx, s, s.doubts)
	return err
}

// pollEvery is the time between two looks at what the server does.
const pollEvery = 20 * time.Millisecond

// doubts looks at all of the index, and returns how much does not belong in it.
func (s *Store) doubts(ctx context.Context) (n int, err error) {
	for _, set := range []string{"a", "l", "w", "i"} {
		w := s.threadsFrom(set, "", checkpoint.Key{}, false)
		if err := w.each(ctx, 1000, func(look) (bool, error) { return true, nil }); err != nil {
			return 0, err
		}
		n += w.doubts
	}
	w, _, err := s.byAge(ctx, &checkpoint.QuestionFilter{Expired: true, Limit: math.MaxInt32})
	return n + w.doubts, err
}

// eachMaster runs f with each server that has threads.
func (s *Store) eachMaster(ctx context.Context, f func(context.Context, goredis.UniversalClient) error) error {
	if c, ok := s.client.(*goredis.ClusterClient); ok {
		return c.ForEachMaster(ctx, func(ctx context.Context, c *goredis.Client) error { return f(ctx, c) })
	}
	return f(ctx, s.client)
}

// rewrite has one server write its files anew, one after the other.
func rewrite(ctx context.Context, c goredis.UniversalClient) error {
	about, err := persistence(ctx, c)
	if err != nil {
		return err
	}
	if about["aof_enabled"] == "1" {
		if err := anew(ctx, c, "aof_rewrite", "aof_last_bgrewrite_status", c.BgRewriteAOF); err != nil {
			return err
		}
	}
	saves, err := c.ConfigGet(ctx, "save").Result()
	if err == nil && saves["save"] == "" {
		return nil // it writes no snapshot
	}
	return anew(ctx, c, "rdb_bgsave", "rdb_last_bgsave_status", c.BgSave)
}

// anew has a file written by a background job that begins after this call, and waits for its end.
func anew(ctx context.Context, c goredis.UniversalClient, job, status string, begin func(context.Context) *goredis.StatusCmd) error {
	for begun := false; ; {
		about, err := persistence(ctx, c)
		if err != nil {
			return err
		}
		busy := about["aof_rewrite_in_progress"] == "1" || about["aof_rewrite_scheduled"] == "1" || about["rdb_bgsave_in_progress"] == "1"
		switch {
		case busy: // also with one that had begun before, which may have what was deleted since
		case begun && about[status] != "ok":
			return fmt.Errorf("redis: %s: the server says %q", job, about[status])
		case begun:
			return nil
		default:
			if err := begin(ctx).Err(); err != nil && !strings.Contains(err.Error(), "in progress") {
				return failure(err)
			} else if err == nil {
				begun = true
			}
		}
		if err := rest(ctx, pollEvery); err != nil {
			return err
		}
	}
}

// rest waits.
func rest(ctx context.Context, wait time.Duration) error {
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return late(context.Cause(ctx))
	}
}

// persistence is what a server says of its files.
func persistence(ctx context.Context, c goredis.UniversalClient) (map[string]string, error) {
	text, err := c.Info(ctx, "persistence").Result()
	if err != nil {
		return nil, failure(err)
	}
	about := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			about[name] = value
		}
	}
	if len(about) == 0 {
		return nil, errors.New("redis: the server says nothing of its files")
	}
	return about, nil
}
