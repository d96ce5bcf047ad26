package checkpointtest

import (
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
)

var listCases = []testCase{
	{"threads", "C10", "a list shows what its filter says, page by page, each row once, and no other tenant's", threads},
	{"runs", "C10", "runs are found by status and metadata, page by page, each once", runs},
	{"questions", "C10", "the oldest question comes first, or it waits for ever", questions},
	{"impossible-filters", "C9", "what no row can hold selects nothing: it is no error of a database that cannot even be asked for it", impossibleFilters},
	{"pages-under-change", "C7", "a row that is there throughout is seen exactly once, whatever comes and goes meanwhile", pagesUnderChange},
}

// fill makes 12 threads: status, owner-less, metadata by number.
func (e *env) fill() {
	e.Helper()
	for i := range 12 {
		h := e.startRun(e.key(fmt.Sprintf("thread-%02d", i)), &checkpoint.Run{
			ID: "run-1", Graph: fmt.Sprint("graph-", i%2), Meta: map[string]string{"mod": fmt.Sprint(i % 3), "quote": `'";--`},
		})
		switch i % 4 {
		case 0:
			h.park(checkpoint.Completed, 0)
		case 1:
			h.park(checkpoint.Interrupted, 0, checkpoint.Question{ID: "q1"}, checkpoint.Question{ID: "q2", Deadline: time.Unix(1_000_000_000, 0)})
		}
	}
}

func threads(e *env) {
	e.fill()
	e.start(checkpoint.Key{Tenant: e.tenant + "x", Thread: "thread-00"})
	for _, c := range []struct {
		f    checkpoint.ThreadFilter
		want []int
	}{
		{checkpoint.ThreadFilter{}, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
		{checkpoint.ThreadFilter{Status: checkpoint.Running}, []int{2, 3, 6, 7, 10, 11}},
		{checkpoint.ThreadFilter{Status: checkpoint.Failed}, nil},
		{checkpoint.ThreadFilter{Graph: "graph-1"}, []int{1, 3, 5, 7, 9, 11}},
		{checkpoint.ThreadFilter{Graph: "graph-1", Status: checkpoint.Interrupted}, []int{1, 5, 9}},
		{checkpoint.ThreadFilter{Owner: "owner", Meta: map[string]string{"mod": "2"}}, []int{2, 5, 8, 11}},
		{checkpoint.ThreadFilter{Owner: "nobody"}, nil},
		{checkpoint.ThreadFilter{Meta: map[string]string{"mod": "2", "quote": `'";--`}}, []int{2, 5, 8, 11}},
		{checkpoint.ThreadFilter{Meta: map[string]string{"mod": "2", "quote": `'`}}, nil},
		{checkpoint.ThreadFilter{Meta: map[string]string{"other": ""}}, nil},
		{checkpoint.ThreadFilter{Expired: true}, nil},
		{checkpoint.ThreadFilter{HasInbox: true}, nil},
	} {
		c.f.Tenant = e.tenant
		for _, limit := range []int{0, 1, 5} {
			var got []int
			for page := c.f; ; {
				page.Limit = limit
				heads, err := e.store.Threads(e.Context(), page)
				e.ok(err)
				for _, h := range heads {
					var i int
					fmt.Sscanf(h.Thread, "thread-%d", &i)
					got = append(got, i)
					page.After = h.Key
					if l := e.load(h.Key); l.Head.Run != h.Run || l.Head.Nonce != h.Nonce || fmt.Sprint(l.Head.Meta) != fmt.Sprint(h.Meta) {
						e.Fatalf("a list shows %+v, a load %+v", h, l.Head)
					}
				}
				if limit == 0 || len(heads) < limit {
					break
				}
			}
			e.equal(fmt.Sprintf("threads of %+v", c.f), got, c.want)
		}
	}
	for after, want := range map[string]int{"\x01": 12, e.tenant + "\x01": 0} { // a cursor of another tenant
		heads, err := e.store.Threads(e.Context(), checkpoint.ThreadFilter{Tenant: e.tenant, After: checkpoint.Key{Tenant: after, Thread: "thread-05"}})
		e.ok(err)
		runs, err := e.store.Runs(e.Context(), checkpoint.RunFilter{Tenant: e.tenant, After: checkpoint.RunCursor{Key: checkpoint.Key{Tenant: after, Thread: "thread-05"}, Run: "z"}})
		e.ok(err)
		e.equal("rows behind the cursor", []int{len(heads), len(runs)}, []int{want, want})
	}
	every, err := e.store.Threads(e.Context(), checkpoint.ThreadFilter{After: checkpoint.Key{Tenant: e.tenant, Thread: "thread-11"}, Limit: 1})
	e.ok(err)
	if len(every) != 1 || every[0].Tenant <= e.tenant {
		e.Fatalf("the list of all tenants goes on with %+v", every)
	}
}

func runs(e *env) {
	key := e.key("thread")
	h := e.startRun(key, &checkpoint.Run{ID: "run-00", Meta: map[string]string{"n": "0"}})
	h.park(checkpoint.Completed, 0)
	for i := range 5 {
		id := fmt.Sprintf("run-%02d", 5-i)
		a := checkpoint.Acquire{Key: key, Epoch: int64(i + 1), Nonce: checkpoint.NewNonce(), Run: &checkpoint.Run{ID: id, Meta: map[string]string{"n": fmt.Sprint(i % 2)}}}
		_, err := e.try(a)
		e.ok(err)
		_, err = e.store.Release(e.Context(), checkpoint.Lease{Key: key, Nonce: a.Nonce}, 0)
		e.ok(err)
	}
	e.start(e.key("thread-2"))
	for _, c := range []struct {
		f    checkpoint.RunFilter
		want string
	}{
		{checkpoint.RunFilter{}, "[run-00 run-01 run-02 run-03 run-04 run-05 run-1]"},
		{checkpoint.RunFilter{Thread: "thread"}, "[run-00 run-01 run-02 run-03 run-04 run-05]"},
		{checkpoint.RunFilter{Status: checkpoint.Completed}, "[run-00]"},
		{checkpoint.RunFilter{Thread: "thread", Status: checkpoint.Running, Meta: map[string]string{"n": "1"}}, "[run-02 run-04]"},
		{checkpoint.RunFilter{Thread: "unknown"}, "[]"},
	} {
		c.f.Tenant = e.tenant
		for _, limit := range []int{0, 2} {
			ids := []string{}
			for page := c.f; ; {
				page.Limit = limit
				rs, err := e.store.Runs(e.Context(), page)
				e.ok(err)
				for _, r := range rs {
					ids = append(ids, r.ID)
					page.After = checkpoint.RunCursor{Key: r.Key, Run: r.ID}
				}
				if limit == 0 || len(rs) < limit {
					break
				}
			}
			e.equal(fmt.Sprintf("runs of %+v", c.f), ids, c.want)
		}
	}
}

func questions(e *env) {
	e.fill()
	key := e.key("thread-05")
	_, err := e.store.Answer(e.Context(), key, []checkpoint.Reply{{Question: "q1", By: "ann"}})
	e.ok(err)
	for _, c := range []struct {
		f    checkpoint.QuestionFilter
		want string
	}{
		{checkpoint.QuestionFilter{}, "[thread-01/q1 thread-01/q2 thread-05/q2 thread-09/q1 thread-09/q2]"},
		{checkpoint.QuestionFilter{Thread: "thread-05"}, "[thread-05/q2]"},
		{checkpoint.QuestionFilter{State: checkpoint.Answered}, "[thread-05/q1]"},
		{checkpoint.QuestionFilter{State: checkpoint.Closed}, "[]"},
		{checkpoint.QuestionFilter{Expired: true}, "[thread-01/q2 thread-05/q2 thread-09/q2]"},
		{checkpoint.QuestionFilter{Thread: "unknown"}, "[]"},
	} {
		c.f.Tenant = e.tenant
		for _, limit := range []int{0, 1, 2} {
			ids := []string{}
			for page := c.f; ; {
				page.Limit = limit
				qs, err := e.store.Questions(e.Context(), page)
				e.ok(err)
				for _, q := range qs {
					ids = append(ids, q.Thread+"/"+q.ID)
					page.After = checkpoint.QuestionCursor{Asked: q.Asked, Key: q.Key, ID: q.ID}
					if q.Expired != (q.ID == "q2") {
						e.Fatalf("question %+v", q)
					}
				}
				if limit == 0 || len(qs) < limit {
					break
				}
			}
			e.equal(fmt.Sprintf("questions of %+v", c.f), ids, c.want)
		}
	}
}

func impossibleFilters(e *env) {
	e.fill()
	count := func(threads []checkpoint.Head, err error) int { e.Helper(); e.ok(err); return len(threads) }
	runs := func(runs []checkpoint.Run, err error) int { e.Helper(); e.ok(err); return len(runs) }
	questions := func(questions []checkpoint.Question, err error) int { e.Helper(); e.ok(err); return len(questions) }
	for _, s := range []string{"\x00", "owner\x00", "\xff", "\xed\xa0\x80"} {
		for _, f := range []checkpoint.ThreadFilter{
			{Tenant: s}, {Tenant: e.tenant, Owner: s}, {Tenant: e.tenant, Graph: s},
			{Tenant: e.tenant, Meta: map[string]string{s: "0"}}, {Tenant: e.tenant, Meta: map[string]string{"mod": s}},
		} {
			e.equal(fmt.Sprintf("threads of %+v", f), count(e.store.Threads(e.Context(), f)), 0)
		}
		for _, f := range []checkpoint.RunFilter{
			{Tenant: s}, {Tenant: e.tenant, Thread: s}, {Tenant: e.tenant, Meta: map[string]string{s: "0"}}, {Tenant: e.tenant, Meta: map[string]string{"mod": s}},
		} {
			e.equal(fmt.Sprintf("runs of %+v", f), runs(e.store.Runs(e.Context(), f)), 0)
		}
		for _, f := range []checkpoint.QuestionFilter{{Tenant: s}, {Tenant: e.tenant, Thread: s}} {
			e.equal(fmt.Sprintf("questions of %+v", f), questions(e.store.Questions(e.Context(), f)), 0)
		}
		// A cursor is a place, not a row: whatever it is, the list goes on somewhere.
		after := checkpoint.Key{Tenant: e.tenant, Thread: s}
		count(e.store.Threads(e.Context(), checkpoint.ThreadFilter{Tenant: e.tenant, After: after}))
		runs(e.store.Runs(e.Context(), checkpoint.RunFilter{Tenant: e.tenant, After: checkpoint.RunCursor{Key: after, Run: s}}))
		questions(e.store.Questions(e.Context(), checkpoint.QuestionFilter{Tenant: e.tenant, After: checkpoint.QuestionCursor{Asked: time.Unix(1, 0), Key: after, ID: s}}))
	}
	after := checkpoint.Key{Tenant: e.tenant, Thread: "thread-05\x00"}
	e.equal("threads behind a cursor with NUL", count(e.store.Threads(e.Context(), checkpoint.ThreadFilter{Tenant: e.tenant, After: after})), 6)
}

func pagesUnderChange(e *env) {
	e.fill()
	seen := map[string]int{}
	for f, n := (checkpoint.ThreadFilter{Tenant: e.tenant, Limit: 3}), 0; ; n++ {
		heads, err := e.store.Threads(e.Context(), f)
		e.ok(err)
		if len(heads) == 0 {
			break
		}
		for _, h := range heads {
			seen[h.Thread]++
			f.After = h.Key
		}
		e.ok(e.store.Delete(e.Context(), e.key(fmt.Sprint("thread-00-new-", n-1))))
		e.start(e.key(fmt.Sprint("thread-00-new-", n))) // before the cursor: an offset would see a row twice
	}
	for i := range 12 {
		e.equal("times that a row was seen", seen[fmt.Sprintf("thread-%02d", i)], 1)
	}
}
