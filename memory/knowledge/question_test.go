package knowledge_test

import (
	"slices"
	"testing"

	"github.com/holdfast-go/holdfast/memory/knowledge"
)

// T28: a question is cut where both sides ask, and into the things of a list, but not within words, numbers and what only leads up to it.
func TestAspects(t *testing.T) {
	t.Parallel()
	for q, want := range map[string][]string{
		"How long does shipping take, and what does it cost?":   {"How long does shipping take", "what does it cost?"},
		"How long does shipping take and what does it cost?":    {"How long does shipping take", "what does it cost?"},
		"What are the limits for hotels and meals?":             {"What are the limits for hotels", "meals?"},
		"If I lose my badge, whom do I call?":                   {"If I lose my badge, whom do I call?"},
		"I am new here. Where is the canteen?":                  {"Where is the canteen?"},
		"Where is the canteen? How much is lunch there?":        {"Where is the canteen?", "How much is lunch there?"},
		"Do I qualify for the grant, and after how many weeks?": {"Do I qualify for the grant after how many weeks?"},
		"What does version 3.5 cost, 1,000 yuan or more?":       {"What does version 3.5 cost, 1,000 yuan or more?"},
		"住宿和餐饮的报销上限是多少？":                                        {"住宿", "餐饮的报销上限是多少？"},
		"iPhone SE 3的芯片是什么，起售价多少":                               {"iPhone SE 3的芯片是什么", "起售价多少"},
		"《人世间》的导演和编剧是谁？":                                        {"《人世间》的导演", "编剧是谁？"},
		"退款及时吗？":                                                {"退款及时吗？"},
		"我下周去柏林。酒店能报多少？":                                        {"酒店能报多少？"},
		"年假有几天？病假呢？":                                            {"年假有几天？", "病假呢？"},
		"":                                                      nil,
		"?":                                                     nil,
		"please":                                                nil,
	} {
		if got := knowledge.Aspects(q); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", q, got, want)
		}
	}
	if got := knowledge.Aspects("它要多久？", "退款"); !slices.Equal(got, []string{"它要多久？"}) {
		t.Errorf("with what it stands for: %q", got)
	}
}

// T28, R107: what counts as covered.
func TestCoverage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why, doc, question string
		answered           bool
	}{
		{"other words for what is asked", "The hotel is approved by the finance team.", "Who signs off the hotel?", true},
		{"nothing about what is asked", "The hotel is approved by the finance team.", "Who cleans the hotel?", false},
		{"another name", "Error E502 means that the disk is full, error E503 that it is broken.", "What does error E504 mean?", false},
		{"the same name", "Error E502 means that the disk is full, error E503 that it is broken.", "What does error E502 mean?", true},
		{"the second half is about the first", "Shipping takes 3 days at most.", "Who cancels the shipping, and until when?", false},
		{"pairs of characters across words are none", "会议有纪要。模板可以下载，见网站地址。", "会议纪要模板下载地址是什么？", true},
		{"a character of a word is no verb", "报告用PDF格式。", "报告用什么格式？", true},
		{"how often is not how", "健身卡须申请，在30天内。", "一年能申请几次健身卡？", false},
		{"a day is not an amount", "The kettle comes on Monday.", "How much does the kettle cost?", false},
		{"a time in another sentence is none", "A kettle may be returned. It is made of steel. Our shop is old. Repairs take 30 days.", "How long may a kettle be returned?", false},
		{"a time in the next sentence is one", "A kettle may be returned. You have 30 days.", "How long may a kettle be returned?", true},
		{"who speaks is somebody", "# Who pays the postage\n\nWe pay the postage of a return if the goods are broken.", "Who pays the postage of a return?", true},
		{"the one who buys is somebody", "退货运费由顾客承担。", "退货运费由谁承担？", true},
		{"a thing is nobody", "The postage of a return is paid at once.", "Who pays the postage of a return?", false},
		{"full-width characters", "水壶Ｚ９的保修期为３年。", "水壶Z9保修几年？", true},
		{"a table has its head in each row", "| City | Nightly limit |\n|---|---|\n| Paris | 100 euros |\n| Rome | 90 euros |", "How much may a night in Rome cost?", true},
	} {
		s := open(t, knowledge.Options{})
		r, err := knowledge.NewReader("t")
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Index(t.Context(), "t", knowledge.Document{ID: "d", Version: "1", Text: c.doc, Roles: []string{knowledge.Everyone}}); err != nil {
			t.Fatal(err)
		}
		a, err := s.Retrieve(t.Context(), r, knowledge.Query{Text: c.question})
		if err != nil || a.Refused == c.answered {
			t.Errorf("%s: %q of %q: %+v, %v", c.why, c.question, c.doc, a, err)
		}
	}
}
