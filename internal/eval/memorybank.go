package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/memory/search"
)

type memoryBankUser struct {
	History map[string][]struct {
		Query    string `json:"query"`
		Response string `json:"response"`
	} `json:"history"`
}

// loadMemoryBank returns users who talk for ten days, with questions that have no gold: they show sizes and times.
func loadMemoryBank(dir string) (set, error) {
	s := set{
		name:       "MemoryBank",
		about:      "Simulated users, ten days each. A document is one exchange. The questions have no gold, so that only sizes and times are measured.",
		categories: []string{"English", chinese, total},
	}
	for _, l := range []struct{ suffix, language string }{{"en", "English"}, {"cn", chinese}} {
		hs, err := memoryBank(filepath.Join(dir, "memorybank_cn"), l.suffix, l.language)
		if err != nil {
			return s, err
		}
		s.haystacks = append(s.haystacks, hs...)
	}
	return s, nil
}

func memoryBank(dir, suffix, language string) ([]haystack, error) {
	raw, err := os.ReadFile(filepath.Join(dir, "memory_bank_"+suffix+".json"))
	if err != nil {
		return nil, err
	}
	var users map[string]memoryBankUser
	if err := json.Unmarshal(raw, &users); err != nil {
		return nil, err
	}
	asked, err := probing(filepath.Join(dir, "probing_questions_"+suffix+".jsonl"))
	if err != nil {
		return nil, err
	}
	var hs []haystack
	for _, name := range sorted(users) {
		h, err := users[name].haystack()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for _, q := range asked[name] {
			h.questions = append(h.questions, question{text: q, category: language})
		}
		hs = append(hs, h)
	}
	return hs, nil
}

func (u memoryBankUser) haystack() (haystack, error) {
	var h haystack
	for _, date := range sorted(u.History) {
		at, err := time.Parse(time.DateOnly, date)
		if err != nil {
			return h, err
		}
		for _, e := range u.History[date] {
			h.docs = append(h.docs, search.Doc{No: uint32(len(h.docs) + 1), Text: e.Query + "\n" + e.Response, Group: date, At: at})
		}
	}
	return h, nil
}

// probing returns the questions of each user.
func probing(file string) (map[string][]string, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all := map[string][]string{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if len(lines.Bytes()) == 0 {
			continue
		}
		var user map[string][]string
		if err := json.Unmarshal(lines.Bytes(), &user); err != nil {
			return nil, err
		}
		for name, questions := range user {
			all[name] = append(all[name], questions...)
		}
	}
	return all, lines.Err()
}

func sorted[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
