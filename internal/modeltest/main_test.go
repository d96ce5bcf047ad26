package modeltest_test

import (
	"errors"
	"os"
	"os/exec"
	"testing"

	"go.uber.org/goleak"
)

// TestMain runs the tests in a process in which every superstep checks the log against the state: package graph reads the
// variable when it is initialised.
func TestMain(m *testing.M) {
	const verify = "HOLDFAST_VERIFY"
	if os.Getenv(verify) == "1" {
		goleak.VerifyTestMain(m)
		return
	}
	cmd := exec.Command(os.Args[0], os.Args[1:]...)
	cmd.Env = append(os.Environ(), verify+"=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		os.Exit(exit.ExitCode())
	}
	if err != nil {
		panic(err)
	}
}
