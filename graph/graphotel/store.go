package graphotel

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/holdfast-go/holdfast/checkpoint"
)

// store passes calls on and tells of them.
type store struct {
	checkpoint.Store
	tel   *Telemetry
	name  string
	count metric.Registration // nil unless questions are counted
}

// Store returns the store with a span and a measurement for each call. It behaves as the one below in everything. Closing it
// closes the one below.
func (t *Telemetry) Store(inner checkpoint.Store) checkpoint.Store {
	s := &store{Store: inner, tel: t, name: inner.Info().Name}
	if t.opts.CountQuestions {
		s.count = t.countQuestions(inner, s.name)
	}
	return s
}

// Close ends the counting of questions with the store.
func (s *store) Close() error {
	if s.count != nil {
		s.count.Unregister()
	}
	return s.Store.Close()
}

// observe tells of one call. what it returns may add to what its span says.
func observe[T any](ctx context.Context, s *store, operation string, key checkpoint.Key, call func(context.Context) (T, error), sizes ...size[T]) (T, error) {
	ctx, span := s.begin(ctx, operation, key)
	start := time.Now()
	out, err := call(ctx)
	kvs := []attribute.KeyValue{StoreKey.String(s.name), OperationKey.String(operation)}
	if err != nil {
		kvs = append(kvs, ErrorTypeKey.String(errorType(err)))
	}
	s.tel.stores.Record(ctx, time.Since(start).Seconds(), metric.WithAttributes(kvs...))
	if span == nil {
		return out, err
	}
	defer span.End()
	if err != nil {
		span.SetAttributes(ErrorTypeKey.String(errorType(err)))
		span.SetStatus(codes.Error, err.Error())
	} else if span.IsRecording() && len(sizes) > 0 {
		span.SetAttributes(sizeOf(sizes[0](out))...)
	}
	return out, err
}

// begin starts a span, unless the call belongs to nothing.
func (s *store) begin(ctx context.Context, operation string, key checkpoint.Key) (context.Context, trace.Span) {
	if !s.tel.opts.Background && !trace.SpanContextFromContext(ctx).IsValid() {
		return ctx, nil
	}
	kvs := []attribute.KeyValue{StoreKey.String(s.name), OperationKey.String(operation)}
	if key != (checkpoint.Key{}) {
		kvs = append(kvs, TenantKey.String(key.Tenant), ThreadKey.String(key.Thread))
	}
	return s.tel.tracer.Start(ctx, "store "+operation, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(kvs...))
}

// A size finds the records that a call has moved.
type size[T any] func(T) []checkpoint.Record

func sizeOf(rs []checkpoint.Record) []attribute.KeyValue {
	n := 0
	for i := range rs {
		n += len(rs[i].Body)
	}
	return []attribute.KeyValue{RecordsKey.Int(len(rs)), BytesKey.Int(n)}
}
