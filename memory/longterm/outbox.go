package longterm

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/guard"
	"github.com/holdfast-go/holdfast/memory/internal/audited"
	"github.com/holdfast-go/holdfast/message"
)

// Remember takes an exchange into the outbox and returns when it is there for good; the same exchange again changes nothing.
// What Options.Rules finds is stored in the same transaction. An exchange without a word of the user is ErrExchange.
//
// Taken are what the user said, and results of tools whose calls succeeded, at most 32 KB and 8 KB of each, of which the middle
// is left out; nothing of the assistant, of the system, of failed calls. Secrets are blotted out before anything is stored.
func (s *Store) Remember(ctx context.Context, sc memory.Scope, a memory.Agent, e Exchange) (err error) {
	acc := access(sc, a.Name(), "Remember", e.Conversation)
	if err := s.audit.Begin(ctx, acc); err != nil {
		return err
	}
	defer s.audit.Ended(ctx, acc, &err)
	if s.o.Rules == nil && s.o.Extractor == nil {
		return ErrNoExtractor
	}
	j, err := newJob(sc, a, e)
	if err != nil {
		return err
	}
	return s.call(ctx, func(ctx context.Context) error {
		there, known, err := s.before(ctx, j)
		if there || err != nil {
			return err
		}
		drafts, err := s.ruled(ctx, j, known)
		if err != nil {
			s.o.Logger.WarnContext(ctx, "longterm: the rules failed; Work tries again", "job", j.ID, "fault", j.Fault)
		}
		ps := s.prepareAll(j, drafts)
		return s.inUpdate(ctx, sc, a, func(ctx context.Context, u *unit) error { return u.enqueue(ctx, *j, ps) })
	})
}

// before reports whether the outbox has a job, so that a repeated exchange costs no extraction, and else what the user has that may be
// about the same: "forget that I like tea" can only be understood beside it.
func (s *Store) before(ctx context.Context, j *task) (there bool, known []Item, err error) {
	err = s.back.View(ctx, j.Scope, func(tx Tx) error {
		rows, err := tx.Jobs(ctx, SelectJobs{IDs: []string{j.ID}})
		if there = len(rows) > 0; there || err != nil || s.o.Rules == nil {
			return err
		}
		known, err = s.unit(tx, j.Scope, j.Agent).about(ctx, j)
		return err
	})
	return there, known, err
}

// ruled has Options.Rules make drafts of a new job.
func (s *Store) ruled(ctx context.Context, j *task, known []Item) ([]Draft, error) {
	if s.o.Rules == nil || len(j.Texts) == 0 {
		return nil, nil
	}
	drafts, err := extract(ctx, s.o.Rules, j.Texts, known)
	if err != nil {
		j.Fault = fault(err, j.Texts)
		return nil, err
	}
	j.Ruled = true
	return drafts, nil
}

// enqueue stores a new job and what the rules found in it.
func (u *unit) enqueue(ctx context.Context, j task, ps []*prepared) error {
	rows, err := u.tx.Jobs(ctx, SelectJobs{IDs: []string{j.ID}})
	if err != nil || len(rows) > 0 {
		return err
	}
	j.Queued, j.Due, j.State = u.now, u.now, Queued
	for i := range j.Texts {
		if at := &j.Texts[i].Source.At; at.IsZero() || at.After(u.now) {
			*at = u.now
		}
	}
	if j.Outcomes, err = u.outcomes(ctx, ps); err != nil {
		return err
	}
	if len(j.Texts) == 0 || u.s.o.Extractor == nil && j.Ruled {
		j.finish(u.now)
	}
	if err := u.putJob(ctx, &j, JobRow{}); err != nil || j.State != Done {
		return err
	}
	return u.sweep(ctx)
}

// sweep removes jobs that were done long ago.
func (u *unit) sweep(ctx context.Context) error { return u.tx.DeleteJobs(ctx, u.now.Add(-u.s.o.Keep)) }

// A task is a job as the body of its row, with what only the store needs.
type task struct {
	Job
	Format int      `json:"v"`
	Writer identity `json:"writer"`
	Ruled  bool     `json:"ruled,omitzero"` // Options.Rules has seen it
}

// An identity is an agent as JSON.
type identity struct {
	Name       string       `json:"name"`
	Clearance  memory.Label `json:"clearance"`
	Namespaces []string     `json:"namespaces"`
}

func (j *task) finish(now time.Time) {
	j.State, j.Done, j.Texts, j.Items, j.Fault = Done, now, nil, nil, ""
}

// putJob stores a job. held is its row where somebody goes on holding it.
func (u *unit) putJob(ctx context.Context, j *task, held JobRow) error {
	j.Scope, j.Format, j.Writer = u.scope, format, identity{j.Agent.Name(), j.Agent.Clearance(), j.Agent.Namespaces()}
	body, err := json.Marshal(j)
	if err != nil {
		return fmt.Errorf("%w: job %.80q: %w", ErrCorrupt, j.ID, err)
	}
	u.queued = u.queued || j.State == Queued
	return u.tx.PutJob(ctx, JobRow{
		ID: j.ID, Scope: u.scope, State: j.State, Queued: j.Queued, Due: j.Due, Done: j.Done, Holder: held.Holder, Held: held.Held, Body: body,
	})
}

func taskOf(row JobRow) (*task, error) {
	j := &task{}
	if err := json.Unmarshal(row.Body, j); err != nil {
		return nil, fmt.Errorf("%w: job %.80q: %w", ErrCorrupt, row.ID, err)
	}
	if j.Format > format {
		return nil, fmt.Errorf("%w: job %.80q has format %d", ErrNewerFormat, row.ID, j.Format)
	}
	a, err := memory.NewAgent(j.Writer.Name, j.Writer.Clearance, j.Writer.Namespaces...)
	if err != nil {
		return nil, fmt.Errorf("%w: job %.80q: %w", ErrCorrupt, row.ID, err)
	}
	j.Agent, j.Scope = a, row.Scope
	return j, nil
}

func newJob(sc memory.Scope, a memory.Agent, e Exchange) (*task, error) {
	if err := cmp.Or(sc.Valid(), a.Valid()); err != nil {
		return nil, err
	}
	j := &task{Job: Job{Scope: sc, Agent: a, Conversation: e.Conversation}}
	first := slices.IndexFunc(e.Messages, func(m message.Message) bool { return m.Role == message.RoleUser })
	if first < 0 || !goodName(e.Conversation) || !goodName(e.Messages[first].ID) {
		return nil, ErrExchange
	}
	j.ID = jobID(sc, e.Conversation, e.Messages[first].ID)
	for _, m := range e.Messages {
		if !goodName(m.ID) {
			return nil, fmt.Errorf("%w: the id of a message is %.80q", ErrExchange, m.ID)
		}
		texts := len(j.Texts)
		if j.take(m, Source{Conversation: e.Conversation, Message: m.ID, At: moment(e.At)}); len(j.Texts) > texts {
			j.Messages = append(j.Messages, m.ID)
		}
	}
	return j, nil
}

func jobID(sc memory.Scope, conversation, msg string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q", sc.String(), conversation, msg))
	return "j-" + hex.EncodeToString(sum[:12])
}

// The longest texts that are taken, in bytes.
const (
	maxUserText = 32 << 10
	maxToolText = 8 << 10
)

// take adds what a message says, if it is a source.
func (j *task) take(m message.Message, src Source) {
	switch m.Role {
	case message.RoleUser:
		j.text(Text{Origin: FromUser, Source: src, Text: m.Text()}, maxUserText)
	case message.RoleTool:
		for _, r := range m.Results() {
			if src.Call = r.CallID; r.Status == message.StatusOK && !r.Interim && goodName(r.CallID) {
				j.text(Text{Origin: FromTool, Source: src, Tool: r.Name, Text: r.Text()}, maxToolText)
			}
		}
	}
}

func (j *task) text(t Text, limit int) {
	t.Text, _ = guard.Redact(tidy(t.Text)) // before it is cut: half a secret is not known as one
	if t.Text = middle(t.Text, limit); t.Text != "" {
		j.Texts = append(j.Texts, t)
	}
}

// middle leaves out the middle of a text that is too long.
func middle(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	head, tail := text[:limit/2], text[len(text)-limit/2:]
	for len(head) > 0 && !utf8.RuneStart(text[len(head)]) {
		head = head[:len(head)-1]
	}
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	return strings.TrimSpace(head) + "\n…\n" + strings.TrimSpace(tail)
}

// sees reports whether an agent may see a job: whatever will be made of it, it could see.
func sees(a memory.Agent, j *task) bool {
	for _, ns := range j.Agent.Namespaces() {
		if !a.May(j.Agent.Clearance(), ns) {
			return false
		}
	}
	return true
}

// Jobs returns a page of a user's jobs, with what became of them; after is the ID of the last of the page before. limit is at
// most 1000; 0 is 100. An agent sees those of agents that may see no more than it.
func (s *Store) Jobs(ctx context.Context, sc memory.Scope, a memory.Agent, after string, limit int) (out []Job, err error) {
	defer audited.Read(ctx, s.audit, access(sc, a.Name(), "Jobs", ""), &out, &err, jobIDs)
	if err := checkPage(nil, after); err != nil {
		return nil, err
	}
	limit = pageLimit(limit)
	err = s.view(ctx, sc, a, func(ctx context.Context, u *unit) error {
		out = nil
		return u.eachJob(ctx, SelectJobs{After: after, Limit: limit}, func(j *task, _ JobRow) (bool, error) {
			if sees(a, j) {
				out = append(out, j.Job)
			}
			return len(out) < limit, nil
		})
	})
	return out, err
}

// eachJob calls f for the jobs of a selection until it returns false, a page at a time.
func (u *unit) eachJob(ctx context.Context, sel SelectJobs, f func(*task, JobRow) (bool, error)) error {
	for {
		rows, err := u.tx.Jobs(ctx, sel)
		if err != nil {
			return err
		}
		for _, row := range rows {
			j, err := taskOf(row)
			if err != nil {
				return err
			}
			if more, err := f(j, row); err != nil || !more {
				return err
			}
		}
		if len(rows) == 0 || len(rows) < sel.Limit {
			return nil
		}
		sel.After = rows[len(rows)-1].ID
	}
}

// Retry makes a job due now that waits after a failure, or is parked, which may fail as often again.
func (s *Store) Retry(ctx context.Context, sc memory.Scope, a memory.Agent, id string) (err error) {
	acc := access(sc, a.Name(), "Retry", "", id)
	if err := s.audit.Begin(ctx, acc); err != nil {
		return err
	}
	defer s.audit.Ended(ctx, acc, &err)
	return s.update(ctx, sc, a, func(ctx context.Context, u *unit) error {
		j, row, err := u.job(ctx, id)
		if err != nil {
			return err
		}
		if !sees(a, j) {
			return ErrNotFound
		}
		if j.State != Parked && j.State != Failing {
			return nil
		}
		if j.State == Parked {
			j.Attempts = 0
		}
		j.State, j.Due = Queued, u.now
		return u.putJob(ctx, j, row)
	})
}

// job returns a job, or ErrNotFound.
func (u *unit) job(ctx context.Context, id string) (*task, JobRow, error) {
	if !goodName(id) {
		return nil, JobRow{}, ErrNotFound
	}
	rows, err := u.tx.Jobs(ctx, SelectJobs{IDs: []string{id}})
	if err != nil {
		return nil, JobRow{}, err
	}
	if len(rows) == 0 {
		return nil, JobRow{}, ErrNotFound
	}
	j, err := taskOf(rows[0])
	return j, rows[0], err
}

// unqueue takes messages, and items whose vectors are to be made, out of the jobs that are not done.
func (u *unit) unqueue(ctx context.Context, sources []Source, items []string) error {
	return u.eachJob(ctx, SelectJobs{Open: true, Limit: 100}, func(j *task, row JobRow) (bool, error) {
		texts, ids := len(j.Texts), len(j.Items)
		j.Texts = slices.DeleteFunc(j.Texts, func(t Text) bool { return slices.ContainsFunc(sources, t.Source.same) })
		j.Items = slices.DeleteFunc(j.Items, func(id string) bool { return slices.Contains(items, id) })
		if len(j.Texts) == texts && len(j.Items) == ids {
			return true, nil
		}
		if len(j.Texts) == 0 && len(j.Items) == 0 {
			j.finish(u.now)
			row = JobRow{} // whoever works on it writes nothing any more
		}
		return true, u.putJob(ctx, j, row)
	})
}
