package graphcli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/checkpoint/secure"
	"github.com/holdfast-go/holdfast/internal/record"
)

// verified is what verify prints of a thread.
type verified struct {
	Tenant  string `json:"tenant"`
	Thread  string `json:"thread"`
	Chains  int    `json:"chains"`
	Records int    `json:"records"`
	Signed  bool   `json:"signed"`   // every MAC and the chain of them were checked
	Anchor  bool   `json:"anchored"` // and that nothing is missing since the anchor
}

func anchor(c *call) func() error {
	c.threadFlags(false)
	return func() error {
		s, err := c.signed()
		if err != nil {
			return err
		}
		for _, id := range c.args {
			key := checkpoint.Key{Tenant: c.tenant, Thread: id}
			if _, err := headOf(c.ctx, s, key); err != nil {
				return err
			}
			a, err := s.Anchor(c.ctx, key)
			if err != nil {
				return err
			}
			if err := c.emit(a); err != nil {
				return err
			}
		}
		return nil
	}
}

// signed is the signing store of the stack.
func (c *call) signed() (*secure.Signed, error) {
	s, err := c.store()
	if err != nil {
		return nil, err
	}
	if s := secure.Signing(s); s != nil {
		return s, nil
	}
	return nil, fmt.Errorf("the store is not signed, or was opened without the keys of the signatures")
}

func verify(c *call) func() error {
	c.threadFlags(false)
	file := c.flags.String("anchor", "", "a `file` with what anchor printed; without a thread, all of its threads")
	all := c.flags.Bool("all", false, "every thread of all tenants")
	return func() error {
		anchors, err := readAnchors(*file)
		if err != nil {
			return err
		}
		if len(anchors) > 0 {
			if _, err := c.signed(); err != nil {
				return err
			}
		}
		keys, err := c.toVerify(anchors, *all)
		if err != nil {
			return err
		}
		for _, key := range keys {
			if err := c.verify(key, anchors[key]); err != nil {
				return err
			}
		}
		return nil
	}
}

// toVerify lists the threads that are meant.
func (c *call) toVerify(anchors map[checkpoint.Key]secure.Anchor, all bool) (keys []checkpoint.Key, err error) {
	for _, id := range c.args {
		keys = append(keys, checkpoint.Key{Tenant: c.tenant, Thread: id})
	}
	switch {
	case len(keys) > 0 && all:
		return nil, c.wrong("name threads, or say -all")
	case len(keys) > 0:
		return keys, nil
	case !all && len(anchors) == 0:
		return nil, c.wrong("name threads, say -all, or give an -anchor")
	case !all:
		for key := range anchors {
			keys = append(keys, key)
		}
		slices.SortFunc(keys, func(a, b checkpoint.Key) int {
			return cmp.Or(strings.Compare(a.Tenant, b.Tenant), strings.Compare(a.Thread, b.Thread))
		})
		return keys, nil
	}
	s, err := c.store()
	if err != nil {
		return nil, err
	}
	var f checkpoint.ThreadFilter
	for {
		heads, err := s.Threads(c.ctx, f)
		if err != nil || len(heads) == 0 {
			return keys, err
		}
		for i := range heads {
			f.After = heads[i].Key
			keys = append(keys, f.After)
		}
	}
}

// readAnchors reads a file of anchors.
func readAnchors(file string) (map[checkpoint.Key]secure.Anchor, error) {
	if file == "" {
		return nil, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	out := map[checkpoint.Key]secure.Anchor{}
	for dec := json.NewDecoder(f); ; {
		var a secure.Anchor
		switch err := dec.Decode(&a); {
		case err == io.EOF:
			return out, nil
		case err != nil:
			return nil, fmt.Errorf("%s: %w", file, err)
		case a.Tenant == "" || a.Thread == "":
			return nil, fmt.Errorf("%s: an anchor names no thread", file)
		}
		out[checkpoint.Key{Tenant: a.Tenant, Thread: a.Thread}] = a
	}
}

// verify checks one thread and prints what was checked.
func (c *call) verify(key checkpoint.Key, a secure.Anchor) error {
	s, err := c.store()
	if err != nil {
		return err
	}
	l, err := headOf(c.ctx, s, key)
	if err != nil {
		return err
	}
	out := verified{Tenant: key.Tenant, Thread: key.Thread}
	if signed := secure.Signing(s); signed != nil {
		if err := signed.Verify(c.ctx, key, a); err != nil {
			return err
		}
		out.Signed, out.Anchor = true, len(a.Tails) > 0
	}
	err = eachChain(c.ctx, s, l, func(chain checkpoint.Chain) error {
		f := folding{thread: record.NewThread()}
		err := eachRecord(c.ctx, s, chain, f.visit)
		out.Chains++
		out.Records += f.n
		return err
	})
	if err != nil {
		return fmt.Errorf("thread %s/%s: %w", key.Tenant, key.Thread, err)
	}
	proof := "its store is not signed"
	if out.Signed {
		proof = "signatures are right"
	}
	if out.Anchor {
		proof += ", nothing is missing since the anchor"
	}
	return c.say(out, "%s/%s: %d records in %d chains fold; %s", key.Tenant, key.Thread, out.Records, out.Chains, proof)
}

// A folding folds a whole chain from its first record.
type folding struct {
	thread *record.Thread
	base   int64 // where readers of the next record begin
	n      int
}

// visit checks the place of a record, folds it, and compares a snapshot with what the records before it say.
func (f *folding) visit(r *checkpoint.Record) error {
	f.n++
	if why := f.misplaced(r); why != "" {
		return corrupt(r, why)
	}
	var before []byte
	if f.n > 1 && r.Kind == checkpoint.KindSnapshot {
		var err error
		if before, err = f.thread.State.JSON(); err != nil {
			return err
		}
	}
	if err := f.thread.Apply(*r); err != nil || before == nil {
		return err
	}
	after, err := f.thread.State.JSON()
	if err == nil && !bytes.Equal(before, after) {
		err = corrupt(r, "the snapshot is not what the records before it say")
	}
	return err
}

// misplaced says why a record cannot be where it is.
func (f *folding) misplaced(r *checkpoint.Record) string {
	switch {
	case f.n == 1 && record.KindOf(r.Kind, r.Pos) != r.Kind:
		return "no chain begins with it"
	case f.n > 1 && r.Pos != f.thread.Pos+1:
		return "there is a gap before it"
	}
	if f.n == 1 || r.Kind == checkpoint.KindSnapshot || r.Kind == checkpoint.KindSeal {
		f.base = r.Pos
	}
	if r.Base != f.base {
		return fmt.Sprintf("it is read from %d, and that should be %d", r.Base, f.base)
	}
	return ""
}

func corrupt(r *checkpoint.Record, why string) error {
	return fmt.Errorf("%w: record %c at branch %d position %d: %s", checkpoint.ErrCorrupt, r.Kind, r.Branch, r.Pos, why)
}
