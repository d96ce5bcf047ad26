package search_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/holdfast-go/holdfast/memory/search"
)

// R99 T33: Chinese by characters and pairs, NFKC, identifiers whole and in parts.
func TestTerms(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                              "",
		"The of and 的了":                 "",
		"Running runners ran":           "run runner run",
		"支付服务":                          "支 支付 付 付服 服 服务 务", // pairs come as soon as they are complete
		"ＡＰＩ　Ｅ５０４":                      "api e504 504",
		"payment-api":                   "payment-api payment api",
		"svc_17 10.0.3.7":               "svc_17 svc 17 10.0.3.7 10 0 3 7",
		"getUserName":                   "getusername user name",
		"Caroline's don't 1,000 O’Neil": "carolin 1000 oneil",
		"查payment-api的日志":               "查 payment-api payment api 的日 日 日志 志",
		"12人死亡":                         "12 12人 人 人死 死 死亡 亡",
	} {
		if got := strings.Join(search.Terms(text), " "); got != want {
			t.Errorf("Terms(%q) = %q, want %q", text, got, want)
		}
	}
}

// Words and their stems by the Porter2 algorithm (snowballstem.org/algorithms/english), and the forms that no ending leads to.
func TestStems(t *testing.T) {
	t.Parallel()
	for line := range strings.Lines(`
		camping camp camped camps
		hope hoped hoping hopes
		hop hopped hopping hops
		agree agreed agrees
		generate generated generates generating
		general generally
		national nationally
		relation relational relations
		happy happiness
		beauty beauties beautiful beautifully
		hopeful hopefully hopefulness
		university universities
		vision visions
		adjust adjustable adjusted adjustment
		conversation conversations conversational
		study studies studied studying
		tie ties tied
		cry cries cried
		child children
		buy bought buys buying`) {
		f := strings.Fields(line)
		for _, w := range f {
			if a, b := search.Terms(f[0]), search.Terms(w); !slices.Equal(a, b) {
				t.Errorf("%s is %q, %s is %q", f[0], a, w, b)
			}
		}
	}
	for a, b := range map[string]string{"universe": "universal", "news": "newer", "organ": "organize", "gas": "gap", "this is": "of", "port": "porter"} {
		if x, y := search.Terms(a), search.Terms(b); a != "this is" && slices.Equal(x, y) {
			t.Errorf("%s and %s are both %q", a, b, x)
		}
	}
}

// T33: a long word is cut between characters, and still found whole.
func TestLongWords(t *testing.T) {
	t.Parallel()
	for _, w := range []string{strings.Repeat("x", 5000), strings.Repeat("é", 99), strings.Repeat("a-", 80) + "b"} {
		a, b := search.Terms(w)[0], search.Terms(w + "z")[0]
		if len(a) > 100 || !utf8.ValidString(a) || a == b || a != search.Terms(w)[0] {
			t.Errorf("%d bytes are the term %q, one more byte %q", len(w), a, b)
		}
	}
}

func FuzzTerms(f *testing.F) {
	for _, s := range []string{"", "Ann: a-b_c.d 支付API错误 12人", "\xff\x00'é", "A’s ４.０ 안녕 カタ", strings.Repeat("ab/", 70)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, term := range search.Terms(s) {
			if term == "" || len(term) > 100 || strings.ContainsRune(term, 0) {
				t.Errorf("Terms(%q) has %q", s, term)
			}
		}
		if len(search.Aspects(s)) == 0 {
			t.Errorf("Aspects(%q) has none", s)
		}
	})
}

func TestAspects(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"上海的人口是多少？":                   "上海的人口是多少？",
		"上海和北京2021年的GDP分别是多少？":        "上海2021年的GDP分别是多少?|北京2021年的GDP分别是多少?",
		"2022年和2023年春运首日":             "2022年春运首日|2023年春运首日",
		"CBA和NBA总冠军":                  "CBA总冠军|NBA总冠军",
		"中华人民共和国成立的时间":                "中华人民共和国成立的时间",
		"我的和你的":                       "我的和你的",
		"Where do Jon and Gina live?": "Where do Jon live?|Where do Gina live?",
		"and then?":                   "and then?",
		"":                            "",
		"和":                           "和",
		"与 and 或":                     "与 and 或",
		"tea or coffee":               "tea|coffee",
	} {
		if got := strings.Join(search.Aspects(text), "|"); got != want {
			t.Errorf("Aspects(%q) = %q, want %q", text, got, want)
		}
	}
	long := strings.Repeat("他昨天说了很多话", 20) + "上海和北京"
	if got := search.Aspects(long); len(got) != 1 || got[0] != long {
		t.Errorf("a long text has the aspects %q", got)
	}
}
