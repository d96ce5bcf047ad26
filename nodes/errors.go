package nodes

import (
	"errors"
	"strings"
)

var (
	// ErrConfig is returned by New for a Config that cannot work. The error is a *ConfigError.
	ErrConfig = errors.New("nodes: the config cannot work")

	// ErrForeign is returned when a thread is given a message of another user, or of another tenant than the thread's. Nothing of
	// the message is kept.
	ErrForeign error = lasting("nodes: the thread belongs to somebody else; begin a thread of the user's own")

	// ErrNoInput is returned when a run was not begun with Input.
	ErrNoInput error = lasting("nodes: there is no message to answer; begin the run with nodes.Input")

	// ErrOutput is returned when no model has answered in the form that Role.Output asks for.
	ErrOutput = errors.New("nodes: the answer does not have the required form")

	// ErrNoAnswer is returned when a model did not answer although it was told that no more tools can be called.
	ErrNoAnswer = errors.New("nodes: the model calls tools although it may not any more; raise Config.MaxSteps or the step limit")

	// ErrNoTurn is returned by functions for tools when the context is not that of a node of this package.
	ErrNoTurn = errors.New("nodes: the context is not that of a ready node")
)

// A lasting error is the same at every attempt.
type lasting string

func (e lasting) Error() string { return string(e) }

// Retryable is false: the engine's retries ask it.
func (e lasting) Retryable() bool { return false }

// A ConfigError lists all that is wrong with a Config. It matches ErrConfig.
type ConfigError struct{ Faults []string }

// Error has one line for each fault.
func (e *ConfigError) Error() string { return ErrConfig.Error() + ":\n" + strings.Join(e.Faults, "\n") }

// Is reports whether target is ErrConfig.
func (e *ConfigError) Is(target error) bool { return target == ErrConfig }
