package rows

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/memory/audit"
	"github.com/holdfast-go/holdfast/memory/internal/sqldb"
)

const columns = `n, at, usr, agent, box, verb, writes, conversation, items, more, result, hash`

// A condition grows with what a selection asks for.
type condition struct {
	text strings.Builder
	args []any
}

func (c *condition) and(column, relation string, arg any) {
	c.args = append(c.args, arg)
	fmt.Fprintf(&c.text, ` and %s %s $%d`, column, relation, len(c.args))
}

func (c *condition) is(column, value string) {
	if value != "" {
		c.and(column, `=`, value)
	}
}

func (c *condition) at(relation string, t time.Time) {
	if !t.IsZero() {
		c.and(`at`, relation, t.UnixMicro())
	}
}

// Rows implements audit.Tx.
func (x *tx) Rows(ctx context.Context, s audit.Select) (out []audit.Row, err error) {
	c := &condition{args: []any{x.tenant}}
	c.and(`n`, `>`, s.After)
	c.is(`usr`, s.User)
	c.is(`agent`, s.Agent)
	c.is(`box`, s.Box)
	c.at(`>=`, s.From)
	c.at(`<`, s.To)
	c.args = append(c.args, int64(s.Limit))
	text := fmt.Sprintf(`select %s from hfa_entry where tenant = $1%s order by n limit $%d`, columns, &c.text, len(c.args))
	err = x.run(ctx, sqldb.Query(text, func(scan func(...any) error) error {
		r, err := scanRow(scan)
		out = append(out, r)
		return err
	}, c.args...))
	return out, err
}

func scanRow(scan func(...any) error) (r audit.Row, err error) {
	var at, writes int64
	err = scan(&r.N, &at, &r.User, &r.Agent, &r.Box, &r.Verb, &writes, &r.Conversation, &r.Items, &r.More, &r.Result, &r.Hash)
	r.At, r.Write = time.UnixMicro(at).UTC(), writes != 0
	return r, err
}
