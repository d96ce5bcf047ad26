package postgres

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/holdfast-go/holdfast/checkpoint"
)

// maxHot is the largest number of records of a hot append.
const maxHot = 8

// A hot append is the ordinary superstep: a few records and nothing else. It is one statement, which changes no row of the
// thread and touches one table and one index. If anything is not as it expects it writes nothing, and the append is
// judged the long way.
type hot struct {
	*checkpoint.Append
	size int // about the bytes that it sends
	text string
	args []any
	ack  checkpoint.Ack
}

// hotOf is nil for an append that is not hot.
func hotOf(a *checkpoint.Append, size int) *hot {
	if len(a.Records) > maxHot || len(a.Closed) > 0 || a.Branch != nil || a.Activate != nil || a.Park != nil || a.Taken != 0 {
		return nil
	}
	h := &hot{Append: a, size: size + len(a.Tenant) + len(a.Thread)}
	most, entry, firsts := int32(0), false, 0
	next := make(map[checkpoint.Chain]int64, 1)
	h.args = append(make([]any, 0, 5+9*len(a.Records)), a.Tenant, a.Thread, a.Nonce[:], nil, nil)
	for i := range a.Records {
		r := &a.Records[i]
		chain := checkpoint.Chain{Branch: r.Branch, Namespace: r.Namespace}
		if want, ok := next[chain]; !ok {
			firsts |= 1 << i
		} else if want != r.Pos {
			return nil
		}
		next[chain] = r.Pos + 1
		h.size += len(r.Namespace) + checkpoint.Overhead
		most, entry = max(most, r.Branch), entry || r.Kind == checkpoint.KindEntry
		h.args = append(h.args, r.Branch, []byte(r.Namespace), r.Pos, r.Ord, r.By, r.Base, r.Step, int16(r.Kind), bytesOf(r.Body))
	}
	h.args[3], h.args[4] = most, entry
	h.text = hotText(len(a.Records), firsts)
	return h
}

// hotTexts has the statements by number of records and which of them are the first of their chain.
var hotTexts sync.Map

type hotForm struct{ n, firsts int }

func hotText(n, firsts int) string {
	form := hotForm{n, firsts}
	if t, ok := hotTexts.Load(form); ok {
		return t.(string)
	}
	t := buildHot(n, firsts)
	hotTexts.Store(form, t)
	return t
}

// buildHot lists the values one by one: with arrays of values the server would plan the statement each time.
//
// The lock is shared, so that appends pass each other, and a thief waits for the append or the append sees the new nonce.
// An entry that must reset the count of takeovers changes the thread's row, so it goes the long way.
func buildHot(n, firsts int) string {
	var b strings.Builder
	b.WriteString(`with t as materialized (select inbox from hf_thread where tenant = $1 and thread = $2 and nonce = $3
		and branches > $4::int and (takeovers = 0 or not $5::bool) for share),
	r as (insert into hf_record(tenant, thread, branch, ns, pos, ord, by, base, step, kind, body, at)
		select $1, $2, v.*, clock_timestamp() from t, (values `)
	for i := range n {
		p := 6 + 9*i
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "($%d::int, $%d::bytea, $%d::bigint, $%d::bigint, $%d::bigint, $%d::bigint, $%d::bigint, $%d::smallint, $%d::bytea)",
			p, p+1, p+2, p+3, p+4, p+5, p+6, p+7, p+8)
	}
	b.WriteString(`) as v(branch, ns, pos, ord, by, base, step, kind, body) where true`)
	for i := range n {
		if firsts&(1<<i) != 0 {
			p := 6 + 9*i
			fmt.Fprintf(&b, ` and $%d = coalesce((select pos from hf_record where tenant = $1 and thread = $2 and branch = $%d and ns = $%d
				order by pos desc limit 1), -1) + 1`, p+2, p, p+1)
		}
	}
	b.WriteString(` returning 1) select inbox from t where exists (select 1 from r)`)
	return b.String()
}

// queue adds the statement to a batch; done tells whether it wrote.
func (h *hot) queue(b *batch, done *bool) {
	*done = false
	b.rows(func(r row) error {
		*done = true
		return r.Scan(&h.ack.Inbox)
	}, h.text, h.args...)
}

// appendHot sends a hot append, together with others if many wait. It is not done if the append does not fit.
func (s *Store) appendHot(ctx context.Context, h *hot) (done bool, err error) {
	if s.o.Pooler {
		h.size += len(h.text)
	}
	switch verdict, err := s.group.add(ctx, h); {
	case err != nil:
		return false, err
	case verdict == grouped:
		return true, nil
	case verdict == unfit:
		return false, nil
	}
	defer s.group.leave()
	err = s.write(ctx, h.Tenant, func(b *batch) { h.queue(b, &done) })
	if refused(err) {
		return false, nil
	}
	return done, err
}
