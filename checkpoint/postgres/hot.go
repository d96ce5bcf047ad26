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
	size   int    // about the bytes that it sends
	entry  bool   // among the records is an entry
	behind *place // of another chain, which must be there; nil: none
	form   hotForm
	ack    checkpoint.Ack
}

// A hotForm is what the text of the statement depends on.
type hotForm struct {
	n      int  // records
	firsts int  // the bits of those that are the first of their chain in this append
	behind bool // something of another chain is looked for
}

// oneChain reports whether one chain is looked at.
func (f hotForm) oneChain() bool { return f.firsts == 1 && !f.behind }

// hotOf is nil for an append that is not hot.
func hotOf(a *checkpoint.Append, behind *place, size int) *hot {
	if len(a.Records) > maxHot || len(a.Closed) > 0 || a.Branch != nil || a.Activate != nil || a.Park != nil || a.Taken != 0 {
		return nil
	}
	h := &hot{Append: a, size: size + len(a.Tenant) + len(a.Thread), behind: behind, form: hotForm{n: len(a.Records), behind: behind != nil}}
	next := make(map[checkpoint.Chain]int64, 1)
	for i := range a.Records {
		r := &a.Records[i]
		chain := checkpoint.Chain{Branch: r.Branch, Namespace: r.Namespace}
		if want, ok := next[chain]; !ok {
			h.form.firsts |= 1 << i
		} else if want != r.Pos {
			return nil
		}
		next[chain] = r.Pos + 1
		h.size += len(r.Namespace)
		h.entry = h.entry || r.Kind == checkpoint.KindEntry
	}
	return h
}

// hotTexts has the statements by their form.
var hotTexts sync.Map

func hotText(f hotForm) string {
	if t, ok := hotTexts.Load(f); ok {
		return t.(string)
	}
	t := buildHot(f)
	hotTexts.Store(f, t)
	return t
}

// buildHot lists the values one by one: with arrays of values the server would plan the statement each time.
//
// The lock is shared, so that appends pass each other, and a thief waits for the append or the append sees the new nonce.
// An entry that must reset the count of takeovers changes the thread's row, so it goes the long way.
//
// What was acknowledged before in another chain is looked for by its position: under this lease nobody else has taken that.
//
// Only the place before a record is looked at, and what is behind that: to look for the last record without a bound the
// server would read all of the chain that is on a page of the index.
func buildHot(f hotForm) string {
	var b strings.Builder
	b.WriteString(`with t as materialized (select inbox from hf_thread where tenant = $1 and thread = $2 and nonce = $3
		and branches > $4::int and (takeovers = 0 or not $5::bool)`)
	for i := range f.n {
		if p := 6 + 9*i; f.firsts&(1<<i) != 0 {
			fmt.Fprintf(&b, ` and $%d::bigint - 1 = coalesce((select pos from hf_record where tenant = $1 and thread = $2 and branch = $%d and ns = $%d
				and pos >= $%d - 1 order by pos desc limit 1), -1)`, p+2, p, p+1, p+2)
		}
	}
	if p := 6 + 9*f.n; f.behind {
		fmt.Fprintf(&b, ` and exists (select 1 from hf_record where tenant = $1 and thread = $2 and branch = $%d and ns = $%d and pos = $%d)`, p, p+1, p+2)
	}
	b.WriteString(` for share), r as (insert into hf_record(tenant, thread, branch, ns, pos, ord, by, base, step, kind, body, at)
		select $1, $2, v.*, clock_timestamp() from t, (values `)
	for i := range f.n {
		p := 6 + 9*i
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "($%d::int, $%d::bytea, $%d::bigint, $%d::bigint, $%d::bigint, $%d::bigint, $%d::bigint, $%d::smallint, $%d::bytea)",
			p, p+1, p+2, p+3, p+4, p+5, p+6, p+7, p+8)
	}
	b.WriteString(`) as v(branch, ns, pos, ord, by, base, step, kind, body)) select inbox from t`)
	return b.String()
}

func (h *hot) args() []any {
	most := int32(0)
	args := append(make([]any, 0, 8+9*len(h.Records)), h.Tenant, h.Thread, h.Nonce[:], nil, h.entry)
	for i := range h.Records {
		r := &h.Records[i]
		most = max(most, r.Branch)
		args = append(args, r.Branch, []byte(r.Namespace), r.Pos, r.Ord, r.By, r.Base, r.Step, int16(r.Kind), bytesOf(r.Body))
	}
	if p := h.behind; p != nil {
		args = append(args, p.branch, []byte(p.ns), p.pos)
	}
	args[3] = most
	return args
}

// queue adds the statement to a batch; done tells whether it wrote.
func (h *hot) queue(b *batch, done *bool) {
	*done = false
	b.rows(func(r row) error {
		*done = true
		return r.Scan(&h.ack.Inbox)
	}, hotText(h.form), h.args()...)
}

// appendHot sends a hot append, together with others if many wait. It is not done if the append does not fit.
func (s *Store) appendHot(ctx context.Context, h *hot) (done bool, err error) {
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
