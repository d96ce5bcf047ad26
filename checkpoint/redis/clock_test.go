package redis_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint/redis"
	goredis "github.com/redis/go-redis/v9"
)

// liar is a node that answers what a store asks when it is opened, with a clock of its own. It returns its address.
func liar(t *testing.T, ahead time.Duration) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { defer c.Close(); lie(c, ahead) })
		}
	})
	t.Cleanup(func() { l.Close(); wg.Wait() })
	return l.Addr().String()
}

// lie answers the commands of one connection.
func lie(c net.Conn, ahead time.Duration) {
	settings := map[string]string{"maxmemory-policy": "noeviction", "appendonly": "yes", "appendfsync": "always", "proto-max-bulk-len": "536870912"}
	for r := bufio.NewReader(c); ; {
		var args []string
		head, err := r.ReadString('\n')
		if err != nil {
			return
		}
		n, _ := strconv.Atoi(strings.TrimSpace(head[1:]))
		for range n {
			r.ReadString('\n') // the length
			arg, _ := r.ReadString('\n')
			args = append(args, strings.TrimSpace(arg))
		}
		var reply []string
		switch command := strings.ToLower(args[0]); command {
		case "time":
			now := time.Now().Add(ahead)
			reply = []string{fmt.Sprint(now.Unix()), fmt.Sprint(now.Nanosecond() / 1000)}
		case "config":
			reply = []string{args[2], settings[args[2]]}
		default:
			fmt.Fprintf(c, "-ERR unknown command '%s'\r\n", command)
			continue
		}
		fmt.Fprintf(c, "*%d\r\n", len(reply))
		for _, s := range reply {
			fmt.Fprintf(c, "$%d\r\n%s\r\n", len(s), s)
		}
	}
}

// C22: a cluster whose nodes' clocks are apart is refused: a list reads by the clock of one node what another has written.
func TestClusterClocks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ahead   time.Duration
		timeout time.Duration
		ok      bool
	}{
		{0, 10 * time.Second, true},
		{2 * time.Second, 10 * time.Second, true},
		{time.Minute, 10 * time.Second, false},
		{-time.Minute, 10 * time.Second, false},
		{2 * time.Minute, 100 * time.Second, false},
		{2 * time.Second, 100 * time.Millisecond, false},
	} {
		a, b := liar(t, 0), liar(t, c.ahead)
		client := goredis.NewClusterClient(&goredis.ClusterOptions{ClusterSlots: func(context.Context) ([]goredis.ClusterSlot, error) {
			return []goredis.ClusterSlot{
				{Start: 0, End: 8191, Nodes: []goredis.ClusterNode{{Addr: a}}},
				{Start: 8192, End: 16383, Nodes: []goredis.ClusterNode{{Addr: b}}},
			}, nil
		}})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		s, err := redis.New(ctx, client, redis.Options{OpTimeout: c.timeout})
		if c.ok {
			must(t, err)
			must(t, s.Close())
		} else if !errors.Is(err, redis.ErrConfig) || !strings.Contains(err.Error(), "clock") {
			t.Errorf("clocks %v apart: %v", c.ahead, err)
		}
		cancel()
		must(t, client.Close())
	}
}
