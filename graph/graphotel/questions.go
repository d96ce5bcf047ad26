package graphotel

import (
	"context"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"

	"github.com/holdfast-go/holdfast/checkpoint"
)

// mostCounted bounds what one collection reads; more questions than that are shown as so many.
const mostCounted = 10_000

// countQuestions observes the open questions of a store at each collection.
func (t *Telemetry) countQuestions(inner checkpoint.Store, name string) metric.Registration {
	reg, err := t.meter.RegisterCallback(func(ctx context.Context, o metric.Observer) error {
		n, err := questions(ctx, inner)
		if err == nil {
			o.ObserveInt64(t.questions, n, metric.WithAttributes(StoreKey.String(name)))
		}
		return err
	}, t.questions)
	if err != nil { // the instrument is the meter's own
		otel.Handle(err)
		return nil
	}
	return reg
}

func questions(ctx context.Context, s checkpoint.Store) (n int64, err error) {
	f := checkpoint.QuestionFilter{Limit: 1000}
	for n < mostCounted {
		page, err := s.Questions(ctx, f)
		if err != nil || len(page) == 0 {
			return n, err
		}
		n += int64(len(page))
		last := &page[len(page)-1]
		f.After = checkpoint.QuestionCursor{Asked: last.Asked, Key: last.Key, ID: last.ID}
	}
	return n, nil
}
