package main

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/memory"
)

// Capability 4: Chinese is found as English is.
func TestMirrored(t *testing.T) {
	t.Parallel()
	scores, err := loadMirror().ask(t.Context(), engine{})
	if err != nil {
		t.Fatal(err)
	}
	if missed := below(mirror, scores); len(missed) > 0 || len(scores[chinese]) != 180 || len(scores["English"]) != 180 {
		t.Errorf("%d and %d questions: %q", len(scores["English"]), len(scores[chinese]), missed)
	}
}

func TestBarsAreMissed(t *testing.T) {
	t.Parallel()
	if missed := below("LoCoMo", map[string][]score{total: {{recall10: 0.719}}, "multi-hop": {{recall10: 0.41}}}); len(missed) != 1 {
		t.Errorf("missed %q", missed)
	}
	if missed := below(mirror, map[string][]score{"English": {{recall5: 1}}, chinese: {{recall5: 0.965}}}); len(missed) != 2 {
		t.Errorf("missed %q", missed)
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		found []uint32
		gold  [][]uint32
		want  score
	}{
		{nil, [][]uint32{{1}}, score{}},
		{[]uint32{1}, [][]uint32{{1}}, score{hit1: 1, recall5: 1, recall10: 1, hit10: 1, aspects10: 1, ndcg10: 1}},
		{[]uint32{9, 1}, [][]uint32{{1}, {2}}, score{recall5: 0.5, recall10: 0.5, hit10: 1, ndcg10: gain(1) / (gain(0) + gain(1))}},
		{[]uint32{9, 8, 7, 6, 5, 1, 2}, [][]uint32{{1}, {2, 1}}, score{recall10: 1, hit10: 1, aspects10: 1, ndcg10: (gain(5) + gain(6)) / (gain(0) + gain(1))}},
		{[]uint32{9, 8, 7, 6, 5, 4, 3, 20, 21, 22, 1}, [][]uint32{{1}}, score{}},
	} {
		got := judge(c.found, c.gold)
		if math.Abs(got.ndcg10-c.want.ndcg10) > 1e-12 {
			t.Errorf("judge(%v, %v): NDCG %v, want %v", c.found, c.gold, got.ndcg10, c.want.ndcg10)
		}
		if got.ndcg10 = c.want.ndcg10; got != c.want {
			t.Errorf("judge(%v, %v) = %+v, want %+v", c.found, c.gold, got, c.want)
		}
	}
}

func TestInterval(t *testing.T) {
	t.Parallel()
	var scores []score
	for i := range 200 {
		scores = append(scores, score{recall10: float64(i % 2)})
	}
	recall := func(s score) float64 { return s.recall10 }
	low, high := interval(scores, recall)
	if again, _ := interval(scores, recall); again != low || low < 0.40 || low > 0.46 || high < 0.54 || high > 0.60 { // 0.5 +- 1.96 * 0.5/sqrt(200)
		t.Errorf("from %v to %v", low, high)
	}
}

// The malformed ids that LoCoMo has.
func TestEvidence(t *testing.T) {
	t.Parallel()
	known := map[string]uint32{"D8:6": 1, "D9:17": 2, "D11:26": 3, "D30:5": 4}
	if got := evidence([]string{"D8:6; D9:17", "D:11:26", "D30:05", "D", "D99:1", "D8:6"}, known); !slices.Equal(got, []uint32{1, 2, 3, 4}) {
		t.Errorf("evidence is %v", got)
	}
}

// files has a small set in each format of the public ones.
var files = map[string]string{
	"locomo/locomo7.json": `[{"conversation": {"session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": [
		{"speaker": "Ann", "dia_id": "D1:1", "text": "I went to the museum"}, {"speaker": "Ben", "dia_id": "D1:2", "text": "look", "blip_caption": "a photo of a lake"}]},
		"qa": [{"question": "Where did Ann go in May?", "evidence": ["D1:1"], "category": 1}, {"question": "lost", "evidence": ["D"], "category": 4}, {"question": "Which lake?", "evidence": ["D1:2"], "category": 5}]}]`,
	"rgb_zh/zh_refine.json":                    `{"query": "北京人口", "positive": ["北京的人口是两千万"], "negative": ["上海的面积", "天津人口"]}` + "\n",
	"rgb_zh/zh_int.json":                       `{"query": "北京和上海的面积", "positive": [["北京的面积"], ["上海的面积"]], "negative": ["天津的面积"]}` + "\n",
	"memorybank_cn/memory_bank_cn.json":        `{"张三": {"history": {"2023-04-27": [{"query": "你好", "response": "你好"}]}}}`,
	"memorybank_cn/memory_bank_en.json":        `{"Ann": {"history": {"2023-04-27": [{"query": "I like tea", "response": "noted"}]}}}`,
	"memorybank_cn/probing_questions_cn.jsonl": `{"张三": ["我说过什么？"]}` + "\n",
	"memorybank_cn/probing_questions_en.jsonl": `{"Ann": ["What do I like?", "And tea?"]}` + "\n",
}

func publicSets(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestLoad(t *testing.T) {
	t.Parallel()
	dir := publicSets(t)
	sets, err := load(dir)
	if err != nil {
		t.Fatal(err)
	}
	counts := ""
	for _, s := range sets[1:] {
		for _, h := range s.haystacks {
			counts += fmt.Sprintf("%s %d %d;", s.name, len(h.docs), len(h.questions))
		}
	}
	if want := "LoCoMo 2 2;RGB zh_refine 3 1;RGB zh_int 3 1;MemoryBank 1 2;MemoryBank 1 1;"; counts != want {
		t.Errorf("loaded %q, want %q", counts, want)
	}
	if d := sets[1].haystacks[0].docs[1]; d.Text != "Ben: look a photo of a lake" || d.Group != "session_1" || d.At.Format("2006-01-02 15:04") != "2023-05-08 13:56" {
		t.Errorf("a turn is %+v", d)
	}
	if gold := sets[3].haystacks[0].questions[0].gold; !slices.EqualFunc(gold, [][]uint32{{1}, {2}}, slices.Equal[[]uint32]) {
		t.Errorf("aspects are %v", gold)
	}
	if err := os.WriteFile(filepath.Join(dir, "rgb_zh/zh_int.json"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := load(dir); err == nil {
		t.Error("a broken set is loaded")
	}
}

// The tables of all sets, with and without a server for vectors, get between the marks of a file.
func TestMeasureAndWrite(t *testing.T) {
	t.Parallel()
	embedder := httptest.NewServer(http.HandlerFunc(embed))
	defer embedder.Close()
	tables, missed, err := measure(t.Context(), publicSets(t), []engine{{}, {server{embedder.URL + "/v1", "m", "key"}}})
	if err != nil {
		t.Fatal(err)
	}
	if len(missed) != 0 {
		t.Errorf("missed %q", missed)
	}
	for _, want := range []string{"**LoCoMo, words alone.**", "**LoCoMo, words and vectors.**", "| multi-hop | 1 | 100.0 |", "| 0.5 | 0.0% | 0.0% |"} {
		if !strings.Contains(tables, want) {
			t.Errorf("no %q in\n%s", want, tables)
		}
	}
	file := filepath.Join(t.TempDir(), "memory.md")
	for _, text := range []string{"no marks", mark, mark + mark + mark} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := write(file, "x"); err == nil {
			t.Errorf("written into %q", text)
		}
	}
	if err := os.WriteFile(file, []byte("a\n"+mark+"\nold\n"+mark+"\nb\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := write(file, "| new |\n"); err != nil {
			t.Fatal(err)
		}
	}
	if got, _ := os.ReadFile(file); string(got) != "a\n"+mark+"\n\n| new |\n\n"+mark+"\nb\n" {
		t.Errorf("written: %q", got)
	}
}

// embed answers as a server of embeddings does, in the wrong order, with vectors of the first letters.
func embed(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Model string
		Input []string
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || r.URL.Path != "/v1/embeddings" || asked.Model != "m" || r.Header.Get("Authorization") != "Bearer key" {
		http.Error(w, "what?", http.StatusBadRequest)
		return
	}
	var answer struct {
		Data []embedding `json:"data"`
	}
	for i, text := range slices.Backward(asked.Input) {
		answer.Data = append(answer.Data, embedding{i, []float32{1, float32(text[0])}})
	}
	_ = json.NewEncoder(w).Encode(answer)
}

func TestEmbedder(t *testing.T) {
	t.Parallel()
	embedder := httptest.NewServer(http.HandlerFunc(embed))
	defer embedder.Close()
	var e memory.Embedder = server{embedder.URL + "/v1/", "m", "key"}
	vectors, err := e.EmbedDocuments(t.Context(), []string{"a", "b"})
	if err != nil || len(vectors) != 2 || vectors[0][1] != 'a' || vectors[1][1] != 'b' {
		t.Errorf("vectors %v (%v)", vectors, err)
	}
	if _, err := (server{embedder.URL, "m", "key"}).EmbedQuery(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), "what?") {
		t.Errorf("a wrong URL: %v", err)
	}
	for _, bad := range []string{"{", `{"data": []}`, `{"data": [{"index": 1, "embedding": [1]}]}`, `{"data": [{"index": 0}, {"index": 0}]}`} {
		if v, err := decodeEmbeddings(strings.NewReader(bad), 1); err == nil {
			t.Errorf("%s is %v", bad, v)
		}
	}
}
