package redis_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/redis"
	"github.com/holdfast-go/holdfast/internal/testserver"
	goredis "github.com/redis/go-redis/v9"
)

// C22: a server that evicts is refused, and the error says what to do.
func TestEvictionIsRefused(t *testing.T) {
	t.Parallel()
	server := testserver.NewRedis(t, testserver.RedisConfig{})
	c := raw(t, server)
	for _, policy := range []string{"allkeys-lru", "volatile-ttl"} {
		must(t, c.ConfigSet(t.Context(), "maxmemory-policy", policy).Err())
		_, err := redis.Open(t.Context(), server.URL(), redis.Options{NoEviction: true})
		if !errors.Is(err, redis.ErrConfig) || !strings.Contains(err.Error(), "noeviction") || !strings.Contains(err.Error(), policy) {
			t.Fatalf("open with %s: %v", policy, err)
		}
	}
	must(t, c.ConfigSet(t.Context(), "maxmemory-policy", "noeviction").Err())
	if i := open(t, server, redis.Options{}).Info(); i.Durability != "Redis no AOF" || i.LossWindow != checkpoint.Forever {
		t.Fatalf("info: %+v", i)
	}

	// A managed server that does not show its configuration.
	must(t, c.Do(t.Context(), "acl", "setuser", "app", "on", ">secret", "~*", "+@all", "-config").Err())
	url := "redis://app:secret@" + server.Addr() + "/0"
	if _, err := redis.Open(t.Context(), url, redis.Options{}); !errors.Is(err, redis.ErrConfig) || !strings.Contains(err.Error(), "NoEviction") {
		t.Fatalf("open without CONFIG: %v", err)
	}
	s := openURL(t, url, redis.Options{NoEviction: true})
	if i := s.Info(); i.LossWindow != checkpoint.Forever || !strings.Contains(i.Durability, "unknown") {
		t.Fatalf("info: %+v", i)
	}
	take(t, s, "thread").park(checkpoint.Completed)
}

func TestOptions(t *testing.T) {
	t.Parallel()
	server := testserver.SharedRedis(t)
	for _, o := range []redis.Options{{Prefix: "a{b"}, {Prefix: "}"}, {TTL: -1}, {TTL: time.Microsecond}, {OpTimeout: -1}} {
		if _, err := redis.Open(t.Context(), server.URL(), o); !errors.Is(err, redis.ErrConfig) {
			t.Errorf("options %+v: %v", o, err)
		}
	}
	if _, err := redis.Open(t.Context(), "http://somewhere", redis.Options{}); !errors.Is(err, redis.ErrConfig) {
		t.Errorf("a foreign URL: %v", err)
	}
	if _, err := redis.Open(t.Context(), "redis://127.0.0.1:1/0", redis.Options{OpTimeout: time.Second}); !errors.Is(err, checkpoint.ErrUnavailable) {
		t.Errorf("nobody there: %v", err)
	}
	a, b := open(t, server, redis.Options{Prefix: prefix()}), open(t, server, redis.Options{Prefix: prefix()})
	take(t, a, "thread")
	if heads, err := b.Threads(t.Context(), checkpoint.ThreadFilter{}); err != nil || len(heads) != 0 {
		t.Errorf("another prefix shows %v, %v", heads, err)
	}
}

// A server that has reached maxmemory refuses a write as a whole, says so, and takes the same write later.
func TestFullServer(t *testing.T) {
	t.Parallel()
	server := testserver.NewRedis(t, testserver.RedisConfig{})
	c := raw(t, server)
	s := open(t, server, redis.Options{})
	h := take(t, s, "thread")
	a := h.write(h.record("", strings.Repeat("x", 1000)), h.record("child", "y"))
	a.Park = &checkpoint.Park{Status: checkpoint.Failed, Error: "e"}
	must(t, c.ConfigSet(t.Context(), "maxmemory", "1").Err())
	_, write := s.Append(t.Context(), a)
	_, create := s.Acquire(t.Context(), &checkpoint.Acquire{Key: checkpoint.Key{Tenant: "tenant", Thread: "new"}, Nonce: checkpoint.NewNonce(), TTL: time.Hour})
	_, post := s.Post(t.Context(), checkpoint.Command{Key: h.key, Kind: checkpoint.CommandDrain})
	for i, err := range []error{write, create, post} {
		if !errors.Is(err, redis.ErrFull) || !errors.Is(err, checkpoint.ErrUnavailable) || !strings.Contains(err.Error(), "maxmemory") {
			t.Fatalf("call %d on a full server: %v", i, err)
		}
	}
	if rs := read(t, s, h.key, ""); len(rs) != 1 {
		t.Fatalf("a refused write has left %d records", len(rs))
	}
	must(t, c.ConfigSet(t.Context(), "maxmemory", "0").Err())
	if !h.do(a).Released {
		t.Fatal("the same write did not end the run")
	}
}

// Nothing that the server would cut the connection for is sent.
func TestTooLargeForTheServer(t *testing.T) {
	t.Parallel()
	server := testserver.NewRedis(t, testserver.RedisConfig{Args: []string{"--proto-max-bulk-len", "1mb"}})
	s := open(t, server, redis.Options{})
	h := take(t, s, "thread")
	large := strings.Repeat("x", 1<<20)
	_, write := s.Append(t.Context(), h.write(h.record("", large)))
	_, post := s.Post(t.Context(), checkpoint.Command{Key: h.key, Kind: checkpoint.CommandInput, Body: []byte(large)})
	_, answer := s.Answer(t.Context(), h.key, []checkpoint.Reply{{Question: "q", Value: []byte(large)}})
	for i, err := range []error{write, post, answer} {
		if !errors.Is(err, checkpoint.ErrTooLarge) {
			t.Fatalf("call %d: %v; want ErrTooLarge", i, err)
		}
	}
	h.next[""] = 1
	h.do(h.write(h.record("", large[:1<<20-9000])))
}

// Replies that say that a server cannot serve now are ErrUnavailable.
func TestServerStates(t *testing.T) {
	t.Parallel()
	master, replica := testserver.NewRedis(t, testserver.RedisConfig{}), testserver.NewRedis(t, testserver.RedisConfig{})
	s := open(t, replica, redis.Options{})
	h := take(t, s, "thread")
	c := raw(t, replica)
	host, port, _ := strings.Cut(master.Addr(), ":")
	must(t, c.Do(t.Context(), "replicaof", host, port).Err())
	if _, err := s.Append(t.Context(), h.write(h.record("", "1"))); !errors.Is(err, checkpoint.ErrUnavailable) {
		t.Fatalf("a write to a replica: %v", err)
	}
	must(t, c.Do(t.Context(), "replicaof", "no", "one").Err())

	// The scripts are gone, as after a failover: they are sent again.
	must(t, c.ScriptFlush(t.Context()).Err())
	take(t, s, "another").park(checkpoint.Completed)
	must(t, c.ScriptFlush(t.Context()).Err())
	if _, err := s.Threads(t.Context(), checkpoint.ThreadFilter{}); err != nil {
		t.Fatal(err)
	}
	must(t, c.ScriptFlush(t.Context()).Err())
	if _, err := s.Renew(t.Context(), []checkpoint.Lease{{Key: h.key, Nonce: h.nonce}}, time.Hour); err != nil {
		t.Fatal(err)
	}
}

// C22: every command that the client sends or a script calls was there in Redis 6.0.
func TestCommandsAreOld(t *testing.T) {
	t.Parallel()
	server := testserver.NewRedis(t, testserver.RedisConfig{})
	c := raw(t, server)
	must(t, c.Do(t.Context(), "config", "resetstat").Err())
	s := open(t, server, redis.Options{TTL: time.Hour, OpTimeout: 200 * time.Millisecond})
	exercise(t, s)
	until(t, "the index forgets the deleted thread", func() bool {
		lists(t, s)
		keys, err := c.Keys(t.Context(), "hf:ix:*").Result()
		must(t, err)
		return len(keys) == 0
	})
	stats, err := c.Info(t.Context(), "commandstats").Result()
	must(t, err)
	// What the test's own client sends is counted too. HELLO came in 6.0.0, and a refused one falls back.
	seen := map[string]bool{}
	for line := range strings.Lines(stats) {
		name, ok := strings.CutPrefix(line, "cmdstat_")
		if !ok {
			continue
		}
		name, _, _ = strings.Cut(name, ":")
		seen[name] = true // KEYS is this test's own
		since := since(t, c, name)
		if since == "" || since[0] > '6' || strings.HasPrefix(since, "6.") && since > "6.0.99" {
			t.Errorf("command %s came in Redis %q", name, since)
		}
		if name == "scan" {
			t.Error("SCAN walks over the whole database")
		}
	}
	for _, must := range []string{"evalsha", "hset", "zadd", "time", "pexpireat", "persist", "unlink", "zrangebylex", "zcount", "hdel", "zrem"} {
		if !seen[must] {
			t.Errorf("command %s was not used: the test has not seen the whole store", must)
		}
	}
}

// since is the version that brought a command, by COMMAND DOCS; a subcommand is named config|get.
func since(t *testing.T, c *goredis.Client, name string) string {
	t.Helper()
	v, err := c.Do(t.Context(), "command", "docs", name).Slice()
	must(t, err)
	if len(v) != 2 {
		return ""
	}
	doc, _ := v[1].([]any)
	for i := 0; i+1 < len(doc); i += 2 {
		if doc[i] == "since" {
			s, _ := doc[i+1].(string)
			return s
		}
	}
	return ""
}

// exercise calls every method of a store with all that they can do.
func exercise(t *testing.T, s checkpoint.Store) {
	t.Helper()
	ctx := context.Background()
	h := take(t, s, "thread")
	a := h.write(h.record("", "1"), h.record("child", "2"))
	a.Branch, a.Park = &checkpoint.Branch{N: 1, Name: "fork"}, &checkpoint.Park{Status: checkpoint.Interrupted, Questions: []checkpoint.Question{{ID: "q"}, {ID: "r"}}}
	h.do(a)
	_, err := s.Answer(ctx, h.key, []checkpoint.Reply{{Question: "q", By: "ann"}})
	must(t, err)
	n, err := s.Post(ctx, checkpoint.Command{Key: h.key, Kind: checkpoint.CommandInput, Request: "r"})
	must(t, err)
	lists(t, s)
	h = take(t, s, "thread")
	_, err = s.Renew(ctx, []checkpoint.Lease{{Key: h.key, Nonce: h.nonce}}, time.Hour)
	must(t, err)
	_, err = s.Release(ctx, checkpoint.Lease{Key: h.key, Nonce: h.nonce}, n-1)
	must(t, err)
	active := int32(0)
	a = h.write(h.record("", "3"))
	a.Closed, a.Taken, a.Seen, a.Activate, a.Park = []string{"q", "r"}, n, n, &active, &checkpoint.Park{Status: checkpoint.Completed}
	if !h.do(a).Released {
		t.Fatal("not released")
	}
	_, err = s.Read(ctx, checkpoint.Query{Chain: checkpoint.Chain{Key: h.key}, To: -1, MaxOrd: 1 << 33, Limit: 1, Newest: true})
	must(t, err)
	_, err = s.Trim(ctx, checkpoint.Chain{Key: h.key}, 1)
	must(t, err)
	lists(t, s)
	take(t, s, "thread") // must not expire any more
	must(t, s.Delete(ctx, h.key))
	if lists(t, s) != 0 {
		t.Fatal("a deleted thread is listed")
	}
}

// lists reads every list and returns how many threads there are.
func lists(t *testing.T, s checkpoint.Store) int {
	t.Helper()
	heads, err := s.Threads(t.Context(), checkpoint.ThreadFilter{})
	must(t, err)
	for _, f := range []checkpoint.ThreadFilter{{Held: true}, {HasInbox: true}, {Status: checkpoint.Interrupted}} {
		_, err := s.Threads(t.Context(), f)
		must(t, err)
	}
	_, err = s.Runs(t.Context(), checkpoint.RunFilter{})
	must(t, err)
	for _, state := range []checkpoint.QuestionState{checkpoint.Open, checkpoint.Answered, checkpoint.Closed} {
		_, err := s.Questions(t.Context(), checkpoint.QuestionFilter{State: state})
		must(t, err)
	}
	return len(heads)
}
