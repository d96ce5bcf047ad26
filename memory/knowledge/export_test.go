package knowledge

// A Part is a chunk before it is stored.
type Part = part

// Parts cuts a document.
func Parts(d Document, o Options) []Part { return d.parts(o.withDefaults()) }

// Aspects cuts a question.
func Aspects(text string, also ...string) (out []string) {
	for _, a := range aspects(text, also) {
		out = append(out, a.text)
	}
	return out
}
