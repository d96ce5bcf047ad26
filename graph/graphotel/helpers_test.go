package graphotel_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/graph/graphotel"
	"github.com/holdfast-go/holdfast/state"
)

// order is the state of the tests.
type order struct {
	Log    state.List[string] `json:"log"`
	Status state.Last[string] `json:"status"`
	Secret state.Last[string] `json:"secret" state:"hidden"`
	Money  money              `json:"money"`
}

type money struct {
	Paid state.Sum[int] `json:"paid"`
}

// A lab is a Telemetry whose spans and metrics are kept in memory.
type lab struct {
	*graphotel.Telemetry
	spans  *tracetest.SpanRecorder
	tracer trace.Tracer // of the program itself
	reader *metric.ManualReader
}

func newLab(t testing.TB, o graphotel.Options, sampler ...sdktrace.TracerProviderOption) *lab {
	t.Helper()
	l := &lab{spans: tracetest.NewSpanRecorder(), reader: metric.NewManualReader()}
	tp := sdktrace.NewTracerProvider(append(sampler, sdktrace.WithSpanProcessor(l.spans))...)
	o.TracerProvider, o.MeterProvider = tp, metric.NewMeterProvider(metric.WithReader(l.reader))
	l.tracer = tp.Tracer("program")
	tel, err := graphotel.New(o)
	if err != nil {
		t.Fatal(err)
	}
	l.Telemetry = tel
	return l
}

// tree draws the spans that have ended, with their outcomes, events and errors. Calls of the store are shown where verbose is set.
func (l *lab) tree(verbose bool) string {
	all := l.spans.Ended()
	slices.SortStableFunc(all, func(a, b sdktrace.ReadOnlySpan) int { // tasks of a superstep begin in any order
		if c := a.StartTime().Compare(b.StartTime()); c != 0 && (!isTask(a) || !isTask(b) || a.Parent().SpanID() != b.Parent().SpanID()) {
			return c
		}
		return strings.Compare(a.Name(), b.Name())
	})
	var b strings.Builder
	var draw func(parent trace.SpanID, depth int)
	draw = func(parent trace.SpanID, depth int) {
		for _, s := range all {
			if s.Parent().SpanID() != parent || !verbose && strings.HasPrefix(s.Name(), "store ") {
				continue
			}
			indent := strings.Repeat("  ", depth)
			fmt.Fprintf(&b, "%s%s%s\n", indent, s.Name(), ending(s))
			for _, e := range s.Events() {
				fmt.Fprintf(&b, "%s  * %s\n", indent, e.Name)
			}
			draw(s.SpanContext().SpanID(), depth+1)
		}
	}
	draw(trace.SpanID{}, 0)
	return b.String()
}

func isTask(s sdktrace.ReadOnlySpan) bool { return strings.HasPrefix(s.Name(), "task ") }

func ending(s sdktrace.ReadOnlySpan) (out string) {
	if v := attr(s.Attributes(), graphotel.OutcomeKey); v != "" {
		out = ": " + v
	}
	if v := attr(s.Attributes(), graphotel.ErrorTypeKey); v != "" {
		out += " (" + v + ")"
	}
	return out
}

func attr(kvs []attribute.KeyValue, key attribute.Key) string {
	for _, kv := range kvs {
		if kv.Key == key {
			return kv.Value.String()
		}
	}
	return ""
}

// named returns the ended spans of a name.
func (l *lab) named(name string) (out []sdktrace.ReadOnlySpan) {
	for _, s := range l.spans.Ended() {
		if s.Name() == name {
			out = append(out, s)
		}
	}
	return out
}

// metrics collects, by name.
func (l *lab) metrics(t testing.TB) map[string]metricdata.Metrics {
	t.Helper()
	var rm metricdata.ResourceMetrics
	if err := l.reader.Collect(t.Context(), &rm); err != nil {
		t.Fatal(err)
	}
	out := map[string]metricdata.Metrics{}
	for _, sm := range rm.ScopeMetrics {
		for _, m := range sm.Metrics {
			out[m.Name] = m
		}
	}
	return out
}

// points are the series of a histogram: their attributes in the order of their names, and the count.
func points(m metricdata.Metrics) map[string]uint64 {
	out := map[string]uint64{}
	if h, ok := m.Data.(metricdata.Histogram[float64]); ok {
		for _, p := range h.DataPoints {
			out[p.Attributes.Encoded(attribute.DefaultEncoder())] = p.Count
		}
	}
	return out
}

// refund is a graph with two nodes at once, one of them tried twice, then an effect and a question, then a child graph that may fail.
func refund(t testing.TB, l *lab, fail bool) *graph.Graph[order] {
	g := graph.New[order]("refund")
	tries := 0
	g.Node("policy", func(ctx context.Context, s *order) error {
		if tries++; tries == 1 {
			return errors.New("the service is busy")
		}
		_, span := l.tracer.Start(ctx, "model")
		span.End()
		s.Log.Append("policy")
		return nil
	})
	g.Policy("policy", graph.Policy{Attempts: 2, Backoff: 1})
	g.Node("risk", func(ctx context.Context, s *order) error { s.Log.Append("risk"); return nil })
	g.Node("pay", func(ctx context.Context, s *order) error {
		n, err := graph.Once(ctx, "charge", func(context.Context, string) (int, error) { return 12, nil })
		if err != nil {
			return err
		}
		ok, err := graph.Ask[bool](ctx, "sure", "Sure?")
		if ok {
			s.Money.Paid.Add(n)
		}
		return err
	})
	child := graph.New[order]("sending")
	child.Node("send", func(ctx context.Context, s *order) error {
		if fail {
			return errors.New("no network")
		}
		return nil
	})
	child.Edge(graph.Start, "send")
	graph.Mount(g, "notify", compile(t, child, graph.Options{}), nil, func(s, _ *order) { s.Status.Set("closed") })
	g.Edge(graph.Start, "policy")
	g.Edge(graph.Start, "risk")
	g.Join([]string{"policy", "risk"}, "pay")
	g.Edge("pay", "notify")
	return g
}

func compile(t testing.TB, g *graph.Graph[order], o graph.Options) *graph.App[order] {
	t.Helper()
	app, err := g.Compile(o)
	if err != nil {
		t.Fatal(err)
	}
	return app
}

// question ends the test unless err is a pause with one question.
func question(t testing.TB, err error) graph.Question {
	t.Helper()
	in, ok := errors.AsType[*graph.Interrupted](err)
	if !ok || len(in.Questions) != 1 {
		t.Fatalf("got %v, want one question", err)
	}
	return in.Questions[0]
}
