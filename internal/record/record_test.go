package record_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/internal/record"
	"github.com/holdfast-go/holdfast/state"
)

// bodies are all kinds of bodies, made of whatever the generator draws. Slices are nil or not empty, as the engine makes
// them.
var bodies = []*rapid.Generator[any]{
	body(func(t *rapid.T) record.Entry {
		return record.Entry{Run: name(t), Graph: graphs(t), Tasks: some(t, dones), Folded: writes(t), Next: list(t, tasks), Joins: list(t, joins)}
	}),
	body(func(t *rapid.T) record.Input {
		return record.Input{
			Run: name(t), By: name(t), Request: name(t), Meta: metas(t), Graph: graphs(t), Mode: name(t), Writes: writes(t), Folded: writes(t),
			Sends: list(t, sends), Next: list(t, tasks),
		}
	}),
	body(func(t *rapid.T) record.Snapshot {
		return record.Snapshot{Of: number(t), Run: name(t), Start: number(t), Graph: graphs(t), Mode: name(t), State: writes(t), Next: list(t, tasks), Joins: list(t, joins), Origin: origin(t), Reuse: list(t, onces)}
	}),
	body(func(t *rapid.T) record.Result {
		return record.Result{Done: dones(t), Fail: name(t), Handler: rapid.Bool().Draw(t, "handler")}
	}),
	body(func(t *rapid.T) record.Once {
		return record.Once{Task: name(t), Name: name(t), N: int(number(t)), Begun: rapid.Bool().Draw(t, "begun"), Result: doc(t)}
	}),
	body(func(t *rapid.T) record.Pause {
		return record.Pause{Run: name(t), Reason: name(t), Questions: list(t, asked), Breaks: list(t, name), Error: name(t)}
	}),
	body(func(t *rapid.T) record.Settle {
		return record.Settle{
			Run: name(t), Reason: name(t), By: name(t), Graph: graphs(t), Tasks: list(t, dones), Folded: writes(t),
			Abandoned: list(t, func(t *rapid.T) record.Abandoned { return record.Abandoned{ID: name(t), Node: name(t), Why: name(t)} }), Questions: list(t, name),
		}
	}),
	body(func(t *rapid.T) record.Edit {
		return record.Edit{
			Run: name(t), By: name(t), As: name(t), Graph: graphs(t), Writes: writes(t), Folded: writes(t), Sends: list(t, sends), Next: list(t, tasks), Joins: list(t, joins),
		}
	}),
	body(func(t *rapid.T) record.Void { return record.Void{Tasks: some(t, name), Why: name(t)} }),
}

func body[T any](f func(*rapid.T) T) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any { v := f(t); return &v })
}

func name(t *rapid.T) string {
	return rapid.OneOf(rapid.String(), rapid.SampledFrom(odd)).Draw(t, "name")
}

var odd = []string{"", "a", "\x00", "\"", "\\", "\u2028", "<&>", "日本", "\x7f", "\n"}

func number(t *rapid.T) int64 { return rapid.Int64Range(-3, 1<<40).Draw(t, "number") }

func doc(t *rapid.T) json.RawMessage {
	return rapid.SampledFrom([]json.RawMessage{nil, json.RawMessage("null"), json.RawMessage(`0`), json.RawMessage(`"<a> b"`), json.RawMessage(`{"k":[1,2.50,1e400]}`)}).Draw(t, "doc")
}

func value(t *rapid.T) json.RawMessage {
	if d := doc(t); d != nil {
		return d
	}
	return json.RawMessage("[]")
}

func list[T any](t *rapid.T, one func(*rapid.T) T) []T {
	var out []T
	for range rapid.IntRange(0, 3).Draw(t, "n") {
		out = append(out, one(t))
	}
	return out
}

func some[T any](t *rapid.T, one func(*rapid.T) T) []T { return append([]T{one(t)}, list(t, one)...) }

func graphs(t *rapid.T) record.Graph {
	return record.Graph{Name: name(t), Version: int(number(t)), Fingerprint: name(t)}
}

func metas(t *rapid.T) map[string]string {
	if rapid.Bool().Draw(t, "meta") {
		return map[string]string{name(t): name(t)}
	}
	return nil
}

func writes(t *rapid.T) record.Writes {
	return list(t, func(t *rapid.T) state.Write { return state.Write{Field: name(t), Kind: name(t), Data: value(t)} })
}

func tasks(t *rapid.T) record.Task {
	k := record.Task{ID: name(t), Node: name(t), Arg: doc(t), Deferred: rapid.Bool().Draw(t, "deferred"), Time: time.Duration(number(t))}
	if rapid.Bool().Draw(t, "ref") {
		k.From = &record.Ref{int(number(t)), int(number(t))}
	}
	return k
}

func sends(t *rapid.T) record.Send {
	return record.Send{Node: name(t), Arg: value(t), Time: time.Duration(number(t))}
}

func dones(t *rapid.T) record.Done {
	return record.Done{
		ID: name(t), Node: name(t), Attempt: int(number(t)), Writes: writes(t), To: list(t, name), Sends: list(t, sends), Handled: name(t), Cached: rapid.Bool().Draw(t, "c"), Ref: rapid.Bool().Draw(t, "r"),
		Answers: list(t, func(t *rapid.T) record.Used {
			return record.Used{Question: name(t), By: name(t), At: time.UnixMilli(number(t)).UTC(), Value: value(t)}
		}),
	}
}

func joins(t *rapid.T) record.Join {
	return record.Join{To: name(t), From: some(t, name), Have: some(t, name)}
}

func origin(t *rapid.T) *record.Origin {
	if rapid.Bool().Draw(t, "origin") {
		return &record.Origin{Thread: name(t), Branch: name(t), Entry: number(t), Reason: name(t)}
	}
	return nil
}

func onces(t *rapid.T) record.Once {
	return record.Once{Task: name(t), Name: name(t), N: int(number(t)), Begun: rapid.Bool().Draw(t, "begun"), Result: doc(t)}
}

func asked(t *rapid.T) record.Asked {
	return record.Asked{ID: name(t), Task: name(t), Name: name(t), N: int(number(t)), Shown: []byte(name(t)), Refused: name(t)}
}

// The fast encoder writes what encoding/json writes, and what was written reads back as it was. // E5 // E10
func TestBodiesRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.OneOf(bodies...).Draw(t, "body")
		got, err := record.Encode(v)
		if err != nil {
			t.Fatal(err)
		}
		var want bytes.Buffer
		want.WriteByte(record.Version)
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(v); err != nil {
			t.Fatal(err)
		}
		if w := bytes.TrimSuffix(want.Bytes(), []byte("\n")); !bytes.Equal(got, w) {
			t.Fatalf("encoded\n%s\nencoding/json writes\n%s", got, w)
		}
		back := reflect.New(reflect.TypeOf(v).Elem())
		if err := record.Decode(checkpoint.Record{Body: got}, back.Interface()); err != nil {
			t.Fatal(err)
		}
		again, err := record.Encode(back.Interface())
		if err != nil || !bytes.Equal(again, got) {
			t.Fatalf("%v: read back\n%s\nwas\n%s", err, again, got)
		}
	})
}

// A cut, foreign or newer body is refused, never guessed. // report 120
func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	whole, err := record.Encode(&record.Pause{Run: "r", Reason: "question", Breaks: []string{"a"}})
	if err != nil {
		t.Fatal(err)
	}
	bad := map[string][]byte{"empty": {}, "newer": append([]byte{record.Version + 1}, whole[1:]...), "foreign": []byte("\x01[1,2]"), "not UTF-8": []byte("\x01{\"run\":\"\xff\"}")}
	for i := 1; i < len(whole); i++ {
		bad[string(rune('0'+i%10))+" cut"] = whole[:i]
	}
	for name, b := range bad {
		var p record.Pause
		want := checkpoint.ErrCorrupt
		if name == "newer" { // C15
			want = checkpoint.ErrNewerFormat
		}
		if err := record.Decode(checkpoint.Record{Body: b}, &p); !errors.Is(err, want) {
			t.Errorf("%s: %q was read: %v", name, b, err)
		}
	}
}
