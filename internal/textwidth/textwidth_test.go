package textwidth_test

import (
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/internal/textwidth"
)

func TestWrap(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		in, hang string
		width    int
		want     string
	}{
		{"one two three", "", 8, "one two|three"},
		{"  one two three", "  ", 9, "  one two|  three"},
		{"退款已经批准，钱已退回。", "", 12, "退款已经批|准，钱已退|回。"},
		{"abcdefghijkl", "", 5, "abcde|fghij|kl"},
		{"金额 ¥480.00 元", "", 10, "金额|¥480.00 元"},
		{"a   b   c", "", 6, "a   b|c"},
		{"", "", 10, ""},
		{"退a", "", 1, "退|a"}, // narrower than a rune: go on all the same
	} {
		if got := strings.Join(textwidth.Wrap(tc.in, tc.width, tc.hang), "|"); got != tc.want {
			t.Errorf("%q at %d: %q; want %q", tc.in, tc.width, got, tc.want)
		}
	}
}

func FuzzWrap(f *testing.F) {
	f.Add("退款 of ¥480.00 已经，批准 and so on", 20)
	f.Fuzz(func(t *testing.T, s string, width int) {
		if width < 8 || width > 200 || strings.ContainsAny(s, "\r\n\t") || strings.HasPrefix(s, "   ") {
			t.Skip()
		}
		lines := textwidth.Wrap(s, width, "")
		for _, l := range lines {
			if textwidth.Of(l) > width {
				t.Errorf("%q takes %d of %d columns", l, textwidth.Of(l), width)
			}
		}
		bare := func(s string) string { return strings.ReplaceAll(s, " ", "") }
		if got := bare(strings.Join(lines, "")); got != bare(s) {
			t.Errorf("%q became %q", s, lines)
		}
	})
}
