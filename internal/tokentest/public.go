package tokentest

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Public returns the public sets in a folder: LoCoMo (English chat), MemoryBank (Chinese and English chat) and RGB (Chinese news).
// A text is one conversation, or one question with its articles.
func Public(folder string) ([]Corpus, error) {
	var all []Corpus
	for _, set := range []struct {
		name, file string
		read       func([]byte) ([]string, error)
	}{
		{"en chat, LoCoMo", "locomo/locomo7.json", locomo},
		{"zh chat, MemoryBank", "memorybank_cn/memory_bank_cn.json", memoryBank},
		{"en chat, MemoryBank", "memorybank_cn/memory_bank_en.json", memoryBank},
		{"zh news, RGB", "rgb_zh/zh_refine.json", articles},
	} {
		b, err := os.ReadFile(filepath.Join(folder, set.file))
		if err != nil {
			return nil, err
		}
		texts, err := set.read(b)
		if err != nil {
			return nil, err
		}
		all = append(all, Corpus{set.name, texts})
	}
	return all, nil
}

func locomo(b []byte) ([]string, error) {
	var samples []struct {
		Conversation map[string]json.RawMessage `json:"conversation"`
	}
	if err := json.Unmarshal(b, &samples); err != nil {
		return nil, err
	}
	var texts []string
	for _, s := range samples {
		for _, name := range sorted(s.Conversation) {
			var turns []struct{ Text string }
			if json.Unmarshal(s.Conversation[name], &turns) != nil {
				continue // a date or a speaker
			}
			var b strings.Builder
			for _, t := range turns {
				b.WriteString(t.Text + "\n")
			}
			texts = append(texts, b.String())
		}
	}
	return texts, nil
}

func memoryBank(b []byte) ([]string, error) {
	var users map[string]struct {
		History map[string][]struct{ Query, Response string }
	}
	if err := json.Unmarshal(b, &users); err != nil {
		return nil, err
	}
	var texts []string
	for _, name := range sorted(users) {
		var b strings.Builder
		for _, date := range sorted(users[name].History) {
			for _, turn := range users[name].History[date] {
				b.WriteString(turn.Query + "\n" + turn.Response + "\n")
			}
		}
		texts = append(texts, b.String())
	}
	return texts, nil
}

func articles(b []byte) ([]string, error) {
	var texts []string
	for line := range bytes.Lines(b) {
		var q struct {
			Query              string
			Positive, Negative []string
		}
		if err := json.Unmarshal(line, &q); err != nil {
			return nil, err
		}
		texts = append(texts, strings.Join(slices.Concat([]string{q.Query}, q.Positive, q.Negative), "\n"))
	}
	return texts, nil
}

func sorted[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
