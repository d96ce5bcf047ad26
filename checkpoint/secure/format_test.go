package secure_test

import (
	"context"
	"encoding/hex"
	"testing"

	"github.com/holdfast-go/holdfast/checkpoint"
)

// C12, C15: sealed bodies of this format are read for ever, and records are written as they were. The bytes of records depend on
// nothing but key, place and content.
func TestFormat(t *testing.T) {
	t.Parallel()
	r := checkpoint.Record{Branch: 1, Namespace: child, Pos: 0, Ord: 7<<32 | 3, Step: 9, Kind: checkpoint.KindSeal, Body: []byte("body")}
	for i, want := range []string{
		"e1026b318e974e18f93319d22c8e64249ff27554b77261a493aeaebe057759cc58217546",
		"a1026b31000000000000000000000000000000000000000000000000000000000000000000b69bcd9c82f837d18d48155c0fe17081f57388de8b848d3b7d4dc815b6ec656f626f6479",
	} {
		var mem checkpoint.Memory
		nonce := checkpoint.Nonce{1, 2, 3}
		record, one := r, int32(1)
		record.By = nonce.Writer()
		a := &checkpoint.Acquire{
			Key: thread, Nonce: nonce, Run: &checkpoint.Run{ID: "r"}, Records: []checkpoint.Record{record},
			Branch: &checkpoint.Branch{N: 1, Name: "fork"}, Activate: &one,
		}
		s := kinds[i].wrap(t, &mem, ring("k1"))
		must[checkpoint.Head](t)(s.Acquire(t.Context(), a))
		rs := must[[]checkpoint.Record](t)(mem.Read(t.Context(), checkpoint.Query{Chain: checkpoint.Chain{Key: thread, Branch: 1, Namespace: child}, To: -1}))
		if got := hex.EncodeToString(rs[0].Body); got != want {
			t.Errorf("%s: the stored body is\n%s, want\n%s", kinds[i].name, got, want)
		}
	}
}

// The rows whose nonces are random, as this format had them.
func TestFormatOfRows(t *testing.T) {
	t.Parallel()
	for i, stored := range []string{
		"e1026b31ab39cd6bcf53497bed70c1a3149d796bea5b344c97ceb2e0a62a364e5f207ea0",
		"a2026b31b124a728839dd239a73ada477fcb525bbb5948199fefee282afa24d288169251626f6479",
	} {
		raw := must[[]byte](t)(hex.DecodeString(stored))
		s := kinds[i].wrap(t, &inbox{new(checkpoint.Memory), checkpoint.Command{Key: thread, N: 4, Kind: checkpoint.CommandInput, Request: "r", Body: raw}}, ring("k1"))
		cs, err := s.Inbox(t.Context(), thread)
		if err != nil || string(cs[0].Body) != "body" {
			t.Errorf("%s: %+v, %v", kinds[i].name, cs, err)
		}
	}
}

// inbox is a store with one command.
type inbox struct {
	checkpoint.Store
	c checkpoint.Command
}

func (s *inbox) Inbox(context.Context, checkpoint.Key) ([]checkpoint.Command, error) {
	return []checkpoint.Command{s.c}, nil
}
