package knowledge_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/knowledge"
	"github.com/holdfast-go/holdfast/memory/longterm"
	"github.com/holdfast-go/holdfast/memory/working"
	"github.com/holdfast-go/holdfast/message"
)

// A conflict is a rule and a preference about the same subject.
type conflict struct {
	subject, rule, preference, question string
	language                            working.Language
}

func conflicts() (out []conflict) {
	things := [][2]string{
		{"report", "报告"}, {"invoice", "发票"}, {"minutes", "会议纪要"}, {"contract", "合同"}, {"offer", "报价单"}, {"receipt", "收据"}, {"schedule", "排班表"}, {"inventory", "库存表"},
		{"newsletter", "简报"}, {"manual", "手册"}, {"certificate", "证书"}, {"timesheet", "工时表"}, {"budget", "预算"}, {"survey", "问卷"}, {"complaint", "投诉单"}, {"reminder", "催款函"},
		{"checklist", "检查表"}, {"briefing", "通报"}, {"transcript", "笔录"}, {"brochure", "宣传册"}, {"memo", "备忘录"}, {"roadmap", "路线图"}, {"audit", "审计底稿"}, {"payslip", "工资条"},
		{"postmortem", "复盘"},
	}
	for i, t := range things {
		out = append(out, conflict{
			"format." + t[0], fmt.Sprintf("# Formats\n\nEvery %s goes out as PDF, signed by 2 people.", t[0]), fmt.Sprintf("I like every %s as a table in Word.", t[0]),
			fmt.Sprintf("In which format does the %s go out?", t[0]), working.English,
		}, conflict{
			"格式." + t[1], fmt.Sprintf("# 格式\n\n%s一律以PDF发出，须两人签字。", t[1]), fmt.Sprintf("我喜欢%s用Word表格，编号%d。", t[1], i),
			fmt.Sprintf("%s用什么格式发出？", t[1]), working.Chinese,
		})
	}
	return out
}

// T27, R62: fifty times a rule meets an older or a newer preference about its subject: both are told, the rule is marked as binding and the preference
// as overruled by it, also where the question names neither.
func TestDocumentsAgainstPreferences(t *testing.T) {
	t.Parallel()
	own, err := longterm.NewMemory(longterm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	s := open(t, knowledge.Options{})
	sc, err := memory.NewScope("t", "user")
	if err != nil {
		t.Fatal(err)
	}
	agent, err := memory.NewAgent("assistant", memory.Internal, "n")
	if err != nil {
		t.Fatal(err)
	}
	all := conflicts()
	var drafts []longterm.Draft
	var docs []knowledge.Document
	for i, c := range all {
		said := time.Now().AddDate(0, -i, 0)
		drafts = append(drafts, longterm.Draft{
			Kind: longterm.Preference, Key: c.subject, Text: c.preference, Origin: longterm.FromUser, From: said,
			Source: longterm.Source{Conversation: "c", Message: fmt.Sprint("m", i), At: said},
		})
		docs = append(docs, knowledge.Document{
			ID: fmt.Sprint("rule-", i), Version: "1", Text: c.rule, Roles: []string{knowledge.Everyone}, Subjects: []string{"other", c.subject},
			Effective: time.Now().AddDate(0, -25, 0),
		})
	}
	outs, err := own.Add(t.Context(), sc, agent, drafts...)
	if err != nil {
		t.Fatal(err)
	}
	for i, o := range outs {
		if o.Fate != longterm.Stored {
			t.Fatalf("preference %d: %+v", i, o)
		}
	}
	if err := s.Index(t.Context(), "t", docs...); err != nil {
		t.Fatal(err)
	}
	reader, err := knowledge.NewReader("t")
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range all {
		hits, err := own.Search(t.Context(), sc, agent, longterm.Query{Text: c.preference})
		if err != nil || len(hits) == 0 || hits[0].Key != c.subject {
			t.Fatalf("preference %d: %+v, %v", i, hits, err)
		}
		for _, q := range []knowledge.Query{{Text: c.question}, {Text: "Do it as always, please.", Subjects: []string{hits[0].Key}}} {
			a, err := s.Retrieve(t.Context(), reader, q)
			if err != nil || a.Refused || a.Chunks[0].Document != docs[i].ID || a.Chunks[0].Subject != c.subject {
				t.Fatalf("%+v: %+v, %v", q, a, err)
			}
			prompt := prompted(t, c, hits[0], a.Chunks[0])
			rule, wish := strings.Index(prompt, "PDF"), strings.Index(prompt, "Word")
			binding := map[working.Language]string{working.English: "binding]", working.Chinese: "必须遵守]"}[c.language]
			overruled := map[working.Language]string{working.English: "overruled by rule-", working.Chinese: "以 rule-"}[c.language]
			if rule < 0 || wish < rule || !strings.Contains(prompt, binding) || !strings.Contains(prompt, overruled) {
				t.Fatalf("conflict %d in\n%s", i, prompt)
			}
		}
	}
}

// prompted is what a model is told of both.
func prompted(t *testing.T, c conflict, wish longterm.Hit, rule knowledge.Chunk) string {
	t.Helper()
	profile := working.Operations()
	profile.Language = c.language
	a, err := working.New(profile, working.Estimate)
	if err != nil {
		t.Fatal(err)
	}
	p, err := a.Assemble(working.Input{
		System: []string{"You help."}, History: []message.Message{message.User(c.question)},
		Recalled: []working.Item{
			{Source: working.LongTerm, ID: wish.ID, Text: wish.Text, Score: wish.Score, Subject: wish.Key, Kind: string(wish.Kind), At: wish.From},
			{Source: working.Knowledge, ID: rule.ID, Text: rule.Text, Score: rule.Score, Subject: rule.Subject, Origin: rule.Document, At: rule.Effective},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, m := range p.Messages {
		b.WriteString(m.Text())
	}
	return b.String()
}
