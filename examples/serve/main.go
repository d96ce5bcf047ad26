// Command serve is a durable graph behind HTTP: runs are started, watched as server-sent events, answered and cancelled through
// any of several processes over one store. README.md lists the calls.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/stores" // a program of its own calls the constructor of its back end
)

func main() {
	db := flag.String("db", "serve.db", "where threads are kept: a SQLite file, a postgres:// or a redis:// URL")
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen on")
	pace := flag.Duration("pace", 300*time.Millisecond, "how long the writing of one line takes")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	if err := serve(ctx, *db, *addr, *pace); err != nil {
		fmt.Fprintln(os.Stderr, "serve:", err)
		os.Exit(1)
	}
}

// patience is how long runs and connections may take to come to a stop.
const patience = 20 * time.Second

// serve serves until ctx ends. Then runs stop where Resume can take them up, and connections end.
func serve(ctx context.Context, db, addr string, pace time.Duration) (err error) {
	store, err := stores.Open(ctx, db)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	app, err := report(pace).Compile(graph.Options{Store: store})
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	fmt.Println("http://" + l.Addr().String())
	s := &http.Server{Handler: (&desk{view: app.View(), store: store}).handler(), ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 2)
	go func() { failed <- s.Serve(l) }()
	go func() { failed <- app.Serve(ctx, graph.ServeOptions{}) }() // takes up what stopped and crashed processes have left
	select {
	case err = <-failed:
	case <-ctx.Done():
	}
	if ctx.Err() != nil { // Serve of the App says so too
		err = nil
	}
	return errors.Join(err, drain(app, s))
}

// drain stops all runs at their next superstep, where another process takes them up; that ends the streams of events too.
func drain(app *graph.App[Report], s *http.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	shut := make(chan error, 1)
	go func() { shut <- s.Shutdown(ctx) }() // no new connection from here on
	err := app.Close(ctx)
	if serr := <-shut; serr != nil {
		err = errors.Join(err, serr, s.Close())
	}
	return err
}
