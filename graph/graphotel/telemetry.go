package graphotel

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/holdfast-go/holdfast/graph"
)

// Scope is the name of the instrumentation scope of all spans and metrics.
const Scope = "github.com/holdfast-go/holdfast/graph/graphotel"

// Options of a Telemetry. The zero value takes the global providers.
type Options struct {
	TracerProvider trace.TracerProvider // default otel.GetTracerProvider()
	MeterProvider  metric.MeterProvider // default otel.GetMeterProvider()

	// Fields of the state, also of the states of child graphs, by their json names (of a group "group.field"), that are put on the spans of supersteps as JSON. None by default: what they hold
	// is then in the traces. A hidden field is never shown. It costs the size of the state in each superstep that is sampled.
	Fields []string

	// Background gives spans also to store calls that belong to no other span: renewals of leases, rounds of Serve. Each is a
	// trace of its own. By default they are in the metrics only.
	Background bool

	// CountQuestions observes how many questions are open in a store. It costs a list over them at each collection, and each
	// process that collects observes all of them: take the maximum, not the sum. The default is not to.
	CountQuestions bool
}

// A Telemetry makes spans and metrics. It is a graph.Tracer, holds nothing of any run, and is safe for concurrent use by any
// number of apps and stores.
type Telemetry struct {
	opts   Options
	tracer trace.Tracer
	meter  metric.Meter

	runs, tasks, stores metric.Float64Histogram
	questions           metric.Int64ObservableGauge
}

var _ graph.Tracer = (*Telemetry)(nil)

// New makes a Telemetry. It fails only if the meter refuses an instrument.
func New(o Options) (*Telemetry, error) {
	if o.TracerProvider == nil {
		o.TracerProvider = otel.GetTracerProvider()
	}
	if o.MeterProvider == nil {
		o.MeterProvider = otel.GetMeterProvider()
	}
	t := &Telemetry{opts: o, tracer: o.TracerProvider.Tracer(Scope), meter: o.MeterProvider.Meter(Scope)}
	return t, t.instruments()
}

// began is when the work of a context began.
type began struct{}

// Begin implements graph.Tracer.
func (t *Telemetry) Begin(ctx context.Context, s graph.Span) context.Context {
	ctx, _ = t.tracer.Start(ctx, spanName(s), trace.WithAttributes(identity(s)...))
	return context.WithValue(ctx, began{}, time.Now())
}

// Note implements graph.Tracer: it adds an event to the span.
func (t *Telemetry) Note(ctx context.Context, what string, attrs ...slog.Attr) {
	span := trace.SpanFromContext(ctx)
	if !span.IsRecording() {
		return
	}
	var kvs []attribute.KeyValue
	for _, a := range attrs {
		kvs = append(kvs, eventAttr(a))
	}
	span.AddEvent(what, trace.WithAttributes(kvs...))
}

// End implements graph.Tracer.
func (t *Telemetry) End(ctx context.Context, s graph.Span) {
	out := outcome(s)
	t.measure(ctx, s, out)
	span := trace.SpanFromContext(ctx)
	defer span.End()
	if !span.IsRecording() {
		return
	}
	span.SetAttributes(OutcomeKey.String(out))
	if s.Run != "" {
		span.SetAttributes(RunKey.String(s.Run))
	}
	if s.Attempt > 0 {
		span.SetAttributes(AttemptKey.Int(s.Attempt))
	}
	if s.Err != nil {
		span.SetAttributes(ErrorTypeKey.String(errorType(s.Err)))
	}
	if failed(s) {
		span.SetStatus(codes.Error, s.Err.Error())
	}
	if s.Outcome == graph.EntryCommitted && len(t.opts.Fields) > 0 {
		span.SetAttributes(t.fields(s)...)
	}
}

// spanName has few values, so that spans group: no ids.
func spanName(s graph.Span) string {
	switch s.Kind {
	case graph.RunSpan:
		return "run " + s.Graph
	case graph.TaskSpan:
		return "task " + s.Node
	case graph.CallSpan:
		return "call " + s.Graph
	default:
		return string(s.Kind)
	}
}

// identity is what is known of a span when it begins.
func identity(s graph.Span) []attribute.KeyValue {
	kvs := []attribute.KeyValue{GraphKey.String(s.Graph), TenantKey.String(s.Thread.Tenant), ThreadKey.String(s.Thread.ID)}
	if s.Thread.Branch != "" {
		kvs = append(kvs, BranchKey.String(s.Thread.Branch))
	}
	if s.Run != "" {
		kvs = append(kvs, RunKey.String(s.Run))
	}
	if len(s.Path) > 0 {
		kvs = append(kvs, PathKey.String(strings.Join(s.Path, "/")))
	}
	if s.Kind == graph.StepSpan || s.Kind == graph.TaskSpan {
		kvs = append(kvs, StepKey.Int64(s.Step))
	}
	if s.Kind == graph.TaskSpan {
		kvs = append(kvs, NodeKey.String(s.Node), TaskKey.String(s.Task))
	}
	return kvs
}

// eventAttr keeps numbers and truth values as what they are. A duration is in seconds, everything else is text.
func eventAttr(a slog.Attr) attribute.KeyValue {
	key := attribute.Key(EventPrefix + a.Key)
	switch v := a.Value.Resolve(); v.Kind() {
	case slog.KindInt64:
		return key.Int64(v.Int64())
	case slog.KindBool:
		return key.Bool(v.Bool())
	case slog.KindFloat64:
		return key.Float64(v.Float64())
	case slog.KindDuration:
		return key.Float64(v.Duration().Seconds())
	default:
		return key.String(v.String())
	}
}
