package graphcli

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
)

// A threadRow is a thread in a list.
type threadRow struct {
	Tenant  string            `json:"tenant"`
	Thread  string            `json:"thread"`
	Status  checkpoint.Status `json:"status"`
	Graph   string            `json:"graph"`
	Owner   string            `json:"owner,omitzero"`
	Meta    map[string]string `json:"meta,omitzero"`
	Run     string            `json:"run"`
	Held    bool              `json:"held,omitzero"`    // somebody holds it
	Expired bool              `json:"expired,omitzero"` // and its lease has run out
	Created *time.Time        `json:"created,omitzero"`
	Updated *time.Time        `json:"updated,omitzero"`
	Cursor  string            `json:"cursor"`
}

const tenantUsage = "only of this `tenant`; default: of all, or with a thread of " + graph.SingleTenant

// only takes the thread that the list is for, if one is named. Its column says nothing then.
func (l *list) only(tenant, thread *string) {
	if len(l.args) == 0 {
		return
	}
	*tenant, *thread = cmp.Or(*tenant, graph.SingleTenant), l.args[0]
	l.table.head, l.one = l.table.head[1:], true
}

// filters declares the flags of lists.
func (c *call) filters(tenant *string, status *checkpoint.Status, meta map[string]string) {
	c.flags.StringVar(tenant, "tenant", "", tenantUsage)
	c.flags.Func("status", "only with this `status`: running, interrupted, completed, failed or cancelled", func(s string) error {
		return status.UnmarshalText([]byte(s))
	})
	c.flags.Func("meta", "only with this metadata, as `key=value`; may be repeated", addMeta(meta))
}

func addMeta(meta map[string]string) func(string) error {
	return func(s string) error {
		k, v, ok := strings.Cut(s, "=")
		if !ok {
			return fmt.Errorf("want key=value")
		}
		meta[k] = v
		return nil
	}
}

func (c *call) store() (checkpoint.Store, error) {
	if s := c.view.Store(); s != nil {
		return s, nil
	}
	return nil, graph.ErrNoStore
}

func threads(c *call) func() error {
	l := c.list("THREAD", "STATUS", "GRAPH", "OWNER", "UPDATED", "META")
	f := checkpoint.ThreadFilter{Meta: map[string]string{}}
	c.filters(&f.Tenant, &f.Status, f.Meta)
	c.flags.StringVar(&f.Owner, "owner", "", "only of this `owner`")
	c.flags.StringVar(&f.Graph, "graph", c.view.Name(), "only of this `graph`")
	c.flags.BoolVar(&f.Held, "held", false, "only those that somebody holds")
	return func() error {
		s, err := c.store()
		if err != nil {
			return err
		}
		at, err := l.cursor(2)
		if err != nil {
			return err
		}
		f.After = checkpoint.Key{Tenant: at[0], Thread: at[1]}
		return l.each(func(limit int) (int, error) {
			f.Limit = limit
			heads, err := s.Threads(c.ctx, f)
			for i := range heads {
				f.After = heads[i].Key
				if err := l.head(&heads[i]); err != nil {
					return 0, err
				}
			}
			return len(heads), err
		})
	}
}

func (l *list) head(h *checkpoint.Head) error {
	at := []string{h.Tenant, h.Thread}
	status := h.Status.String()
	if h.Expired {
		status += " (lost)" // its holder has not renewed the lease
	}
	row := threadRow{
		Tenant: h.Tenant, Thread: h.Thread, Status: h.Status, Graph: h.Graph, Owner: h.Owner, Meta: h.Meta, Run: h.Run,
		Held: h.Held(), Expired: h.Expired, Created: stamp(h.Created), Updated: stamp(h.Updated), Cursor: encodeCursor(at),
	}
	return l.row(row, at, h.Tenant+"/"+h.Thread, status, h.Graph, h.Owner, when(h.Updated), meta(h.Meta))
}

// A runRow is a run in a list.
type runRow struct {
	Tenant  string            `json:"tenant"`
	Thread  string            `json:"thread"`
	Run     string            `json:"run"`
	Status  checkpoint.Status `json:"status"`
	Graph   string            `json:"graph"`
	By      string            `json:"by,omitzero"`
	Request string            `json:"request,omitzero"`
	Meta    map[string]string `json:"meta,omitzero"`
	Error   string            `json:"error,omitzero"`
	Started *time.Time        `json:"started,omitzero"`
	Ended   *time.Time        `json:"ended,omitzero"`
}

// A listedRun is a run with its place in the list.
type listedRun struct {
	runRow
	Cursor string `json:"cursor"`
}

func runs(c *call) func() error {
	l := c.list("THREAD", "RUN", "STATUS", "BY", "STARTED")
	f := checkpoint.RunFilter{Meta: map[string]string{}}
	c.filters(&f.Tenant, &f.Status, f.Meta)
	return func() error {
		s, err := c.store()
		if err != nil {
			return err
		}
		at, err := l.cursor(3)
		if err != nil {
			return err
		}
		l.only(&f.Tenant, &f.Thread)
		f.After = checkpoint.RunCursor{Key: checkpoint.Key{Tenant: at[0], Thread: at[1]}, Run: at[2]}
		return l.each(func(limit int) (int, error) {
			f.Limit = limit
			rows, err := s.Runs(c.ctx, f)
			for i := range rows {
				f.After = checkpoint.RunCursor{Key: rows[i].Key, Run: rows[i].ID}
				if err := l.run(&rows[i]); err != nil {
					return 0, err
				}
			}
			return len(rows), err
		})
	}
}

func (l *list) run(r *checkpoint.Run) error {
	at := []string{r.Tenant, r.Thread, r.ID}
	err := l.row(listedRun{newRunRow(r), encodeCursor(at)}, at, r.Tenant+"/"+r.Thread, r.ID, r.Status.String(), r.By, when(r.Started))
	if r.Error != "" {
		l.table.note(r.Error)
	}
	return err
}

func newRunRow(r *checkpoint.Run) runRow {
	return runRow{
		Tenant: r.Tenant, Thread: r.Thread, Run: r.ID, Status: r.Status, Graph: r.Graph, By: r.By, Request: r.Request, Meta: r.Meta,
		Error: r.Error, Started: stamp(r.Started), Ended: stamp(r.Ended),
	}
}

// A questionRow is a question in a list. Its hash is what an answer is bound to.
type questionRow struct {
	graph.ThreadQuestion
	Hash   string `json:"hash"`
	State  string `json:"state"`
	Cursor string `json:"cursor"`
}

// questionStates are the states of questions by name.
var questionStates = map[string]checkpoint.QuestionState{"open": checkpoint.Open, "answered": checkpoint.Answered, "closed": checkpoint.Closed}

func stateName(s checkpoint.QuestionState) string {
	for name, state := range questionStates {
		if state == s {
			return name
		}
	}
	return "unknown"
}

func questions(c *call) func() error {
	l := c.list("THREAD", "QUESTION", "HASH", "ASKED", "NAME")
	f := checkpoint.QuestionFilter{}
	c.flags.StringVar(&f.Tenant, "tenant", "", tenantUsage)
	c.flags.Func("state", "only in this `state`: open (default), answered or closed", func(s string) (err error) {
		state, ok := questionStates[s]
		if f.State = state; !ok {
			err = fmt.Errorf("want open, answered or closed")
		}
		return err
	})
	c.flags.BoolVar(&f.Expired, "expired", false, "only those whose deadline has passed")
	return func() error {
		at, err := l.cursor(4)
		if err != nil {
			return err
		}
		l.only(&f.Tenant, &f.Thread)
		if f.After, err = l.questionCursor(at); err != nil {
			return err
		}
		return l.each(func(limit int) (int, error) {
			f.Limit = limit
			rows, err := c.view.Questions(c.ctx, f)
			for i := range rows {
				f.After = rows[i].Cursor()
				if err := l.question(&rows[i]); err != nil {
					return 0, err
				}
			}
			return len(rows), err
		})
	}
}

func (l *list) questionCursor(at []string) (q checkpoint.QuestionCursor, err error) {
	if at[0] == "" {
		return q, nil
	}
	if q.Asked, err = time.Parse(time.RFC3339Nano, at[0]); err != nil {
		return q, l.wrong("-after is no cursor of this list")
	}
	q.Key, q.ID = checkpoint.Key{Tenant: at[1], Thread: at[2]}, at[3]
	return q, nil
}

func (l *list) question(q *graph.ThreadQuestion) error {
	at := []string{q.Asked.Format(time.RFC3339Nano), q.Thread.Tenant, q.Thread.ID, q.ID}
	name := strings.Join(append(slices.Clip(q.Path), q.Name), "/")
	text := q.Text()
	if q.Expired {
		text = "(expired) " + text
	}
	row := questionRow{*q, hex.EncodeToString(q.Shown), stateName(q.State), encodeCursor(at)}
	err := l.row(row, at, q.Thread.String(), q.ID, short(row.Hash), when(q.Asked), name)
	l.table.note(text)
	return err
}
