package modeltest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/record"
)

var thread = graph.Thread{Tenant: "acme", ID: "random"}

var threadKey = checkpoint.Key{Tenant: thread.Tenant, Thread: thread.ID}

// A reading is a thread's log in two forms that do not depend on which results were recorded early or when snapshots came.
type reading struct {
	entries   []string // as model.entries
	canonical []string // all records, with results merged into entries, without run ids
	state     string
	snapshots int
}

func readLog(store checkpoint.Store) (*reading, error) {
	recs, err := store.Read(context.Background(), checkpoint.Query{Chain: checkpoint.Chain{Key: threadKey}, To: -1})
	if err != nil {
		return nil, err
	}
	out := &reading{}
	var loose []string // of the open superstep, in the order of completion
	th := record.NewThread()
	for _, rec := range recs {
		next := th.Next
		body, err := canonicalBody(th, rec)
		if err != nil {
			return nil, err
		}
		if err := th.Apply(rec); err != nil {
			return nil, err
		}
		line := fmt.Sprintf("%c %s", rec.Kind, body)
		switch rec.Kind {
		case checkpoint.KindResult, checkpoint.KindOnce:
			if body != "" {
				loose = append(loose, line)
			}
			continue
		case checkpoint.KindSnapshot:
			out.snapshots++
			continue
		case checkpoint.KindVoid:
			continue
		case checkpoint.KindInput, checkpoint.KindEntry:
			if err := out.entry(th, rec, next); err != nil {
				return nil, err
			}
		}
		slices.Sort(loose)
		out.canonical = append(append(out.canonical, loose...), line)
		loose = nil
	}
	b, err := th.State.JSON()
	out.state = string(b)
	return out, err
}

// entry adds one line in the form of the model. Next is what was scheduled before it.
func (out *reading) entry(th *record.Thread, rec checkpoint.Record, next []record.Task) error {
	var e record.Entry
	if err := record.Decode(rec, &e); err != nil {
		return err
	}
	args := map[string]string{}
	for _, t := range next {
		args[t.ID] = string(t.Arg)
	}
	line := fmt.Sprint(rec.Step)
	for _, t := range e.Tasks {
		line += " " + t.Node + args[t.ID]
	}
	b, err := th.State.JSON()
	out.entries = append(out.entries, line+" "+string(b))
	return err
}

// canonicalBody is the body of a record without what differs between two equal runs; empty if nothing remains.
func canonicalBody(th *record.Thread, rec checkpoint.Record) (string, error) {
	var v any
	var err error
	switch rec.Kind {
	case checkpoint.KindInput:
		var b record.Input
		err = record.Decode(rec, &b)
		b.Run, b.Mode = "", ""
		v = b
	case checkpoint.KindEntry:
		var b record.Entry
		if err = record.Decode(rec, &b); err == nil {
			var m *record.Entry
			if m, err = th.Merged(&b); err == nil {
				m.Run = ""
				v = m
			}
		}
	case checkpoint.KindPause:
		var b record.Pause
		err = record.Decode(rec, &b)
		b.Run = ""
		v = b
	case checkpoint.KindResult:
		var b record.Result
		if err = record.Decode(rec, &b); err == nil && b.Fail == "" {
			return "", nil
		}
		v = b
	default:
		return string(rec.Body[1:]), nil
	}
	if err != nil {
		return "", err
	}
	doc, err := json.Marshal(v)
	return string(doc), err
}
