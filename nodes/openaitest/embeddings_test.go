package openaitest_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/nodes/openaitest"
)

func dot(a, b []float32) (sum float32) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// Texts that share words are nearer than others, in both languages, and each is nearest to itself.
func TestVector(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{
		{"I like tables in reports", "put the report in tables, I like that", "the cat sleeps on a sofa"},
		{"我喜欢用表格看退款", "退款请用表格", "今天天气不错"},
	} {
		a, near, far := openaitest.Vector(c[0], 256), openaitest.Vector(c[1], 256), openaitest.Vector(c[2], 256)
		if dot(a, near) <= dot(a, far) || dot(a, a) < 0.999 || dot(a, a) > 1.001 {
			t.Errorf("%q: %v near, %v far, %v itself", c[0], dot(a, near), dot(a, far), dot(a, a))
		}
		if !slices.Equal(a, openaitest.Vector(c[0], 256)) || len(openaitest.Vector(c[0], 8)) != 8 {
			t.Errorf("%q has two vectors, or one of another length", c[0])
		}
	}
	if v := openaitest.Vector("...", 4); dot(v, v) != 1 {
		t.Errorf("a text without words: %v", v)
	}
}

// Each rule for embeddings is broken once.
func TestStrictEmbeddings(t *testing.T) {
	t.Parallel()
	p := start(t, openaitest.Config{})
	for body, want := range map[string]string{
		`{"model":"m","input":["a","b"]}`:                                 "",
		`{"model":"m","input":"a","dimensions":8}`:                        "",
		`{"input":["a"]}`:                                                 "model",
		`{"model":"m"}`:                                                   "input",
		`{"model":"m","input":[]}`:                                        "no text",
		`{"model":"m","input":["a",""]}`:                                  "empty string",
		`{"model":"m","input":[1]}`:                                       "array of strings",
		`{"model":"m","input":["a"],"dimensions":0}`:                      "dimensions",
		`{"model":"m","input":["a"],"encoding_format":"base64"}`:          "float",
		`{"model":"m","input":[` + strings.Repeat(`"a",`, 2048) + `"a"]}`: "2048",
		`{"model":"m","input":["` + "\xff" + `"]}`:                        "parse",
	} {
		before := len(p.Refused())
		resp, err := http.Post(p.URL+"/embeddings", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		refused := strings.Join(p.Refused()[before:], "")
		if (want == "") != (resp.StatusCode == 200) || !strings.Contains(refused, want) {
			t.Errorf("%.60s: status %d, %q; want %q", body, resp.StatusCode, refused, want)
		}
	}
	if got := p.Embeddings(); len(got) != 2 {
		t.Errorf("it was asked for %+v", got)
	}
}
