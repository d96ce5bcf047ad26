package graphotel

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/holdfast-go/holdfast/graph"
)

// Bounds of the histograms in seconds. Those of store calls are the ones that the semantic conventions advise for databases; runs
// and tasks wait for models, so theirs go on to an hour.
var (
	storeBounds = []float64{0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10}
	workBounds  = []float64{0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3600}
)

func (t *Telemetry) instruments() error {
	var errs [4]error
	histogram := func(name, help string, bounds []float64) (h metric.Float64Histogram, err error) {
		return t.meter.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(help), metric.WithExplicitBucketBoundaries(bounds...))
	}
	t.runs, errs[0] = histogram(RunDuration, "Duration of calls of Run and Resume, by graph and outcome.", workBounds)
	t.tasks, errs[1] = histogram(TaskDuration, "Duration of tasks with all their attempts, by node and outcome.", workBounds)
	t.stores, errs[2] = histogram(StoreDuration, "Duration of calls of a store, by operation.", storeBounds)
	t.questions, errs[3] = t.meter.Int64ObservableGauge(OpenQuestions, metric.WithUnit("{question}"),
		metric.WithDescription("Questions of a store that wait for an answer."))
	return errors.Join(errs[:]...)
}

// measure notes how long a run or a task took. Ids and tenants are no dimensions: there are too many of them.
func (t *Telemetry) measure(ctx context.Context, s graph.Span, outcome string) {
	start, ok := ctx.Value(began{}).(time.Time)
	if !ok || s.Kind != graph.RunSpan && s.Kind != graph.TaskSpan {
		return
	}
	kvs := []attribute.KeyValue{GraphKey.String(s.Graph), OutcomeKey.String(outcome)}
	h := t.runs
	if s.Kind == graph.TaskSpan {
		h, kvs = t.tasks, append(kvs, NodeKey.String(s.Node))
	}
	if s.Err != nil {
		kvs = append(kvs, ErrorTypeKey.String(errorType(s.Err)))
	}
	h.Record(ctx, time.Since(start).Seconds(), metric.WithAttributes(kvs...))
}
