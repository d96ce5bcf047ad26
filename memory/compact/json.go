package compact

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
)

// digestJSON returns false for a text that is no JSON array or object.
func digestJSON(text string, q question) ([]point, bool) {
	trimmed := strings.TrimSpace(text)
	if !strings.HasPrefix(trimmed, "{") && !strings.HasPrefix(trimmed, "[") || !json.Valid([]byte(trimmed)) {
		return nil, false
	}
	w := walker{decoder: json.NewDecoder(strings.NewReader(trimmed)), at: map[string]int{}, asked: best{question: q}}
	w.decoder.UseNumber()
	w.value("")
	return w.points(trimmed), true
}

// maxFields bounds the paths that are told apart, maxDepth how deep they go; what is deeper counts for its parent.
const (
	maxFields = 200
	maxDepth  = 6
)

// A field is what is known of all values with the same path, such as items[].price.
type field struct {
	path     string
	n        int // values
	numbers  int
	min, max float64
	values   tally // strings and booleans
}

// A walker reads JSON token by token, so that its memory does not grow with the text.
type walker struct {
	decoder *json.Decoder
	at      map[string]int // index in fields
	fields  []*field
	depth   int
	leaves  int
	span    [4]int64 // where the first and the last item of the outermost array begin and end
	asked   best
}

// value reads one value. The text is valid, so an error cannot come; it ends the walk.
func (w *walker) value(path string) {
	token, err := w.decoder.Token()
	if err != nil {
		return
	}
	f := w.field(path)
	f.n++
	switch token := token.(type) {
	case json.Delim:
		w.depth++
		for w.decoder.More() {
			w.member(path, token)
		}
		w.depth--
		_, _ = w.decoder.Token()
	case json.Number:
		if v, err := token.Float64(); err == nil {
			f.number(v)
		}
		w.leaf(path, token.String())
	case string:
		f.values.add(clip(token, 100), short(token, 60))
		w.leaf(path, token)
	case bool:
		f.values.add(fmt.Sprint(token), fmt.Sprint(token))
	}
}

func (w *walker) member(path string, open json.Delim) {
	inner := path
	if w.depth <= maxDepth {
		inner += "[]"
	}
	if open == '{' {
		key, _ := w.decoder.Token()
		if w.depth <= maxDepth {
			inner = strings.TrimPrefix(path+"."+short(fmt.Sprint(key), 40), ".")
		}
	}
	start := w.decoder.InputOffset()
	w.value(inner)
	if inner == "[]" && w.depth == 1 {
		if w.span[1] == 0 {
			w.span[0], w.span[1] = start, w.decoder.InputOffset()
		}
		w.span[2], w.span[3] = start, w.decoder.InputOffset()
	}
}

func (w *walker) leaf(path, text string) {
	w.leaves++
	if len(w.asked.question) > 0 {
		w.asked.see(w.leaves, path+": "+clip(text, lineBytes))
	}
}

func (w *walker) field(path string) *field {
	if i, ok := w.at[path]; ok {
		return w.fields[i]
	}
	if len(w.fields) == maxFields {
		return &field{} // counted nowhere
	}
	w.at[path] = len(w.fields)
	w.fields = append(w.fields, &field{path: path, min: math.Inf(1), max: math.Inf(-1)})
	return w.fields[len(w.fields)-1]
}

func (f *field) number(v float64) {
	f.numbers++
	f.min, f.max = min(f.min, v), max(f.max, v)
}

// String is a line such as "[].status x500: ok x480, failed x20".
func (f *field) String() string {
	var says []string
	if f.numbers > 0 {
		says = append(says, fmt.Sprintf("%v to %v", f.min, f.max))
	}
	if top := f.values.top(5); len(top) > 0 {
		more := ""
		if n := len(f.values.found) - len(top); n > 0 {
			more = fmt.Sprintf(" and %d more", n)
		}
		says = append(says, join(top)+more)
	}
	line := fmt.Sprintf("%s x%d", f.path, f.n)
	if len(says) > 0 {
		line += ": " + strings.Join(says, "; ")
	}
	return line
}

func (w *walker) points(text string) []point {
	points := []point{{0, "JSON object"}}
	if text[0] == '[' {
		points = []point{{0, "JSON array of " + count(w.items(), "item")}}
	}
	for i, f := range w.fields {
		if f.path != "" && f.path != "[]" {
			points = append(points, point{2 + i, f.String()})
		}
	}
	for _, p := range w.asked.points(1) {
		p.text = "asked: " + p.text[strings.Index(p.text, ": ")+2:] // it has no line
		points = append(points, p)
	}
	if w.span[1] > 0 {
		points = append(points, point{3, "first: " + item(text, w.span[0], w.span[1])}, point{4, "last: " + item(text, w.span[2], w.span[3])})
	}
	return points
}

func (w *walker) items() int {
	if i, ok := w.at["[]"]; ok {
		return w.fields[i].n
	}
	return 0
}

func item(text string, from, to int64) string {
	return short(strings.TrimLeft(text[from:to], ", \t\r\n"), sampleBytes)
}
