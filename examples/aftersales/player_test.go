package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/examples/aftersales/script"
	"github.com/holdfast-go/holdfast/examples/aftersales/shop"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/crashpoint"
	"github.com/holdfast-go/holdfast/message"
	"github.com/holdfast-go/holdfast/nodes"
	"github.com/holdfast-go/holdfast/nodes/openai"
)

// A part is what a worker process is told: which dialogue to play, where, and how it dies. It comes in the environment of the test
// binary, which then is that worker and nothing else.
type part struct {
	Dialogue string
	Data     data
	Shop     string
	Threads  string // how the names of the conversations begin
	Restarts int    // how often another process has taken over because the dialogue says so
	Model    string // URL of a provider; empty: the script answers in the process itself
	Fate     string // "3 written E": dies at the third passing of that point; empty: it lives
}

const partEnv = "HOLDFAST_AFTERSALES_PART"

// exitRestart says that another process shall go on.
const exitRestart = 4

// playPart is the main function of a worker.
func playPart(doc string) int {
	var p part
	if err := json.Unmarshal([]byte(doc), &p); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitUsage
	}
	points, err := p.watch()
	if err == nil {
		err = p.play()
	}
	switch {
	case errors.Is(err, errRestart):
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		return exitFailed
	}
	if err := json.NewEncoder(os.Stdout).Encode(points()); err != nil {
		return exitFailed
	}
	if err != nil {
		return exitRestart
	}
	return exitOK
}

var errRestart = errors.New("another process goes on")

// behindMemory begins the names of points that are passed after long-term memory has begun to be told of a turn, until the next turn.
const behindMemory = "write_back: "

// watch counts the points that are passed, and dies at the one that is its fate.
func (p part) watch() (points func() map[string]int, err error) {
	count, at, _ := strings.Cut(p.Fate, " ")
	nth := 0
	if at != "" {
		if nth, err = strconv.Atoi(count); err != nil {
			return nil, err
		}
	}
	var mu sync.Mutex
	seen := map[string]int{}
	told := false
	crashpoint.Set(func(name string) {
		mu.Lock()
		defer mu.Unlock()
		if told = (told || name == "memory begins") && name != "acquire"; told {
			name = behindMemory + name
		}
		if seen[name]++; name == at && seen[name] == nth {
			die()
		}
	})
	return func() map[string]int {
		mu.Lock()
		defer mu.Unlock()
		return maps.Clone(seen)
	}, nil
}

// die is kill -9: nothing is unwound, nothing is flushed.
func die() {
	if p, err := os.FindProcess(os.Getpid()); err == nil {
		p.Kill()
	}
	select {}
}

// A player plays a dialogue from its beginning. What an earlier process has done already it does not do again: requests have
// names, decisions find no open question.
type player struct {
	part
	*desk
}

func (p part) play() error {
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Second)
	defer cancel()
	client := shop.NewClient(p.Shop, time.Minute)
	b, err := p.brain()
	if err != nil {
		return err
	}
	desk, err := openDesk(ctx, &printer{width: 80, mu: new(sync.Mutex), w: io.Discard}, deskOptions{
		Data: p.Data, User: customer, Shop: client.Through(marked), Brain: b, Policy: quick, Around: surroundings{markedTool, markedMemory},
	})
	if err != nil {
		return err
	}
	pl := &player{p, desk}
	return errors.Join(pl.all(ctx, client), desk.close())
}

func (p part) brain() (brain, error) {
	if p.Model == "" {
		return scripted(0), nil
	}
	m, err := openai.New(openai.Options{BaseURL: p.Model, Model: script.Name})
	return brain{model: m}, err
}

func (p *player) all(ctx context.Context, admin *shop.Client) error {
	if err := admin.Mend(ctx); err != nil {
		return err
	}
	th, conversation, days, restarts := p.conversation(1), 1, 0, 0
	for i, t := range dialogueOf(p.Dialogue).turns {
		if t.restart {
			if restarts++; restarts > p.Restarts {
				return errRestart
			}
		}
		if t.days > 0 {
			days += t.days
			if _, err := admin.Ahead(ctx, days); err != nil {
				return err
			}
		}
		if t.fresh {
			conversation++
			th = p.conversation(conversation)
		}
		if err := p.turn(ctx, admin, th, fmt.Sprintf("turn-%d", i), t); err != nil {
			return fmt.Errorf("turn %d, %q: %w", i, t.says, err)
		}
	}
	return nil
}

func (p part) conversation(n int) graph.Thread { return graph.ID(fmt.Sprintf("%s-%d", p.Threads, n)) }

func dialogueOf(name string) dialogue {
	for _, d := range dialogues {
		if d.name == name {
			return d
		}
	}
	panic("there is no dialogue " + name)
}

func (p *player) turn(ctx context.Context, admin *shop.Client, th graph.Thread, request string, t turn) (err error) {
	switch {
	case t.cancel:
		return p.cancelled(ctx, admin, th, request, t)
	case t.says == "":
		_, err = p.goOn(ctx, th)
	default:
		_, err = p.say(ctx, th, saying(request, t.says))
	}
	for {
		q, decision, open, derr := decided(err, t)
		if derr != nil || !open {
			return derr
		}
		by := t.by
		if by == "" {
			by = colleague
		}
		_, err = p.goOn(ctx, th, graph.Answer(q, decision).By(by))
	}
}

// saying is a message that is the same one in every process.
func saying(id, text string) message.Message {
	m := message.User(text)
	m.ID = id
	return m
}

// decided finds the next question that the turn has a decision for. Open is false if there is none: the run has ended, or waits.
func decided(err error, t turn) (q graph.Question, d nodes.Decision, open bool, _ error) {
	waiting, ok := errors.AsType[*graph.Interrupted](err)
	if !ok {
		if errors.Is(err, graph.ErrQueued) {
			err = nil
		}
		return q, d, false, err
	}
	for _, q := range waiting.Questions {
		a, err := graph.PromptOf[nodes.Approval](q)
		if err != nil {
			return q, d, false, err
		}
		var args refundWish
		if err := json.Unmarshal(a.Args, &args); err != nil {
			return q, d, false, err
		}
		if d, ok := t.decides[args.Order]; ok {
			return q, d, true, nil
		}
	}
	return q, d, false, nil
}

// cancelled ends the run for good while the shop keeps the answer to the payment back.
func (p *player) cancelled(ctx context.Context, admin *shop.Client, th graph.Thread, request string, t turn) error {
	if err := admin.Break(ctx, shop.Fault{Endpoint: "refund", Kind: shop.Hold}); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() {
		_, err := p.say(ctx, th, saying(request, t.says))
		ended <- err
	}()
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	held := make(chan error, 1)
	go func() { held <- admin.AwaitHeld(waiting, "refund") }()
	var err error
	select {
	case err = <-held:
		if err == nil {
			err = p.app.Cancel(ctx, th)
		}
		err = errors.Join(err, wasCancelled(<-ended))
	case err = <-ended: // an earlier process was told to cancel it
		err = wasCancelled(err)
		stop()
		<-held
	}
	return errors.Join(err, admin.Mend(ctx))
}

func wasCancelled(err error) error {
	if errors.Is(err, graph.ErrCancelled) || errors.Is(err, graph.ErrNothingToDo) {
		return nil
	}
	return err
}

// markedTool puts a point before and behind a tool.
func markedTool(t nodes.Tool) nodes.Tool {
	type next = func(context.Context, message.Call) (message.Result, error)
	return nodes.WrapTool(t, func(ctx context.Context, c message.Call, run next) (message.Result, error) {
		crashpoint.Hit("tool begins")
		defer crashpoint.Hit("tool ends")
		return run(ctx, c)
	})
}

// markedMemory puts points before and behind what long-term memory is told.
func markedMemory(m nodes.LongTerm) nodes.LongTerm { return marks{m} }

type marks struct{ nodes.LongTerm }

func (m marks) Remember(ctx context.Context, e nodes.Exchange) error {
	crashpoint.Hit("memory begins")
	defer crashpoint.Hit("memory ends")
	return m.LongTerm.Remember(ctx, e)
}

// marked puts a point before each request to the shop, and behind its answer, which this process has not read then.
func marked(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		crashpoint.Hit("shop asked")
		defer crashpoint.Hit("shop answered")
		return next.RoundTrip(r)
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
