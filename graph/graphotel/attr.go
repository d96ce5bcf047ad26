package graphotel

import "go.opentelemetry.io/otel/attribute"

// The attributes. docs/observability.md says where each one is and what it means.
const (
	GraphKey     = attribute.Key("holdfast.graph")
	TenantKey    = attribute.Key("holdfast.tenant")
	ThreadKey    = attribute.Key("holdfast.thread")
	BranchKey    = attribute.Key("holdfast.branch")
	RunKey       = attribute.Key("holdfast.run")
	PathKey      = attribute.Key("holdfast.path")
	StepKey      = attribute.Key("holdfast.step")
	NodeKey      = attribute.Key("holdfast.node")
	TaskKey      = attribute.Key("holdfast.task")
	AttemptKey   = attribute.Key("holdfast.attempt")
	OutcomeKey   = attribute.Key("holdfast.outcome")
	StoreKey     = attribute.Key("holdfast.store")
	OperationKey = attribute.Key("holdfast.operation")
	RecordsKey   = attribute.Key("holdfast.records")
	BytesKey     = attribute.Key("holdfast.bytes")
	ErrorTypeKey = attribute.Key("error.type") // of the semantic conventions
)

// StatePrefix stands before the name of a field that Options.Fields names.
const StatePrefix = "holdfast.state."

// EventPrefix stands before the attributes of span events.
const EventPrefix = "holdfast."

// The metrics. Durations are histograms in seconds.
const (
	RunDuration   = "holdfast.run.duration"
	TaskDuration  = "holdfast.task.duration"
	StoreDuration = "holdfast.store.duration"
	OpenQuestions = "holdfast.questions.open"
)
