package secure

import (
	"encoding/binary"
	"fmt"

	"github.com/holdfast-go/holdfast/checkpoint"
)

// A row is a place in the store: what its content is bound to, and how people call it.
type row struct {
	key    checkpoint.Key
	place  []byte             // injective: each part with its length before it
	record *checkpoint.Record // of a record: names are made only when they are shown
	what   string             // of everything else
	id     string
}

func (r *row) String() string {
	if n := r.record; n != nil {
		return fmt.Sprintf("record %d (%c) of branch %d, namespace %q", n.Pos, n.Kind, n.Branch, string(n.Namespace))
	}
	return r.what + r.id
}

// refuse is the error of a row that cannot be used.
func (r *row) refuse(why error) error { return &RowError{Key: r.key, Row: r.String(), Why: why} }

// newPlace begins the place of a row of a kind. Kinds are told apart, so that no row can stand in another table.
func newPlace(kind string, key checkpoint.Key, room int) []byte {
	b := make([]byte, 0, 3*binary.MaxVarintLen64+len(kind)+len(key.Tenant)+len(key.Thread)+room)
	return appendPart(appendPart(appendPart(b, kind), key.Tenant), key.Thread)
}

// appendPart adds bytes with their length before them.
func appendPart[T string | []byte](b []byte, part T) []byte {
	return append(binary.AppendUvarint(b, uint64(len(part))), part...)
}

// cutPart is the reverse of appendPart. It allocates nothing and believes no length.
func cutPart(b []byte) (part, rest []byte, ok bool) {
	n, w := binary.Uvarint(b)
	if w <= 0 || n > uint64(len(b)-w) {
		return nil, nil, false
	}
	return b[w : w+int(n)], b[w+int(n):], true
}

func recordRow(key checkpoint.Key, r *checkpoint.Record) row {
	b := newPlace("record", key, len(r.Namespace)+64)
	b = binary.BigEndian.AppendUint32(b, uint32(r.Branch))
	b = appendPart(b, string(r.Namespace))
	b = append(b, byte(r.Kind))
	for _, n := range [...]int64{r.Pos, r.Ord, r.By, r.Base, r.Step} {
		b = binary.BigEndian.AppendUint64(b, uint64(n))
	}
	return row{key: key, place: b, record: r}
}

// questionRow binds a question to everything that stays as it was asked: who must not answer and until when, too.
func questionRow(key checkpoint.Key, q *checkpoint.Question) row {
	b := newPlace("question", key, len(q.ID)+len(q.Namespace)+len(q.Run)+len(q.Task)+len(q.NotBy)+len(q.Shown)+64)
	b = appendPart(b, q.ID)
	b = binary.BigEndian.AppendUint32(b, uint32(q.Branch))
	b = appendPart(b, string(q.Namespace))
	b = appendPart(appendPart(appendPart(b, q.Run), q.Task), q.NotBy)
	b = appendPart(b, q.Shown)
	deadline := int64(0)
	if !q.Deadline.IsZero() {
		deadline = q.Deadline.UnixMilli() // stores keep whole milliseconds
	}
	b = binary.BigEndian.AppendUint64(b, uint64(deadline))
	return row{key: key, place: b, what: "question ", id: q.ID}
}

func answerRow(key checkpoint.Key, question, by string) row {
	b := appendPart(appendPart(newPlace("answer", key, len(question)+len(by)+8), question), by)
	return row{key: key, place: b, what: "answer to question ", id: question}
}

func commandRow(c *checkpoint.Command) row {
	b := append(newPlace("inbox", c.Key, len(c.Request)+8), byte(c.Kind))
	return row{key: c.Key, place: appendPart(b, c.Request), what: "command of kind " + string(c.Kind) + ", request ", id: c.Request}
}

func errorRow(key checkpoint.Key, s checkpoint.Status) row {
	return row{key: key, place: append(newPlace("run error", key, 1), byte(s)), what: "error of a run, status ", id: s.String()}
}
