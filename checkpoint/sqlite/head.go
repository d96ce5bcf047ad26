package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
)

// metaValue is a value of metadata for a JSON object. A BLOB, which is not ours, becomes something that is no string.
const metaValue = `case typeof(m.value) when 'blob' then json('[]') else m.value end`

const headColumns = `t.tenant, t.thread, t.epoch, t.nonce, t.lease_until, t.holder, t.takeovers, t.inbox, t.active, t.branches,
	t.run, t.status, t.graph, t.owner, t.created, t.updated, t.released,
	(select json_group_object(m.name, ` + metaValue + `) from hf_meta m where m.tenant = t.tenant and m.thread = t.thread and m.run = t.run)`

const sqlHead = `select ` + headColumns + ` from hf_thread t where t.tenant = ? and t.thread = ?`

// A thread is a row of hf_thread.
type thread struct {
	checkpoint.Head
	released checkpoint.Nonce // the acquisition that was released last: a repeated release is not stale
}

// scanHead reads headColumns.
func scanHead(r *row, now time.Time) (t thread) {
	t.Tenant, t.Thread = r.text(), r.text()
	t.Epoch = r.int()
	t.Nonce = nonce(r)
	t.LeaseUntil = r.time()
	unmarshal(r, &t.Holder)
	t.Takeovers, t.Inbox = int(r.int()), r.int()
	t.Active, t.Branches = r.int32(), r.int32()
	t.Run, t.Status, t.Graph, t.Owner = r.text(), checkpoint.Status(r.byte()), r.text(), r.text()
	t.Created, t.Updated = r.time(), r.time()
	t.released = nonce(r)
	t.Meta = meta(r)
	t.Expired = t.Held() && !now.Before(t.LeaseUntil)
	return t
}

// head reads a thread; one that is not there has Epoch 0.
func head(ctx context.Context, c *conn, key checkpoint.Key, now time.Time) (t thread, err error) {
	t.Key = key
	err = c.query(ctx, sqlHead, func(r *row) { t = scanHead(r, now) }, key.Tenant, key.Thread)
	return t, err
}

// nonce reads a nonce; the empty one of a free thread is zero.
func nonce(r *row) (n checkpoint.Nonce) {
	b := r.blob()
	if len(b) != 0 && len(b) != len(n) {
		r.fail("a nonce", fmt.Errorf("%d bytes", len(b)))
	}
	copy(n[:], b)
	return n
}

func unmarshal(r *row, to *checkpoint.Holder) {
	if b := r.blob(); len(b) > 0 {
		if err := json.Unmarshal(b, to); err != nil {
			r.fail("a holder", err)
		}
	}
}

// meta reads a JSON object of strings; an empty one is nil.
func meta(r *row) (m map[string]string) {
	s := r.text()
	if s == "" || s == "{}" {
		return nil
	}
	if err := json.Unmarshal([]byte(s), &m); err != nil {
		r.fail("metadata", err)
	}
	return m
}

func (r *row) fail(noun string, err error) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %s: %w", checkpoint.ErrCorrupt, noun, err)
	}
}
