// Command holdfast looks at threads and changes them by hand, on any store, without the program that wrote them.
//
//	holdfast -store sqlite:threads.db threads
//	holdfast -store postgres://app@db/app questions
//	holdfast -store redis://cache:6379/0 answer order-7 -by ann
//
// "holdfast help" lists the commands; docs/cli.md shows one example of each. The flags of the store come before the command, or
// from the environment:
//
//	-store         HOLDFAST_STORE          path, sqlite:path, postgres:// or redis://
//	-memory        HOLDFAST_MEMORY         where the boxes of memory are: path, sqlite:path or postgres://; default: where the store is
//	-encrypt-keys  HOLDFAST_ENCRYPT_KEYS   keys of an encrypted store
//	-sign-keys     HOLDFAST_SIGN_KEYS      keys of a signed store
//	-adopt                                 also accept rows that are not sealed
//
// The flags name files of keys, the variables hold the keys themselves: id:key in each line, or separated by commas, the key in
// base64, the current one first. A store that is encrypted over signatures needs both.
//
// A URL of Postgres takes ?schema= and ?pooler=true, one of Redis ?prefix= and ?ttl=, beside what their drivers take. Give the TTL that
// the program has: without it, an ended thread that is changed by hand stays until the program changes it again. Opening migrates a
// store of an older release; one of a newer release is refused. What runs nodes needs the program: see package graphcli.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/graph/graphcli"
	goredis "github.com/redis/go-redis/v9"
)

func main() {
	goredis.SetLogger(silent{}) // what it has to say is in the error
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args, os.Getenv, os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// silent is a logger of a driver that says nothing.
type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

// run opens the store and runs the command on a bare View of it.
func run(ctx context.Context, args []string, env func(string) string, stdin io.Reader, stdout, stderr io.Writer) int {
	fail := func(code int, err error) int {
		fmt.Fprintf(stderr, "holdfast: %v\n", err)
		return code
	}
	o := options{env: env}
	flags := flag.NewFlagSet("holdfast", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	o.declare(flags)
	switch err := flags.Parse(args[1:]); {
	case errors.Is(err, flag.ErrHelp):
		return help(ctx, []string{"help"}, flags, stdin, stdout, stderr)
	case err != nil:
		return fail(2, err)
	}
	rest := flags.Args()
	if len(rest) == 0 || asksForHelp(rest) && memoryCommands[rest[0]].run == nil {
		return help(ctx, rest, flags, stdin, stdout, stderr)
	}
	if _, ok := memoryCommands[rest[0]]; ok {
		return runMemory(ctx, &o, rest, stdout, stderr)
	}
	store, err := o.open(ctx)
	switch {
	case err == errNoStore:
		return fail(2, err)
	case err != nil:
		return fail(1, err)
	}
	defer store.Close()
	view := graph.Bare(store)
	defer closeView(view)
	return graphcli.Run(ctx, view, append([]string{"holdfast"}, rest...), stdin, stdout, stderr)
}

// asksForHelp reports whether no store is needed.
func asksForHelp(args []string) bool {
	return args[0] == "help" || slices.ContainsFunc(args, func(a string) bool { return a == "-h" || a == "-help" || a == "--help" })
}

// help explains the commands, and the flags of the store behind them.
func help(ctx context.Context, args []string, flags *flag.FlagSet, stdin io.Reader, stdout, stderr io.Writer) int {
	code := graphcli.Run(ctx, graph.Bare(nil), append([]string{"holdfast"}, args...), stdin, stdout, stderr)
	if code != 0 || len(args) != 1 {
		return code
	}
	fmt.Fprint(stdout, "\non memory:\n")
	for _, name := range slices.Sorted(maps.Keys(memoryCommands)) {
		fmt.Fprintf(stdout, "  %-10s %s\n", name, memoryCommands[name].short)
	}
	fmt.Fprint(stdout, "\nbefore the command:\n")
	flags.SetOutput(stdout)
	flags.PrintDefaults()
	return code
}

// closeView lets go what a command holds, which is nothing once it has returned.
func closeView(view *graph.View) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	view.Close(ctx)
}
