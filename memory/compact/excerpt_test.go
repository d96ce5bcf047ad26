package compact_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/holdfast-go/holdfast/memory/compact"
)

// logOf makes a log of n lines with an error of its own in line 17 and near the end.
func logOf(n int) string {
	var b strings.Builder
	for i := range n {
		level, text := "INFO", fmt.Sprintf("request %d served in %d ms", i, i%90)
		switch {
		case i == 16:
			level, text = "ERROR", "E1042 disk full on /var/lib/pay"
		case i == n-3:
			level, text = "ERROR", "TimeoutException calling ledger, status=503"
		case i%100 == 50:
			level, text = "WARN", fmt.Sprintf("slow query of table refunds took %d s", i)
		}
		fmt.Fprintf(&b, "2026-03-01T10:%02d:%02d %s %s\n", i/60%60, i%60, level, text)
	}
	return b.String()
}

// R57, R122
func TestExcerptOfALog(t *testing.T) {
	t.Parallel()
	text := logOf(2000)
	got := compact.Excerpt(counter{}, text, compact.ExcerptOptions{MaxTokens: 400, Result: "r_1", Question: "Why is the query of table refunds slow?"})
	for _, want := range []string{
		"ERROR 2, WARN 20, INFO 1978", "2026-03-01T10:00:00 to 2026-03-01T10:33:19", "E1042 x1", "status=503 x1", "TimeoutException x1",
		"first error, line 17: 2026-03-01T10:00:16 ERROR E1042 disk full", "last error, line 1998", "line 51: ", "refunds", "x1978: ",
		"[excerpt of a log of 2000 lines, " + fmt.Sprint(len(text)) + " bytes; full text: result r_1]",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if n := tokens(got); n > 400 {
		t.Errorf("it has %d tokens", n)
	}
}

func TestExcerptOfJSON(t *testing.T) {
	t.Parallel()
	type order struct {
		ID     string  `json:"id"`
		Price  float64 `json:"price"`
		Status string  `json:"status"`
		Lines  []int   `json:"lines"`
	}
	var orders []order
	for i := range 500 {
		status := "paid"
		if i%50 == 7 {
			status = "refused"
		}
		orders = append(orders, order{fmt.Sprintf("ORD-%03d", i), float64(i) + 0.5, status, []int{i, i + 1}})
	}
	doc, err := json.Marshal(orders)
	if err != nil {
		t.Fatal(err)
	}
	got := compact.Excerpt(counter{}, string(doc), compact.ExcerptOptions{MaxTokens: 300, Result: "r_1", Question: "ORD-321"})
	for _, want := range []string{
		"JSON array of 500 items", "[].price x500: 0.5 to 499.5", "[].status x500: paid x490, refused x10", "[].lines[] x1000: 0 to 500",
		`first: {"id":"ORD-000"`, `last: {"id":"ORD-499"`, "asked: [].id: ORD-321", "result r_1]",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	object := compact.Excerpt(counter{}, `{"total": 7, "rows": [`+strings.Repeat(`{"a": true},`, 400)+`{"a": false}]}`, compact.ExcerptOptions{})
	if !strings.Contains(object, "total x1: 7 to 7") || !strings.Contains(object, "rows[].a x401: true x400, false x1") {
		t.Errorf("an object became\n%s", object)
	}
}

// R57, T33
func TestExcerptOfOtherText(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 900 {
		fmt.Fprintf(&b, "第%d行：我们在这里随便写些文字。\n", i)
	}
	text := "开头\n" + b.String() + "退款政策只适用于三十天内的订单\n" + b.String() + "结尾"
	got := compact.Excerpt(counter{}, text, compact.ExcerptOptions{MaxTokens: 200, Question: "退款政策是什么"})
	if !strings.HasPrefix(got, "开头\n第0行") || !strings.Contains(got, "\n结尾\n[excerpt of a text") || !strings.Contains(got, "line 902: 退款政策只适用于") {
		t.Errorf("it became\n%s", got)
	}
	if short := "as it is\r\n\x00"; compact.Excerpt(counter{}, short, compact.ExcerptOptions{}) != short {
		t.Error("a short text was changed")
	}
}

// Whatever the text is, the excerpt is below its limit, valid, the same each time, and names the full text.
// T33, report 103
func TestExcerptsKeepTheirLimit(t *testing.T) {
	t.Parallel()
	line := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
		"2026-03-01 10:00:00 ERROR E12", "退款😀", "\xff\xfe", `{"a":[1,{"b":null}]}`, strings.Repeat("长", 5000), strings.Repeat("[", 9000), "", "\r",
	}))
	rapid.Check(t, func(t *rapid.T) {
		sep := rapid.SampledFrom([]string{"\n", "", ",", "\r\n"}).Draw(t, "break")
		text := strings.Repeat(strings.Join(rapid.SliceOfN(line, 1, 12).Draw(t, "lines"), sep)+sep, rapid.IntRange(1, 30).Draw(t, "times"))
		o := compact.ExcerptOptions{MaxTokens: rapid.IntRange(0, 500).Draw(t, "limit"), Result: "r_0123456789abcdef0123", Question: "退款 E12 limit"}
		got := compact.Excerpt(counter{}, text, o)
		if again := compact.Excerpt(counter{}, text, o); again != got {
			t.Fatalf("%q, then %q", got, again)
		}
		if got == text {
			return
		}
		if tokens(got) > max(o.MaxTokens, 64) || !utf8.ValidString(got) || !strings.Contains(got, o.Result) {
			t.Fatalf("%d tokens of %d: %q", tokens(got), o.MaxTokens, got)
		}
	})
}

// One line of 50 MB, and JSON as deep as it may be, end like any other text.
func TestExcerptOfAHugeLine(t *testing.T) {
	t.Parallel()
	size := 4 << 20
	if long() {
		size = 50 << 20
	}
	for name, text := range map[string]string{
		"letters": strings.Repeat("x", size), "chinese": strings.Repeat("日志", size/6), "deep": strings.Repeat("[", 9999) + strings.Repeat("]", 9999),
		"numbers": "[" + strings.Repeat("1234,", size/5) + "1]", "keys": manyKeys(size / 16),
	} {
		if got := compact.Excerpt(counter{}, text, compact.ExcerptOptions{MaxTokens: 300, Result: "r_1", Question: "1234"}); tokens(got) > 300 || !strings.Contains(got, "r_1") {
			t.Errorf("%s: %d tokens: %.300s", name, tokens(got), got)
		}
	}
}

func manyKeys(n int) string {
	var b strings.Builder
	b.WriteByte('{')
	for i := range n {
		fmt.Fprintf(&b, `"k%d":%d,`, i, i)
	}
	return b.String() + `"end":1}`
}
