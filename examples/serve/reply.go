package main

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
)

// A malformed request.
type malformed struct{ error }

// A refusal is what a client gets instead.
type refusal struct {
	Error string `json:"error"`
}

// codes says what errors mean in HTTP.
var codes = []struct {
	err  error
	code int
}{
	{graph.ErrNoThread, http.StatusNotFound},
	{graph.ErrBadAnswer, http.StatusUnprocessableEntity},
	{checkpoint.ErrBadKey, http.StatusBadRequest},
	{graph.ErrBusy, http.StatusConflict},
	{graph.ErrNotPending, http.StatusConflict},
	{graph.ErrExpired, http.StatusConflict},
	{graph.ErrNothingToDo, http.StatusConflict},
	{graph.ErrClosed, http.StatusServiceUnavailable},
	{checkpoint.ErrUnavailable, http.StatusServiceUnavailable},
}

// refuse answers with an error.
func refuse(w http.ResponseWriter, err error) {
	code := http.StatusInternalServerError
	if _, ok := errors.AsType[malformed](err); ok {
		code = http.StatusBadRequest
	}
	for _, c := range codes {
		if errors.Is(err, c.err) {
			code = c.code
			break
		}
	}
	reply(w, code, refusal{err.Error()})
}

// reply answers with a value.
func reply[T any](w http.ResponseWriter, code int, v T) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	w.Write(append(data, '\n')) // a client that is gone needs no answer
	return nil
}
