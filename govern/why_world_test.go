package govern_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/sqlite"
	"github.com/holdfast-go/holdfast/govern"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/longterm"
	longtermsqlite "github.com/holdfast-go/holdfast/memory/longterm/sqlite"
	"github.com/holdfast-go/holdfast/memory/session"
	sessionsqlite "github.com/holdfast-go/holdfast/memory/session/sqlite"
	"github.com/holdfast-go/holdfast/memory/working"
	"github.com/holdfast-go/holdfast/message"
	"github.com/holdfast-go/holdfast/nodes"
)

// Help is the state of an agent of package nodes.
type help struct{ nodes.Turn }

// An echo is a model that answers with one word, and keeps what it was told.
type echo struct {
	mu   sync.Mutex
	told []string
}

func (m *echo) Generate(_ context.Context, r nodes.Request, _ func(nodes.Delta)) (nodes.Answer, error) {
	var all strings.Builder
	for _, msg := range r.Messages {
		all.WriteString(msg.Text() + "\n")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.told = append(m.told, all.String())
	return nodes.Answer{Message: message.Assistant("Noted."), Stop: nodes.StopEnd}, nil
}

func (m *echo) last() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.told[len(m.told)-1]
}

// A reader is an extractor that keeps each thing that the user says, but for questions, as it is told to.
type reader struct {
	mu     sync.Mutex
	wants  map[string]longterm.Draft // by text; the zero draft: nothing
	infers bool
	fails  error
}

func (r *reader) Extract(_ context.Context, ts []longterm.Text, _ []longterm.Item) (out []longterm.Draft, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fails != nil {
		return nil, r.fails
	}
	for _, t := range ts {
		d, told := r.wants[t.Text]
		if t.Origin != longterm.FromUser || told && d.Text == "" || strings.HasSuffix(t.Text, "?") || strings.HasSuffix(t.Text, "？") {
			continue
		}
		if !told {
			d = longterm.Draft{Text: t.Text, Confidence: 0.9, Key: fmt.Sprintf("%x", t.Text)[:min(40, 2*len(t.Text))]}
		}
		d.Kind, d.Origin, d.Source = longterm.Semantic, t.Origin, t.Source
		if r.infers {
			d.Origin = longterm.Inferred
		}
		out = append(out, d)
	}
	return out, nil
}

func (r *reader) keep(text string, d longterm.Draft) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wants[text] = d
}

// A clinic is an agent, with all that it keeps, of which somebody asks why.
type clinic struct {
	testing.TB
	boxes  govern.Boxes
	app    *graph.App[help]
	model  *echo
	reader *reader
	agent  memory.Agent
	reads  memory.Agent // that did not remember, if it is another
}

func newClinic(t testing.TB, durable bool, profile working.Profile) *clinic {
	t.Helper()
	c := &clinic{TB: t, model: &echo{}, reader: &reader{wants: map[string]longterm.Draft{}}}
	var err error
	c.agent, err = memory.NewAgent("helper", memory.Internal, namespace)
	ok(t, err)
	o := longterm.Options{Extractor: c.reader, Logger: slog.New(slog.DiscardHandler), Backoff: time.Hour, Attempts: 2}
	if durable {
		path := filepath.Join(t.TempDir(), "app.db")
		c.boxes.Threads, err = sqlite.Open(path, sqlite.Options{})
		ok(t, err)
		c.boxes.Session, err = sessionsqlite.Open(path, sessionsqlite.Options{})
		ok(t, err)
		c.boxes.Longterm, err = longtermsqlite.Open(path, longtermsqlite.Options{Longterm: o})
	} else {
		c.boxes.Threads = new(checkpoint.Memory)
		c.boxes.Session, err = session.NewMemory(session.Options{})
		ok(t, err)
		c.boxes.Longterm, err = longterm.NewMemory(o)
	}
	ok(t, err)
	kit, err := nodes.New(nodes.Config{
		Roles: []nodes.Role{{Name: "helper", System: []string{"You help."}, Models: []nodes.Model{c.model}}}, Session: c.boxes.Session,
		LongTerm: nodes.Memories{Store: c.boxes.Longterm}, Agent: c.agent, Profile: profile,
	})
	ok(t, err)
	c.app, err = nodes.Agent[help]("help", kit).Compile(graph.Options{Store: c.boxes.Threads})
	ok(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := errors.Join(c.app.Close(ctx), c.boxes.Threads.Close(), c.boxes.Session.Close(), c.boxes.Longterm.Close()); err != nil {
			t.Error(err)
		}
	})
	return c
}

// say has a user say something in a conversation, and returns the state after the answer.
func (c *clinic) say(user, conversation, text string) *help {
	c.Helper()
	m, sc := message.User(text), scopeOf(c, user)
	out, err := c.app.With(nodes.RunOptions(sc, conversation, m)).Run(context.Background(), graph.Thread{Tenant: tenant, ID: user + "-" + conversation},
		nodes.InputTo[help](sc, conversation, m))
	ok(c, err)
	return out
}

// extract does what the outbox has.
func (c *clinic) extract() {
	c.Helper()
	_, err := c.boxes.Longterm.Drain(context.Background())
	ok(c, err)
}

// retry makes all jobs of a user due that have failed.
func (c *clinic) retry(user string) {
	c.Helper()
	jobs, err := c.boxes.Longterm.Jobs(c.Context(), scopeOf(c, user), c.agent, "", 0)
	ok(c, err)
	for _, j := range jobs {
		if j.State == longterm.Failing {
			ok(c, c.boxes.Longterm.Retry(c.Context(), scopeOf(c, user), c.agent, j.ID))
		}
	}
}

// add stores texts by hand.
func (c *clinic) add(user string, texts ...string) (ids []string) {
	c.Helper()
	for i, text := range texts {
		out, err := c.boxes.Longterm.Add(context.Background(), scopeOf(c, user), c.agent, longterm.Draft{
			Kind: longterm.Semantic, Key: fmt.Sprint("by hand ", i), Text: text, Origin: longterm.FromUser,
			Source: longterm.Source{Conversation: "imported", Message: fmt.Sprint("row ", i), At: time.Now()},
		})
		ok(c, err)
		ids = append(ids, out[0].ID)
	}
	return ids
}

func (c *clinic) why(user, words string) govern.Explanation {
	c.Helper()
	e, err := c.boxes.Why(context.Background(), govern.Question{Scope: scopeOf(c, user), Agent: c.agent, Words: words})
	ok(c, err)
	return e
}

func reads(out *help, text string) bool {
	for _, i := range out.Memories.Get() {
		if strings.Contains(i.Text, text) {
			return true
		}
	}
	return false
}
