package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/holdfast-go/holdfast/graph"
)

// events streams what happens on the thread as server-sent events, whichever process runs it. The id of each is the event's
// number, so that a client which was cut off goes on where it was by sending Last-Event-ID, to any process. The stream ends when
// the run ends, when it waits for a person, and when this process stops. To a client that has seen everything the answer is 204,
// upon which an EventSource stops connecting. One that comes from a branch that was left, as after a rollback, gets the event "dropped"
// and then the new run from its beginning. A client that goes away, or reads slowly, holds nothing up.
func (d *desk) events(w http.ResponseWriter, r *http.Request) error {
	var o graph.WatchOptions
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		n, err := strconv.ParseInt(last, 10, 64)
		if err != nil || n < 0 {
			return malformed{fmt.Errorf("Last-Event-ID is %q, not the id of an event", last)}
		}
		o.After = n
	}
	s := stream{w: w}
	for e, err := range d.view.Watch(r.Context(), thread(r), o) {
		switch {
		case errors.Is(err, graph.ErrClosed): // the client comes back, to another process
			return s.begin()
		case err != nil && !s.open:
			return err
		case err != nil || s.send(e) != nil:
			return nil
		}
	}
	if !s.open {
		w.WriteHeader(http.StatusNoContent)
	}
	return nil
}

// A stream of server-sent events. Its header goes out with the first event.
type stream struct {
	w    http.ResponseWriter
	open bool
}

// begin sends the header, once.
func (s *stream) begin() error {
	if s.open {
		return nil
	}
	s.open = true
	s.w.Header().Set("Content-Type", "text/event-stream")
	s.w.Header().Set("Cache-Control", "no-store")
	_, err := fmt.Fprint(s.w, "retry: 500\n\n")
	return err
}

func (s *stream) send(e graph.Event) error {
	data, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if err := s.begin(); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(s.w, "id: %d\nevent: %s\ndata: %s\n\n", e.Seq, e.Kind, data); err != nil {
		return err
	}
	return http.NewResponseController(s.w).Flush()
}
