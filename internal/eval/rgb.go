package main

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/holdfast-go/holdfast/memory/search"
)

const chinese = "Chinese"

type rgbQuestion struct {
	Query    string          `json:"query"`
	Positive json.RawMessage `json:"positive"`
	Negative []string        `json:"negative"`
}

// aspects returns the texts that answer a question, by aspect.
func (q rgbQuestion) aspects() ([][]string, error) {
	var several [][]string
	if json.Unmarshal(q.Positive, &several) == nil {
		return several, nil
	}
	var one []string
	err := json.Unmarshal(q.Positive, &one)
	return [][]string{one}, err
}

// loadRGB returns a Chinese set of web pages: a document is a snippet, those of all questions are pooled.
func loadRGB(dir, name, about string) (set, error) {
	s := set{name: "RGB " + name, about: about, categories: []string{chinese, total}}
	f, err := os.Open(filepath.Join(dir, "rgb_zh", name+".json"))
	if err != nil {
		return s, err
	}
	defer f.Close()
	var h haystack
	known := map[string]uint32{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<22)
	for lines.Scan() {
		if len(lines.Bytes()) == 0 {
			continue
		}
		var q rgbQuestion
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			return s, err
		}
		aspects, err := q.aspects()
		if err != nil {
			return s, err
		}
		asked := question{text: q.Query, category: chinese}
		for _, texts := range append(aspects, q.Negative) {
			asked.gold = append(asked.gold, h.put(texts, known))
		}
		asked.gold = asked.gold[:len(aspects)]
		h.questions = append(h.questions, asked)
	}
	s.haystacks = []haystack{h}
	return s, lines.Err()
}

// put adds the texts that are not there and returns the numbers of all of them.
func (h *haystack) put(texts []string, known map[string]uint32) []uint32 {
	var nos []uint32
	for _, text := range texts {
		if _, ok := known[text]; !ok {
			known[text] = uint32(len(h.docs) + 1)
			h.docs = append(h.docs, search.Doc{No: known[text], Text: text})
		}
		nos = append(nos, known[text])
	}
	return nos
}
