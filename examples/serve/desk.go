package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
)

// A desk answers HTTP requests. It needs no type of the state, and holds nothing between two requests: any process will do.
type desk struct {
	view  *graph.View
	store checkpoint.Store
}

func (d *desk) handler() http.Handler {
	m := http.NewServeMux()
	for pattern, h := range map[string]func(http.ResponseWriter, *http.Request) error{
		"POST /threads/{id}/runs":  d.start,
		"GET /threads/{id}/events": d.events,
		"GET /threads/{id}":        d.state,
		"DELETE /threads/{id}":     d.cancel,
		"GET /questions":           d.questions,
		"POST /questions/{id}":     d.answer,
	} {
		m.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if err := h(w, r); err != nil {
				refuse(w, err)
			}
		})
	}
	return m
}

// thread is the one that a path names. All are of one tenant: this example does not know its callers.
func thread(r *http.Request) graph.Thread { return graph.ID(r.PathValue("id")) }

// A started run.
type started struct {
	Run string `json:"run"`
}

// start starts a run with the input in the body. With an Idempotency-Key a repeated request starts nothing.
func (d *desk) start(w http.ResponseWriter, r *http.Request) error {
	input, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err != nil {
		return malformed{err}
	}
	if len(input) > 0 && !json.Valid(input) {
		return malformed{errors.New("the input is no JSON")}
	}
	v := d.view.With(graph.RunOptions{Detach: true, Request: r.Header.Get("Idempotency-Key")})
	run, err := first(v.Stream(r.Context(), thread(r), input))
	if dup, ok := errors.AsType[*graph.DuplicateError](err); ok {
		return reply(w, http.StatusOK, started{dup.Run})
	}
	if err != nil {
		return err
	}
	return reply(w, http.StatusAccepted, started{run})
}

// first waits until a run is under way and leaves it to the App.
func first(events iter.Seq2[graph.Event, error]) (run string, err error) {
	for e, err := range events {
		return e.Run, err
	}
	return "", nil
}

// state is the thread as it stands.
func (d *desk) state(w http.ResponseWriter, r *http.Request) error {
	st, err := d.view.State(r.Context(), thread(r))
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, st)
}

// cancel ends the thread's run for good, in whatever process it runs.
func (d *desk) cancel(w http.ResponseWriter, r *http.Request) error {
	if err := d.view.Cancel(r.Context(), thread(r)); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// An open question, and where it was asked.
type open struct {
	Thread   string         `json:"thread"`
	Question graph.Question `json:"question"`
}

// questions lists what waits for a person, oldest first.
func (d *desk) questions(w http.ResponseWriter, r *http.Request) error {
	list := []open{}
	seen := map[string]bool{} // a thread may have several
	for row, err := range d.rows(r.Context()) {
		if err != nil {
			return err
		}
		if seen[row.Thread] {
			continue
		}
		seen[row.Thread] = true
		st, err := d.view.State(r.Context(), graph.ID(row.Thread))
		if err != nil {
			return err
		}
		for _, q := range st.Questions {
			list = append(list, open{row.Thread, q})
		}
	}
	return reply(w, http.StatusOK, list)
}

// rows iterates over the rows of open questions.
func (d *desk) rows(ctx context.Context) iter.Seq2[checkpoint.Question, error] {
	return func(yield func(checkpoint.Question, error) bool) {
		f := checkpoint.QuestionFilter{Tenant: graph.SingleTenant}
		for {
			page, err := d.store.Questions(ctx, f)
			if err != nil {
				yield(checkpoint.Question{}, err)
				return
			}
			for _, q := range page {
				if f.After = (checkpoint.QuestionCursor{Asked: q.Asked, Key: q.Key, ID: q.ID}); !yield(q, nil) {
					return
				}
			}
			if len(page) == 0 {
				return
			}
		}
	}
}

// An answer to a question.
type answer struct {
	Answer json.RawMessage `json:"answer"`
	By     string          `json:"by"`
}

// answer records an answer and lets the run go on in this process. The thread is looked up by the question.
func (d *desk) answer(w http.ResponseWriter, r *http.Request) error {
	var a answer
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&a); err != nil {
		return malformed{err}
	}
	id := r.PathValue("id")
	for row, err := range d.rows(r.Context()) {
		if err != nil {
			return err
		}
		if row.ID != id {
			continue
		}
		v := d.view.With(graph.RunOptions{Detach: true})
		run, err := first(v.StreamResume(r.Context(), graph.ID(row.Thread), graph.AnswerJSON(id, a.Answer).By(a.By)))
		if err != nil && !recorded(err) {
			return err
		}
		return reply(w, http.StatusAccepted, started{run})
	}
	return fmt.Errorf("%w: there is no open question %q", graph.ErrNotPending, id)
}

// recorded reports whether an answer was taken although the run does not go on here: others are open, or another process has it.
func recorded(err error) bool {
	busy, ok := errors.AsType[*graph.BusyError](err)
	return ok && busy.Recorded || errors.Is(err, graph.ErrInterrupted)
}
