package checkpoint

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Valid reports whether the append is complete and its names can be kept by every store. Stores call it first.
func (a *Append) Valid() error {
	if err := a.Key.Valid(); err != nil {
		return err
	}
	if len(a.Records) == 0 {
		return fmt.Errorf("%w: an append needs a record", ErrBadKey)
	}
	if err := validWrite(a.Nonce, a.Records, a.Branch, a.Closed); err != nil {
		return err
	}
	if a.Park == nil {
		return nil
	}
	if a.Park.Status < Running || a.Park.Status > Cancelled {
		return fmt.Errorf("%w: status %d is unknown", ErrBadKey, a.Park.Status)
	}
	for i := range a.Park.Questions {
		q := &a.Park.Questions[i]
		if q.ID == "" {
			return fmt.Errorf("%w: a question needs an id", ErrBadKey)
		}
		if err := validNames("question", q.ID, q.Run, q.Task, q.NotBy); err != nil {
			return err
		}
	}
	return nil
}

// Valid reports whether the request is complete and its names can be kept by every store. Stores call it first.
func (a *Acquire) Valid() error {
	if err := a.Key.Valid(); err != nil {
		return err
	}
	if err := validWrite(a.Nonce, a.Records, a.Branch, a.Closed); err != nil {
		return err
	}
	if a.Mode > Steal {
		return fmt.Errorf("%w: acquire mode %d is unknown", ErrBadKey, a.Mode)
	}
	if a.Mode != Free && (len(a.Records) > 0 || len(a.Closed) > 0 || a.Branch != nil || a.Activate != nil) {
		return fmt.Errorf("%w: only a free acquisition appends", ErrBadKey)
	}
	if a.Again && a.Run == nil {
		return fmt.Errorf("%w: there is no run to take up again", ErrBadKey)
	}
	if a.Run != nil && a.Resume {
		return fmt.Errorf("%w: an acquisition starts a run or resumes one, not both", ErrBadKey)
	}
	if err := validNames("owner", a.Owner); err != nil || a.Run == nil {
		return err
	}
	if a.Run.ID == "" {
		return fmt.Errorf("%w: a run needs an id", ErrBadKey)
	}
	if a.Run.Status > Cancelled {
		return fmt.Errorf("%w: status %d is unknown", ErrBadKey, a.Run.Status)
	}
	for k, v := range a.Run.Meta {
		if err := validNames("meta", k, v); err != nil {
			return err
		}
	}
	return validNames("run", a.Run.ID, a.Run.Request, a.Run.Graph, a.Run.By)
}

// Valid reports whether the names of the command can be kept by every store. Stores call it first.
func (c *Command) Valid() error {
	if err := c.Key.Valid(); err != nil {
		return err
	}
	return validNames("request", c.Request)
}

// ValidReplies reports whether replies can be kept by every store. Stores call it first.
func ValidReplies(key Key, replies []Reply) error {
	if err := key.Valid(); err != nil {
		return err
	}
	if len(replies) == 0 {
		return fmt.Errorf("%w: there is no reply", ErrBadKey)
	}
	for i := range replies {
		if err := validNames("reply", replies[i].Question, replies[i].By); err != nil {
			return err
		}
	}
	return nil
}

func validWrite(nonce Nonce, records []Record, branch *Branch, closed []string) error {
	if nonce.Zero() {
		return fmt.Errorf("%w: the nonce is zero", ErrBadKey)
	}
	for i := range records {
		r := &records[i]
		if r.Branch < 0 || r.Pos < 0 || r.Base < 0 || r.Base > r.Pos {
			return fmt.Errorf("%w: record at branch %d, position %d, base %d", ErrBadKey, r.Branch, r.Pos, r.Base)
		}
		if r.By != nonce.Writer() {
			return fmt.Errorf("%w: a record names another writer than the nonce", ErrBadKey)
		}
	}
	if err := validNames("question", closed...); err != nil || branch == nil {
		return err
	}
	if branch.N < 1 || branch.Name == "" {
		return fmt.Errorf("%w: a new branch needs a number and a name", ErrBadKey)
	}
	return validNames("branch", branch.Name, branch.Reason)
}

// validNames allows empty names: which of them must be there is the caller's rule.
func validNames(noun string, names ...string) error {
	for _, s := range names {
		switch {
		case len(s) > MaxKeyBytes:
			return fmt.Errorf("%w: %s: a name has %d bytes, at most %d are allowed", ErrBadKey, noun, len(s), MaxKeyBytes)
		case !utf8.ValidString(s) || strings.ContainsRune(s, 0):
			return fmt.Errorf("%w: %s: a name is not valid UTF-8 without NUL", ErrBadKey, noun)
		}
	}
	return nil
}
