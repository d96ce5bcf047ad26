package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/holdfast-go/holdfast/checkpoint"
)

var errShape = errors.New("a write is not [field, kind, data]")

// Encode makes the body of a record: the version byte and JSON. Strings are kept as they are (no HTML escapes), so that
// a value has the same bytes in every record that carries it.
func Encode(body any) ([]byte, error) {
	if e, ok := body.(*Entry); ok {
		return appendEntry(make([]byte, 0, 256), e), nil
	}
	var buf bytes.Buffer
	buf.WriteByte(Version)
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(body); err != nil {
		return nil, err
	}
	return buf.Bytes()[:buf.Len()-1], nil // without the newline
}

// Decode reads a body into v. Nothing is guessed: a later version is checkpoint.ErrNewerFormat,
// a cut or a foreign body checkpoint.ErrCorrupt.
func Decode(r checkpoint.Record, v any) error {
	if len(r.Body) == 0 {
		return corrupt(r, errors.New("empty body"))
	}
	if v := r.Body[0]; v > Version && v < ' ' { // what seals bodies begins them with other bytes
		return fmt.Errorf("%w: record %c at branch %d position %d has version %d, this program reads version %d", checkpoint.ErrNewerFormat, r.Kind, r.Branch, r.Pos, v, Version)
	}
	if r.Body[0] != Version {
		return corrupt(r, fmt.Errorf("body version %d, this program reads version %d", r.Body[0], Version))
	}
	if !utf8.Valid(r.Body) {
		return corrupt(r, errors.New("invalid UTF-8"))
	}
	if err := json.Unmarshal(r.Body[1:], v); err != nil {
		return corrupt(r, err)
	}
	return nil
}

func corrupt(r checkpoint.Record, err error) error {
	return fmt.Errorf("%w: record %c at branch %d position %d: %w", checkpoint.ErrCorrupt, r.Kind, r.Branch, r.Pos, err)
}

// appendEntry is the hot path: one entry a superstep. It writes what encoding/json would write for the same struct (a
// test compares them).
func appendEntry(b []byte, e *Entry) []byte {
	b = append(b, Version)
	b = append(b, `{"run":`...)
	b = appendString(b, e.Run)
	b = append(b, `,"g":`...)
	b = appendGraph(b, e.Graph)
	b = append(b, `,"t":`...)
	b = appendList(b, e.Tasks, appendDone)
	if e.Folded != nil {
		b = append(b, `,"f":`...)
		b = appendWrites(b, e.Folded)
	}
	if e.Next != nil {
		b = append(b, `,"next":`...)
		b = appendList(b, e.Next, appendTask)
	}
	if e.Joins != nil {
		b = append(b, `,"j":`...)
		b = appendList(b, e.Joins, appendOther[Join])
	}
	return append(b, '}')
}

func appendGraph(b []byte, g Graph) []byte {
	b = append(b, `{"n":`...)
	b = appendString(b, g.Name)
	if g.Version != 0 {
		b = append(b, `,"v":`...)
		b = strconv.AppendInt(b, int64(g.Version), 10)
	}
	b = append(b, `,"f":`...)
	b = appendString(b, g.Fingerprint)
	return append(b, '}')
}

func appendDone(b []byte, d *Done) []byte {
	b = append(b, `{"id":`...)
	b = appendString(b, d.ID)
	b = append(b, `,"n":`...)
	b = appendString(b, d.Node)
	if d.Attempt != 0 {
		b = append(b, `,"at":`...)
		b = strconv.AppendInt(b, int64(d.Attempt), 10)
	}
	if d.Writes != nil {
		b = append(b, `,"w":`...)
		b = appendWrites(b, d.Writes)
	}
	if d.To != nil {
		b = append(b, `,"to":`...)
		b = appendList(b, d.To, func(b []byte, s *string) []byte { return appendString(b, *s) })
	}
	if d.Sends != nil {
		b = append(b, `,"s":`...)
		b = appendList(b, d.Sends, func(b []byte, s *Send) []byte {
			b = append(b, `{"n":`...)
			b = appendString(b, s.Node)
			b = append(b, `,"a":`...)
			b = append(b, s.Arg...)
			return append(appendTime(b, s.Time), '}')
		})
	}
	if d.Escape != nil {
		b = append(b, `,"up":`...)
		b = appendList(b, d.Escape, func(b []byte, s *string) []byte { return appendString(b, *s) })
	}
	if d.Answers != nil {
		b = append(b, `,"q":`...)
		b = appendList(b, d.Answers, appendOther[Used])
	}
	if d.Handled != "" {
		b = append(b, `,"h":`...)
		b = appendString(b, d.Handled)
	}
	if d.Cached {
		b = append(b, `,"c":true`...)
	}
	if d.Instead {
		b = append(b, `,"i":true`...)
	}
	if d.Ref {
		b = append(b, `,"r":true`...)
	}
	return append(b, '}')
}

func appendTask(b []byte, t *Task) []byte {
	b = append(b, `{"id":`...)
	b = appendString(b, t.ID)
	b = append(b, `,"n":`...)
	b = appendString(b, t.Node)
	if t.Arg != nil {
		b = append(b, `,"a":`...)
		b = append(b, t.Arg...)
	}
	if t.From != nil {
		b = append(b, `,"s":[`...)
		b = strconv.AppendInt(b, int64(t.From[0]), 10)
		b = append(b, ',')
		b = strconv.AppendInt(b, int64(t.From[1]), 10)
		b = append(b, ']')
	}
	if t.Deferred {
		b = append(b, `,"d":true`...)
	}
	return append(appendTime(b, t.Time), '}')
}

func appendTime(b []byte, d time.Duration) []byte {
	if d == 0 {
		return b
	}
	return strconv.AppendInt(append(b, `,"tm":`...), int64(d), 10)
}

func appendWrites(b []byte, ws Writes) []byte {
	b = append(b, '[')
	for i, w := range ws {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '[')
		b = appendString(b, w.Field)
		b = append(b, ',')
		b = appendString(b, w.Kind)
		b = append(b, ',')
		b = append(b, w.Data...)
		b = append(b, ']')
	}
	return append(b, ']')
}

func appendList[T any](b []byte, list []T, one func([]byte, *T) []byte) []byte {
	b = append(b, '[')
	for i := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = one(b, &list[i])
	}
	return append(b, ']')
}

// appendOther is for what is rare in an entry.
func appendOther[T any](b []byte, v *T) []byte {
	body, err := Encode(v)
	if err != nil { // these structs hold strings, numbers and checked JSON
		panic(err)
	}
	return append(b, body[1:]...)
}

// appendString writes plain names directly and leaves the rest to encoding/json.
func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return appendOther(b, &s)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}
