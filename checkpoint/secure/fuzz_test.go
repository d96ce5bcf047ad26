package secure_test

import (
	"context"
	"errors"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/secure"
)

// foreign is a store whose every body is the same bytes, which anybody may have written.
type foreign struct {
	checkpoint.Store
	kind byte
	body []byte
}

func (f *foreign) record(key checkpoint.Key, pos int64) checkpoint.Record {
	return checkpoint.Record{Pos: pos, Kind: checkpoint.Kind(f.kind), Body: f.body}
}

func (f *foreign) Load(_ context.Context, key checkpoint.Key, _ int32, _ checkpoint.Namespace) (*checkpoint.Loaded, error) {
	return &checkpoint.Loaded{Head: checkpoint.Head{Key: key, Epoch: 1, Branches: 1}, Records: []checkpoint.Record{f.record(key, 0), f.record(key, 1)}}, nil
}

func (f *foreign) Read(_ context.Context, q checkpoint.Query) ([]checkpoint.Record, error) {
	return []checkpoint.Record{f.record(q.Key, q.From)}, nil
}

func (f *foreign) Questions(context.Context, checkpoint.QuestionFilter) ([]checkpoint.Question, error) {
	return []checkpoint.Question{{Key: thread, ID: "q", State: checkpoint.Answered, Body: f.body, Answer: f.body}}, nil
}

func (f *foreign) Inbox(context.Context, checkpoint.Key) ([]checkpoint.Command, error) {
	return []checkpoint.Command{{Key: thread, Body: f.body}}, nil
}

func (f *foreign) Runs(context.Context, checkpoint.RunFilter) ([]checkpoint.Run, error) {
	return []checkpoint.Run{{Key: thread, ID: "r", Error: string(f.body) + "x"}}, nil
}

func (f *foreign) Answer(context.Context, checkpoint.Key, []checkpoint.Reply) (int64, error) {
	return 0, &checkpoint.NotPendingError{Question: "q", State: checkpoint.Answered, Answer: f.body}
}

// C12, C14: whatever bytes stand in a row, each call returns them refused by a typed error: no panic, no length is believed,
// no second decoder is tried. // report 194
func FuzzStoredBytes(f *testing.F) {
	for _, kind := range kinds[:2] {
		var mem checkpoint.Memory
		w := fill(f, kind.wrap(f, &mem, ring("k1")), thread)
		l, err := mem.Load(f.Context(), w.key, 0, "")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(byte('E'), l.Records[0].Body)
		f.Add(byte('E'), l.Records[0].Body[:40])
		f.Add(byte('E'), l.Questions[0].Body)
		f.Add(byte('I'), l.Inbox[0].Body)
	}
	f.Add(byte('E'), []byte{})
	f.Add(byte('E'), []byte{0xE1, 2, 'k', '1'})
	f.Add(byte('E'), []byte{0xA1, 2, 'k', '1', 9})
	f.Add(byte('E'), []byte{0xA2, 255, 'k'})
	f.Add(byte('E'), []byte("hfsealed:4QJrMQ"))
	f.Add(byte('E'), []byte(`{"a":"\ud800"}`))
	f.Add(byte('E'), []byte("\xed\xa0\x80"))
	f.Fuzz(func(t *testing.T, kind byte, body []byte) {
		below := &foreign{Store: new(checkpoint.Memory), kind: kind, body: body}
		signed := sign(t, below, ring("k1"))
		for _, s := range []checkpoint.Store{encrypt(t, below, ring("k1")), signed} {
			_, load := s.Load(t.Context(), thread, 0, "")
			_, read := s.Read(t.Context(), checkpoint.Query{Chain: checkpoint.Chain{Key: thread}, From: 3, To: 3})
			_, questions := s.Questions(t.Context(), checkpoint.QuestionFilter{})
			_, inbox := s.Inbox(t.Context(), thread)
			_, runs := s.Runs(t.Context(), checkpoint.RunFilter{})
			_, answer := s.Answer(t.Context(), thread, []checkpoint.Reply{{Question: "q"}})
			_, write := signed.Append(t.Context(), &checkpoint.Append{Key: thread, Nonce: checkpoint.Nonce{1}, Records: []checkpoint.Record{{Pos: 4, By: checkpoint.Nonce{1}.Writer()}}})
			for i, err := range []error{load, read, questions, inbox, runs, answer, write} {
				if _, ok := errors.AsType[*secure.RowError](err); !ok || !errors.Is(err, checkpoint.ErrCorrupt) {
					t.Errorf("call %d: error %v; want a RowError", i, err)
				}
			}
		}
		_ = signed.Verify(t.Context(), thread, secure.Anchor{})
	})
}
