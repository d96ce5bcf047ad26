package postgres

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/jackc/pgx/v5/pgtype"
)

const headColumns = `t.tenant, t.thread, t.epoch, t.nonce, t.lease_until, coalesce(t.lease_until <= clock_timestamp(), false), t.holder,
	t.takeovers, t.inbox, t.active, t.branches, t.run, t.status, t.graph, t.owner, t.created, t.updated,
	(select json_object_agg(m.name, m.value)::text from hf_meta m where m.tenant = t.tenant and m.thread = t.thread and m.run = t.run)`

const sqlHead = `select ` + headColumns + ` from hf_thread t where t.tenant = $1 and t.thread = $2`

// scanHead reads headColumns.
func scanHead(r row, h *checkpoint.Head) error {
	var nonce, holder []byte
	var names *string
	err := r.Scan(&h.Tenant, &h.Thread, &h.Epoch, &nonce, stamp{&h.LeaseUntil}, &h.Expired, &holder, &h.Takeovers, &h.Inbox, &h.Active,
		&h.Branches, &h.Run, octet[checkpoint.Status]{&h.Status}, &h.Graph, &h.Owner, stamp{&h.Created}, stamp{&h.Updated}, &names)
	if err != nil {
		return err
	}
	if len(nonce) != 0 && len(nonce) != len(h.Nonce) {
		return corrupt("a nonce", fmt.Errorf("%d bytes", len(nonce)))
	}
	copy(h.Nonce[:], nonce)
	if len(holder) > 0 {
		if err := json.Unmarshal(holder, &h.Holder); err != nil {
			return corrupt("a holder", err)
		}
	}
	h.Meta, err = meta(names)
	return err
}

// head queues a query for a thread; one that is not there leaves Epoch 0.
func (b *batch) head(key checkpoint.Key, h *checkpoint.Head) {
	*h = checkpoint.Head{Key: key}
	b.rows(func(r row) error { return scanHead(r, h) }, sqlHead, key.Tenant, key.Thread)
}

// meta reads a JSON object of strings; null is nil.
func meta(text *string) (m map[string]string, err error) {
	if text == nil {
		return nil, nil
	}
	if err := json.Unmarshal([]byte(*text), &m); err != nil {
		return nil, corrupt("metadata", err)
	}
	return m, nil
}

// A stamp scans a time, in UTC; null is the zero time.
type stamp struct{ to *time.Time }

func (s stamp) ScanTimestamptz(v pgtype.Timestamptz) error {
	switch {
	case !v.Valid:
		*s.to = time.Time{}
	case v.InfinityModifier != pgtype.Finite:
		return corrupt("a time", fmt.Errorf("%v", v.InfinityModifier))
	default:
		*s.to = v.Time.UTC()
	}
	return nil
}

// An octet scans a number that has to fit into a byte: of a larger one the rest would be taken for another kind or status.
type octet[T ~uint8] struct{ to *T }

func (o octet[T]) ScanInt64(v pgtype.Int8) error {
	if !v.Valid || v.Int64 != int64(T(v.Int64)) {
		return corrupt("a kind or a status", fmt.Errorf("%d", v.Int64))
	}
	*o.to = T(v.Int64)
	return nil
}

// orNull is null for the zero time, and otherwise cut to what every store keeps.
func orNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.Truncate(time.Millisecond)
	return &t
}
