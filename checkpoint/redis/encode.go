package redis

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
)

const (
	format    = '1' // version of a stored record
	timeSize  = 14  // milliseconds since 1970 in decimal, which the scripts put before a record
	fixedSize = 1 + 4*8 + 1
	header    = timeSize + fixedSize
)

// encodeRecord is a record without its time: version, writer, order, base, step, kind, body.
func encodeRecord(r *checkpoint.Record) []byte {
	b := make([]byte, 0, fixedSize+len(r.Body))
	b = append(b, format)
	for _, n := range [...]int64{r.By, r.Ord, r.Base, r.Step} {
		b = binary.BigEndian.AppendUint64(b, uint64(n))
	}
	b = append(b, byte(r.Kind))
	return append(b, r.Body...)
}

// decodeRecord is the inverse, of what the scripts return. The body is empty if only the header is there.
func decodeRecord(branch int32, ns checkpoint.Namespace, pos int64, s string) (r checkpoint.Record, err error) {
	if len(s) < header {
		return r, fmt.Errorf("%w: the record at position %d has %d bytes", checkpoint.ErrCorrupt, pos, len(s))
	}
	if s[timeSize] != format {
		return r, fmt.Errorf("%w: a record of version %q", checkpoint.ErrNewerFormat, s[timeSize])
	}
	at, err := decodeTime(s[:timeSize])
	if err != nil {
		return r, err
	}
	n := func(i int) int64 { return int64(binary.BigEndian.Uint64([]byte(s[timeSize+1+8*i : timeSize+9+8*i]))) }
	r = checkpoint.Record{
		Branch: branch, Namespace: ns, Pos: pos, By: n(0), Ord: n(1), Base: n(2), Step: n(3), Kind: checkpoint.Kind(s[header-1]), At: at,
	}
	if len(s) > header {
		r.Body = []byte(s[header:])
	}
	return r, nil
}

// decodeTime reads milliseconds since 1970; zero is no time.
func decodeTime(s string) (time.Time, error) {
	ms, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("%w: a time: %w", checkpoint.ErrCorrupt, err)
	}
	return fromMillis(ms), nil
}

func fromMillis(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// A runRow is what never changes of a run.
type runRow struct {
	Request string            `json:"request,omitempty"`
	Graph   string            `json:"graph,omitempty"`
	By      string            `json:"by,omitempty"`
	Meta    map[string]string `json:"meta,omitempty"`
}

// decodeRun puts a run together: the time it started and its row, and its status, the time it ended and its error.
func decodeRun(key checkpoint.Key, id, row, outcome string) (r checkpoint.Run, err error) {
	var fixed runRow
	if len(row) < timeSize || len(outcome) < 1+timeSize {
		return r, fmt.Errorf("%w: run %s is cut", checkpoint.ErrCorrupt, id)
	}
	if err := json.Unmarshal([]byte(row[timeSize:]), &fixed); err != nil {
		return r, fmt.Errorf("%w: run %s: %w", checkpoint.ErrCorrupt, id, err)
	}
	r = checkpoint.Run{
		Key: key, ID: id, Request: fixed.Request, Graph: fixed.Graph, By: fixed.By, Meta: fixed.Meta,
		Status: checkpoint.Status(outcome[0] - '0'), Error: outcome[1+timeSize:],
	}
	if r.Started, err = decodeTime(row[:timeSize]); err != nil {
		return r, err
	}
	r.Ended, err = decodeTime(outcome[1 : 1+timeSize])
	return r, err
}

// A questionRow is a question as it was asked; its state is one digit before it.
type questionRow struct {
	Branch    int32  `json:"branch,omitempty"`
	Namespace []byte `json:"ns,omitempty"`
	Run       string `json:"run,omitempty"`
	Task      string `json:"task,omitempty"`
	Asked     int64  `json:"asked"`
	Deadline  int64  `json:"deadline,omitempty"`
	Shown     []byte `json:"shown,omitempty"`
	NotBy     string `json:"not_by,omitempty"`
}

// encodeQuestion is the row, its length before it, and then the body as it is.
func encodeQuestion(q *checkpoint.Question, asked int64) ([]byte, error) {
	row, err := json.Marshal(questionRow{q.Branch, []byte(q.Namespace), q.Run, q.Task, asked, millis(q.Deadline), q.Shown, q.NotBy})
	if err != nil {
		return nil, err
	}
	return joined(row, q.Body), nil
}

// An answerRow is an answer without its value. The token tells a repeated answer from another one.
type answerRow struct {
	By    string `json:"by,omitempty"`
	At    int64  `json:"at"`
	Token []byte `json:"token"`
}

func encodeAnswer(r *checkpoint.Reply, at int64, token []byte) ([]byte, error) {
	row, err := json.Marshal(answerRow{r.By, at, token})
	if err != nil {
		return nil, err
	}
	return joined(row, r.Value), nil
}

// decodeQuestion reads a question with its answer, if it has one, as of a moment.
func decodeQuestion(key checkpoint.Key, id, row, answer string, now int64) (q checkpoint.Question, err error) {
	bad := func(err error) error { return fmt.Errorf("%w: question %s: %w", checkpoint.ErrCorrupt, id, err) }
	if row == "" || row[0] < '0' || row[0] > '2' {
		return q, bad(fmt.Errorf("state %.1q", row))
	}
	var fixed questionRow
	body, err := split(row[1:], &fixed)
	if err != nil {
		return q, bad(err)
	}
	q = checkpoint.Question{
		Key: key, ID: id, Branch: fixed.Branch, Namespace: checkpoint.Namespace(fixed.Namespace), Run: fixed.Run, Task: fixed.Task,
		State: checkpoint.QuestionState(row[0] - '0'), Asked: fromMillis(fixed.Asked), Deadline: fromMillis(fixed.Deadline),
		Shown: fixed.Shown, NotBy: fixed.NotBy, Body: body,
	}
	q.Expired = q.State == checkpoint.Open && fixed.Deadline != 0 && now >= fixed.Deadline
	if answer == "" {
		return q, nil
	}
	var given answerRow
	if q.Answer, err = split(answer, &given); err != nil {
		return q, bad(err)
	}
	q.AnsweredBy, q.AnsweredAt = given.By, fromMillis(given.At)
	return q, nil
}

// joined is JSON with its length before it, and bytes behind it.
func joined(row, body []byte) []byte {
	b := make([]byte, 0, binary.MaxVarintLen64+len(row)+len(body))
	b = binary.AppendUvarint(b, uint64(len(row)))
	return append(append(b, row...), body...)
}

// split is the inverse of joined.
func split(s string, row any) (body []byte, err error) {
	n, w := binary.Uvarint([]byte(s[:min(len(s), binary.MaxVarintLen64)]))
	if w <= 0 || n > uint64(len(s)-w) {
		return nil, fmt.Errorf("it is cut")
	}
	if rest := s[w+int(n):]; rest != "" {
		body = []byte(rest)
	}
	return body, json.Unmarshal([]byte(s[w:w+int(n)]), row)
}

// A branchRow is a branch without its number.
type branchRow struct {
	Name   string `json:"name"`
	Origin int32  `json:"origin,omitempty"`
	Ord    int64  `json:"ord,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// tokenSize is the length of the random bytes of one call.
const tokenSize = 16

// decodeCommand reads a row of the inbox: request, NUL, token, time, kind, body.
func decodeCommand(key checkpoint.Key, n int64, row string) (c checkpoint.Command, err error) {
	request, rest, ok := strings.Cut(row, "\x00")
	if !ok || len(rest) < tokenSize+timeSize+1 {
		return c, fmt.Errorf("%w: command %d is cut", checkpoint.ErrCorrupt, n)
	}
	rest = rest[tokenSize:]
	c = checkpoint.Command{Key: key, N: n, Request: request, Kind: checkpoint.CommandKind(rest[timeSize])}
	if body := rest[timeSize+1:]; body != "" {
		c.Body = []byte(body)
	}
	c.At, err = decodeTime(rest[:timeSize])
	return c, err
}
