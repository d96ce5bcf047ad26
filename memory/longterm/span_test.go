package longterm_test

import (
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/memory/longterm"
)

// T30: a span finds the words again in the text alone, whatever their case, width and spaces were.
func TestSpans(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ text, words, want string }{
		{"I like Green  Tea. Not coffee.", "green tea", "green tea"},
		{"我喜欢绿茶，不喝咖啡。", "不喝咖啡", "不喝咖啡"},
		{"Ｃａｌｌ ＡＢＣ-1\n now", "call abc-1", "call abc-1"},
		{"a\x00b c", "ab", "ab"},
		{"x", "x", "x"},
	} {
		span, ok := longterm.SpanOf(tc.text, tc.words)
		if got := strings.Join(strings.Fields(span.Of(tc.text)), " "); !ok || got != tc.want {
			t.Errorf("%q in %q: %+v %v, %q", tc.words, tc.text, span, ok, got)
		}
		if got := span.Of(""); got != "" {
			t.Errorf("without its text a span says %q", got)
		}
	}
	for _, words := range []string{"", " ", "tea and"} {
		if span, ok := longterm.SpanOf("tea", words); ok {
			t.Errorf("%q is at %+v", words, span)
		}
	}
}
