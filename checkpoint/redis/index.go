package redis

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/checkpoint"
)

// The index says which threads a list has to look at: sets of candidates in sixteen parts. A thread is a candidate before it
// becomes what the list is about, and what a list shows is always read from the thread itself. So a list never misses a
// thread; it may look at some too many. Those it hands to prune, which takes them out when nobody can be about to make
// them fit again.
//
// For that, announcing a thread gives the write that follows a time until which it must have happened (half the grace); the
// write's own script refuses to be later. A candidate that did not belong becomes a suspect, and goes when it still does not
// belong a whole grace later and was not announced in between.

// graces is the grace in operation time-outs.
const graces = 10

// announce puts a thread into sets of candidates, and questions into the list by age. It returns the server's time, and until
// when what was announced may happen.
func (s *Store) announce(ctx context.Context, key checkpoint.Key, sets string, questions ...string) (now, valid int64, err error) {
	args := []value{member(key), sets}
	for _, id := range questions {
		args = append(args, id)
	}
	v, err := scriptAnnounce.Run(ctx, s.client, s.indexKeys(shardOf(key)), args...).Result()
	r := newReply(v, err)
	now = r.int()
	return now, now + s.grace()/2, r.err
}

func (s *Store) grace() int64 { return graces * s.o.OpTimeout.Milliseconds() }

// A candidate is one element of the index.
type candidate struct {
	member string
	score  int64 // of a question: when it was asked
	shard  int
}

func compareCandidates(a, b candidate) int {
	return cmp.Or(cmp.Compare(a.score, b.score), strings.Compare(a.member, b.member))
}

// A walk goes through one set of all parts of the index in order.
type walk struct {
	s       *Store
	set     string // letter of the set
	after   candidate
	from    string // of the set of threads: bounds in the syntax of ZRANGEBYLEX
	to      string
	parts   [shards]part
	suspect [shards][]value // what does not belong
	doubts  int             // how much that is
	read    [shards]int64   // when the parts were read first, by the server's clock
}

// A part is what is left of the last page of one part.
type part struct {
	page []candidate
	last candidate
	read bool
	done bool
}

// next returns up to n candidates in order; fewer only at the end.
func (w *walk) next(ctx context.Context, n int) (out []candidate, err error) {
	for len(out) < n {
		if err := w.fill(ctx, n); err != nil {
			return nil, err
		}
		first := -1
		for i := range w.parts {
			if p := &w.parts[i]; len(p.page) > 0 && (first < 0 || compareCandidates(p.page[0], w.parts[first].page[0]) < 0) {
				first = i
			}
		}
		if first < 0 {
			return out, nil
		}
		out = append(out, w.parts[first].page[0])
		w.parts[first].page = w.parts[first].page[1:]
	}
	return out, nil
}

// fill reads the next page of each part that has run empty, all in one round trip.
func (w *walk) fill(ctx context.Context, n int) error {
	size := max(n/shards, 16)
	var empty []int
	var tasks []task
	for i := range w.parts {
		p := &w.parts[i]
		if len(p.page) > 0 || p.done {
			continue
		}
		empty = append(empty, i)
		args := []value{w.set, w.from, w.to, size}
		if p.read {
			args[1] = "(" + p.last.member
		}
		if w.set == "q" {
			after := w.after
			if p.read {
				after = p.last
			}
			args = []value{w.set, after.score, after.member, size}
		}
		tasks = append(tasks, task{w.s.indexKeys(i), args})
	}
	for k, r := range evalAll(ctx, w.s.client, scriptPage, tasks) {
		i := empty[k]
		p := &w.parts[i]
		now := r.int()
		if !p.read {
			p.read, w.read[i] = true, now
		}
		p.page = nil
		for r.more() {
			c := candidate{member: r.text(), shard: i}
			if w.set == "q" {
				c.score = r.int()
			}
			p.page = append(p.page, c)
		}
		if r.err != nil {
			return r.err
		}
		if len(p.page) > 0 {
			p.last = p.page[len(p.page)-1]
		}
		p.done = len(p.page) < size
	}
	return nil
}

// doubt notes a candidate that does not belong.
func (w *walk) doubt(c candidate) {
	w.doubts++
	w.suspect[c.shard] = append(w.suspect[c.shard], w.set, c.member)
}

// prune hands over what does not belong. That it fails changes nothing for this list, so nobody is told.
func (w *walk) prune(ctx context.Context) {
	var tasks []task
	for i, doubts := range w.suspect {
		for page := range slices.Chunk(doubts, 1000) {
			tasks = append(tasks, task{w.s.indexKeys(i), append([]value{w.read[i], w.s.grace()}, page...)})
		}
	}
	evalAll(ctx, w.s.client, scriptPrune, tasks)
}
