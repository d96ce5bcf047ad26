package redis

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/holdfast-go/holdfast/checkpoint"
)

// margin is what a body has around it in the server.
const margin = 8 << 10

// Append implements checkpoint.Log.
func (s *Store) Append(ctx context.Context, a *checkpoint.Append) (checkpoint.Ack, error) {
	if err := a.Valid(); err != nil {
		return checkpoint.Ack{}, err
	}
	if err := s.weigh(a); err != nil {
		return checkpoint.Ack{}, err
	}
	return do(ctx, s, func(ctx context.Context) (checkpoint.Ack, error) { return s.append(ctx, a) })
}

// weigh refuses what the server would answer by closing the connection.
func (s *Store) weigh(a *checkpoint.Append) error {
	total := int64(0)
	for i := range a.Records {
		total += int64(len(a.Records[i].Body)) + margin/64
		if err := s.fitsBulk(len(a.Records[i].Body), "a body"); err != nil {
			return err
		}
	}
	if a.Park != nil {
		for i := range a.Park.Questions {
			q := &a.Park.Questions[i]
			total += int64(len(q.Body)) + int64(len(q.Shown))*4/3 + margin
			if err := s.fitsBulk(len(q.Body)+len(q.Shown)*4/3, "question "+q.ID); err != nil {
				return err
			}
		}
	}
	if total > maxRequest {
		return fmt.Errorf("%w: a write of %d bytes, Redis takes %d at once", checkpoint.ErrTooLarge, total, int64(maxRequest))
	}
	return nil
}

// maxRequest is a little less than the server's default client-query-buffer-limit.
const maxRequest = 1<<30 - 16<<20

func (s *Store) fitsBulk(size int, what string) error {
	if int64(size) > s.server.maxBulk-margin {
		return fmt.Errorf("%w: %s of %d bytes, the server's proto-max-bulk-len is %d", checkpoint.ErrTooLarge, what, size, s.server.maxBulk)
	}
	return nil
}

// appendOne writes one record and nothing else. It is not ok if the record does not fit, which the longer script decides about.
func (s *Store) appendOne(ctx context.Context, a *checkpoint.Append, prev string) (ack checkpoint.Ack, ok bool, err error) {
	rec := &a.Records[0]
	r := s.pipeline.run(ctx, task{s.keys(a.Key)[:2], []value{a.Nonce[:], prev, rec.Branch, chainField(rec.Branch, rec.Namespace), rec.Pos - 1,
		rec.Pos, recordField(rec.Branch, rec.Namespace, rec.Pos), encodeRecord(rec)}}, len(rec.Body))
	inbox := r.text()
	if r.err != nil || inbox == "" {
		return ack, false, r.err
	}
	if ack.Inbox, err = strconv.ParseInt(inbox, 10, 64); err != nil {
		return ack, false, fmt.Errorf("%w: an acknowledgement: %w", checkpoint.ErrCorrupt, err)
	}
	return ack, true, nil
}

func plain(a *checkpoint.Append) bool {
	return len(a.Records) == 1 && a.Closed == nil && a.Branch == nil && a.Activate == nil && a.Park == nil && a.Taken == 0
}

func (s *Store) append(ctx context.Context, a *checkpoint.Append) (ack checkpoint.Ack, err error) {
	prev, lease := "", checkpoint.Lease{Key: a.Key, Nonce: a.Nonce}
	held := s.holds.get(lease)
	if held.ord > 0 {
		prev = eight(held.ord)
	}
	last := a.Records[len(a.Records)-1].Ord
	if plain(a) {
		if ack, ok, err := s.appendOne(ctx, a, prev); ok || err != nil {
			if ok {
				s.holds.wrote(lease, last)
			}
			return ack, err
		}
	}
	var asked, valid int64
	if p := a.Park; p != nil && (p.Status == checkpoint.Interrupted || len(p.Questions) > 0) {
		ids := make([]string, len(p.Questions))
		for i := range p.Questions {
			ids[i] = p.Questions[i].ID
		}
		if asked, valid, err = s.announce(ctx, a.Key, "w", ids...); err != nil {
			return ack, err
		}
	}
	args := make([]value, 0, 19+5*len(a.Records))
	args = append(args, a.Nonce[:], prev, held.epoch, held.created, valid, s.o.TTL.Milliseconds())
	args = write(args, a)
	if args, err = park(args, a, asked); err != nil {
		return ack, err
	}
	r := s.eval(ctx, scriptAppend, a.Key, args...)
	switch verdict := r.text(); {
	case r.err != nil:
		return ack, r.err
	case verdict == "ok":
		ack.Inbox, ack.Released = r.int(), r.int() == 1
	case verdict == "late":
		return ack, errLate
	default:
		s.holds.drop(lease)
		if verdict == "back" {
			return ack, checkpoint.ErrRolledBack
		}
		return ack, checkpoint.ErrStale
	}
	if ack.Released {
		s.holds.drop(lease)
	} else {
		s.holds.wrote(lease, last)
	}
	return ack, r.err
}

// write is the part of the arguments that Append and Acquire share.
func write(args []value, a *checkpoint.Append) []value {
	args = append(args, len(a.Records))
	for i := range a.Records {
		r := &a.Records[i]
		args = append(args, r.Branch, chainField(r.Branch, r.Namespace), recordField(r.Branch, r.Namespace, r.Pos), r.Pos, encodeRecord(r))
	}
	args = append(args, len(a.Closed))
	for _, id := range a.Closed {
		args = append(args, id)
	}
	if b := a.Branch; b == nil {
		args = append(args, "")
	} else {
		row, _ := json.Marshal(branchRow{b.Name, b.Origin, b.Ord, b.Reason}) // strings and numbers only
		args = append(args, b.N, b.Name, row)
	}
	if a.Activate == nil {
		return append(args, "")
	}
	return append(args, *a.Activate)
}

// park is the part of the arguments that only Append has.
func park(args []value, a *checkpoint.Append, asked int64) ([]value, error) {
	p := a.Park
	if p == nil {
		return append(args, a.Taken, ""), nil
	}
	args = append(args, a.Taken, int(p.Status), p.Error, a.Seen, len(p.Questions))
	for i := range p.Questions {
		row, err := encodeQuestion(&p.Questions[i], asked)
		if err != nil {
			return nil, err
		}
		args = append(args, p.Questions[i].ID, row)
	}
	return args, nil
}

// trimAtOnce bounds how long a script of Trim holds up the server.
const trimAtOnce = 5000

// Trim implements checkpoint.Log.
func (s *Store) Trim(ctx context.Context, c checkpoint.Chain, below int64) (int64, error) {
	if err := c.Key.Valid(); err != nil {
		return 0, err
	}
	return do(ctx, s, func(ctx context.Context) (removed int64, err error) {
		for {
			r := s.eval(ctx, scriptTrim, c.Key, c.Branch, string(c.Namespace), strconv.FormatInt(below, 10), trimAtOnce)
			n := r.int()
			if removed += n; r.err != nil || n < trimAtOnce {
				return removed, r.err
			}
		}
	})
}

// Delete implements checkpoint.Log.
func (s *Store) Delete(ctx context.Context, key checkpoint.Key) error {
	if err := key.Valid(); err != nil {
		return err
	}
	_, err := do(ctx, s, func(ctx context.Context) (int64, error) {
		n, err := s.client.Unlink(ctx, s.keys(key)...).Result()
		return n, failure(err)
	})
	return err
}
