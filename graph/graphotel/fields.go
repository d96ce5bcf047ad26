package graphotel

import (
	"encoding/json"

	"go.opentelemetry.io/otel/attribute"

	"github.com/holdfast-go/holdfast/graph"
)

// fields are the fields of the state that were asked for.
func (t *Telemetry) fields(s graph.Span) (kvs []attribute.KeyValue) {
	doc, err := s.State()
	if err != nil { // it is JSON whenever the superstep could be committed
		return nil
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(doc, &object) != nil {
		return nil
	}
	for _, name := range t.opts.Fields {
		if v := object[name]; v != nil {
			kvs = append(kvs, attribute.String(StatePrefix+name, string(v)))
		}
	}
	return kvs
}
