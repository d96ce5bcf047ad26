package graphcli

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// emit prints one JSON object in a line.
func (c *call) emit(v any) error {
	enc := json.NewEncoder(c.out)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// print prints text.
func (c *call) print(format string, args ...any) error {
	_, err := fmt.Fprintf(c.out, format, args...)
	return err
}

// say prints the outcome of a change: an object, or a line of text.
func (c *call) say(v any, format string, args ...any) error {
	if c.json {
		return c.emit(v)
	}
	return c.print("%s\n", safe(fmt.Sprintf(format, args...)))
}

// when shows a time to the second, in UTC.
func when(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05")
}

// stamp is a time in JSON; a zero one is left out.
func stamp(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// meta shows metadata in the order of its names.
func meta(m map[string]string) string {
	var out []string
	for k, v := range m {
		out = append(out, k+"="+v)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// shortHash is how much of a hash people are shown.
const shortHash = 8

func short(hash string) string { return hash[:min(len(hash), shortHash)] }

// A list prints rows of a directory, in pages.
type list struct {
	*call
	limit int
	after string
	table table
	more  string // cursor of the last row
	n     int
	one   bool // of one thread: the first column is left out
}

// pageRows is how many rows are asked for at once.
const pageRows = 100

func (c *call) list(head ...string) *list {
	l := &list{call: c, table: table{head: head}}
	c.flags.IntVar(&l.limit, "limit", pageRows, "at most `n` rows; 0: all")
	c.flags.StringVar(&l.after, "after", "", "go on behind the row with this `cursor`")
	c.flags.BoolVar(&l.table.wide, "wide", false, "cut no cells")
	return l
}

// next is how many rows are to be asked for: 0 when there are enough.
func (l *list) next() int {
	if l.limit <= 0 {
		return pageRows
	}
	return min(pageRows, l.limit-l.n)
}

// row shows one row, and notes where the next page begins.
func (l *list) row(object any, cursor []string, cells ...string) error {
	l.n++
	l.more = encodeCursor(cursor)
	if l.json {
		return l.emit(object)
	}
	if l.one {
		cells = cells[1:]
	}
	l.table.add(cells...)
	return nil
}

// end prints the table.
func (l *list) end(full bool) error {
	if l.json {
		return nil
	}
	if l.n == 0 {
		return l.print("none\n")
	}
	if err := l.print("%s", l.table.String()); err != nil || !full {
		return err
	}
	return l.print("more: -after %s\n", l.more)
}

func encodeCursor(parts []string) string {
	b, err := json.Marshal(parts)
	if err != nil { // strings always encode
		panic(err)
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// cursor decodes -after into so many parts; none gives empty ones.
func (l *list) cursor(n int) ([]string, error) {
	parts := make([]string, n)
	if l.after == "" {
		return parts, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(l.after)
	if err == nil {
		parts = nil
		err = json.Unmarshal(b, &parts)
	}
	if err != nil || len(parts) != n {
		return nil, l.wrong("-after %q is no cursor of this list", l.after)
	}
	return parts, nil
}

// each calls page until it has no more rows, or there are enough.
func (l *list) each(page func(limit int) (rows int, err error)) error {
	for {
		limit := l.next()
		if limit == 0 {
			return l.end(true)
		}
		n, err := page(limit)
		if err != nil {
			return err
		}
		if n < limit {
			return l.end(false)
		}
	}
}
