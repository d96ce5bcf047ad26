package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/memory/search"
)

var locomoCategories = map[int]string{1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}

type locomoTurn struct {
	Speaker string `json:"speaker"`
	ID      string `json:"dia_id"`
	Text    string `json:"text"`
	Caption string `json:"blip_caption"`
}

type locomoConversation struct {
	Parts     map[string]json.RawMessage `json:"conversation"`
	Questions []struct {
		Question string   `json:"question"`
		Evidence []string `json:"evidence"`
		Category int      `json:"category"`
	} `json:"qa"`
}

// loadLoCoMo returns conversations of two people over months: a document is a turn, a group a session.
func loadLoCoMo(dir string) (set, error) {
	s := set{
		name:       "LoCoMo",
		about:      "Conversations of two people over months. A document is one turn, to be found are the turns that are the evidence.",
		categories: []string{"multi-hop", "temporal", "open-domain", "single-hop", total, "adversarial"},
	}
	raw, err := os.ReadFile(filepath.Join(dir, "locomo", "locomo7.json"))
	if err != nil {
		return s, err
	}
	var all []locomoConversation
	if err := json.Unmarshal(raw, &all); err != nil {
		return s, err
	}
	for _, c := range all {
		h, err := c.haystack()
		if err != nil {
			return s, err
		}
		s.haystacks = append(s.haystacks, h)
	}
	return s, nil
}

func (c locomoConversation) haystack() (haystack, error) {
	var h haystack
	known := map[string]uint32{}
	for session := 1; ; session++ {
		name := fmt.Sprintf("session_%d", session)
		part, ok := c.Parts[name]
		if !ok {
			if _, ok := c.Parts[name+"_date_time"]; ok {
				continue
			}
			break
		}
		var turns []locomoTurn
		var date string
		if err := cmp.Or(json.Unmarshal(part, &turns), json.Unmarshal(c.Parts[name+"_date_time"], &date)); err != nil {
			return h, err
		}
		at, err := time.Parse("3:04 pm on 2 January, 2006", date)
		if err != nil {
			return h, err
		}
		for _, t := range turns {
			no := uint32(len(h.docs) + 1)
			known[t.ID] = no
			text := strings.TrimSpace(t.Speaker + ": " + t.Text + " " + t.Caption)
			h.docs = append(h.docs, search.Doc{No: no, Text: text, Group: name, At: at})
		}
	}
	for _, q := range c.Questions {
		if gold := evidence(q.Evidence, known); len(gold) > 0 {
			h.questions = append(h.questions, question{q.Question, locomoCategories[q.Category], [][]uint32{gold}})
		}
	}
	return h, nil
}

var evidenceID = regexp.MustCompile(`D:?(\d+):(\d+)`)

// evidence returns the turns that are named; some ids are malformed.
func evidence(ids []string, known map[string]uint32) []uint32 {
	var gold []uint32
	for _, m := range evidenceID.FindAllStringSubmatch(strings.Join(ids, " "), -1) {
		session, _ := strconv.Atoi(m[1])
		turn, _ := strconv.Atoi(m[2])
		if no, ok := known[fmt.Sprintf("D%d:%d", session, turn)]; ok {
			gold = append(gold, no)
		}
	}
	slices.Sort(gold)
	return slices.Compact(gold)
}
