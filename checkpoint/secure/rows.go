package secure

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/holdfast-go/holdfast/checkpoint"
)

// openRow opens a row that is no record. When a store is adopted, a row that is not sealed comes back as it is, and plain is
// true.
func (s *store) openRow(at *row, stored []byte) (body []byte, plain bool, err error) {
	if _, f := s.guard.forms(); !sealed(stored, f) {
		if s.ring.adopt {
			return stored, true, nil
		}
		return nil, false, at.refuse(ErrPlain)
	}
	body, err = s.guard.open(at, stored)
	return body, false, err
}

// openQuestion opens a question and its answer in place.
func (s *store) openQuestion(q *checkpoint.Question) error {
	at := questionRow(q.Key, q)
	body, plain, err := s.openRow(&at, q.Body)
	if err != nil {
		return err
	}
	if q.Body = body; !plain {
		shown, rest, ok := cutPart(body)
		if !ok {
			return at.refuse(ErrTampered)
		}
		q.Shown, q.Body = keep(shown), rest
	}
	if !answered(q) {
		return nil
	}
	return s.openAnswer(q)
}

// answered reports whether anything of an answer is there.
func answered(q *checkpoint.Question) bool {
	return len(q.Answer) > 0 || q.State == checkpoint.Answered || q.AnsweredBy != "" || !q.AnsweredAt.IsZero()
}

// openAnswer opens the answer of a question whose Shown is open.
func (s *store) openAnswer(q *checkpoint.Question) (err error) {
	at := answerRow(q.Key, q.ID, q.AnsweredBy)
	shown, value, err := s.openReply(&at, q.Answer)
	if err == nil && len(shown) > 0 && !bytes.Equal(shown, q.Shown) {
		return at.refuse(fmt.Errorf("%w: it was given to another text", ErrTampered))
	}
	q.Answer = value
	return err
}

// openReply opens what sealReply made. shown is nil for a plain one.
func (s *store) openReply(at *row, stored []byte) (shown, value []byte, err error) {
	body, plain, err := s.openRow(at, stored)
	if err != nil || plain {
		return nil, body, err
	}
	shown, value, ok := cutPart(body)
	if !ok {
		return nil, nil, at.refuse(ErrTampered)
	}
	return shown, value, nil
}

// sealReply seals a value together with the hash of what the person was shown.
func (s *store) sealReply(key checkpoint.Key, r *checkpoint.Reply) []byte {
	at := answerRow(key, r.Question, r.By)
	return s.guard.seal(&at, append(appendPart(make([]byte, 0, len(r.Shown)+len(r.Value)+10), r.Shown), r.Value...))
}

func (s *store) openCommands(cs []checkpoint.Command) error {
	for i := range cs {
		at := commandRow(&cs[i])
		body, _, err := s.openRow(&at, cs[i].Body)
		if err != nil {
			return err
		}
		cs[i].Body = body
	}
	return nil
}

// textPrefix begins the sealed form of a column that is text.
const textPrefix = "hfsealed:"

// sealText seals text as text. Empty text stays empty: a store empties the column itself when a run goes on.
func (s *store) sealText(at row, text string) string {
	if text == "" {
		return ""
	}
	return textPrefix + base64.RawURLEncoding.EncodeToString(s.guard.seal(&at, []byte(text)))
}

func (s *store) openRun(r *checkpoint.Run) error {
	if r.Error == "" {
		return nil
	}
	at := errorRow(r.Key, r.Status)
	stored, ok := cutText(r.Error)
	if !ok {
		if s.ring.adopt {
			return nil
		}
		return at.refuse(ErrPlain)
	}
	if _, f := s.guard.forms(); !sealed(stored, f) {
		return at.refuse(ErrTampered)
	}
	body, err := s.guard.open(&at, stored)
	r.Error = string(body)
	return err
}

// cutText is the reverse of what sealText does with sealed bytes; they are nil if the text is broken. ok is false for text
// that is not sealed.
func cutText(text string) (stored []byte, ok bool) {
	if text, ok = strings.CutPrefix(text, textPrefix); !ok {
		return nil, false
	}
	stored, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return nil, true
	}
	return stored, true
}

// hide leaves nothing as it is: an empty Shown means that no hash is compared.
func (s *store) hide(key checkpoint.Key, id string, shown []byte) []byte {
	if len(shown) == 0 {
		return shown
	}
	return s.guard.hide(key, id, shown)
}

// keep makes an empty slice nil, as stores do.
func keep(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return b
}
