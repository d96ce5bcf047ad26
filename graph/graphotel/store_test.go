package graphotel_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/checkpointtest"
	"github.com/holdfast-go/holdfast/graph/graphotel"
)

// A watched store behaves as the one below, in every case of the suite. // E50
func TestStoreSuite(t *testing.T) {
	t.Parallel()
	checkpointtest.Run(t, func(t *testing.T) checkpoint.Store {
		s := newLab(t, graphotel.Options{Background: true, CountQuestions: true}).Store(new(checkpoint.Memory))
		t.Cleanup(func() { s.Close() })
		return s
	})
}

// Every call of the contract has a span and a measurement, and what a call returns comes back. // E50
func TestEveryCallIsSeen(t *testing.T) {
	t.Parallel()
	l := newLab(t, graphotel.Options{Background: true})
	s := l.Store(new(checkpoint.Memory))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	contract := reflect.TypeFor[checkpoint.Store]()
	for i := range contract.NumMethod() {
		m := contract.Method(i)
		if m.Name == "Info" || m.Name == "Close" {
			continue
		}
		args := []reflect.Value{reflect.ValueOf(t.Context())}
		for k := 1; k < m.Type.NumIn(); k++ {
			v := reflect.New(m.Type.In(k)).Elem()
			if v.Kind() == reflect.Pointer {
				v.Set(reflect.New(v.Type().Elem()))
			}
			args = append(args, v)
		}
		out := reflect.ValueOf(s).MethodByName(m.Name).Call(args)
		err, _ := out[len(out)-1].Interface().(error)
		spans := l.named("store " + m.Name)
		if len(spans) != 1 {
			t.Errorf("%s has %d spans", m.Name, len(spans))
			continue
		}
		if (spans[0].Status().Code == codes.Error) != (err != nil) || (ending(spans[0]) != "") != (err != nil) {
			t.Errorf("%s: %v, and the span says %v%s", m.Name, err, spans[0].Status(), ending(spans[0]))
		}
	}
	if n := len(points(l.metrics(t)[graphotel.StoreDuration])); n != contract.NumMethod()-2 {
		t.Errorf("%d operations were measured, the contract has %d", n, contract.NumMethod()-2)
	}
}

// tenants is a store that refuses lists over all tenants, as one with row-level security does.
type tenants struct{ checkpoint.Store }

func (tenants) Questions(context.Context, checkpoint.QuestionFilter) ([]checkpoint.Question, error) {
	return nil, errors.New("name a tenant")
}

// Where questions cannot be listed the metric is missing, and the collection says why. // E50
func TestQuestionsThatCannotBeCounted(t *testing.T) {
	t.Parallel()
	l := newLab(t, graphotel.Options{CountQuestions: true})
	s := l.Store(tenants{new(checkpoint.Memory)})
	defer s.Close()
	var rm metricdata.ResourceMetrics
	if err := l.reader.Collect(t.Context(), &rm); err == nil || !strings.Contains(err.Error(), "name a tenant") {
		t.Errorf("collected: %v", err)
	}
}

func openQuestions(t *testing.T, l *lab) int64 {
	t.Helper()
	g, ok := l.metrics(t)[graphotel.OpenQuestions].Data.(metricdata.Gauge[int64])
	if !ok || len(g.DataPoints) != 1 {
		t.Fatalf("the gauge: %+v", g)
	}
	return g.DataPoints[0].Value
}
