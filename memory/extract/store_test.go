package extract_test

import (
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/extract"
	"github.com/holdfast-go/holdfast/memory/longterm"
	"github.com/holdfast-go/holdfast/message"
)

// A desk remembers what is said to it.
type desk struct {
	*testing.T
	store *longterm.Store
	scope memory.Scope
	agent memory.Agent
	at    time.Time
	turns int
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	store, err := longterm.NewMemory(longterm.Options{Rules: extract.Rules()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	d := &desk{T: t, store: store, at: time.Now().Add(-30 * 24 * time.Hour)}
	if d.scope, err = memory.NewScope("acme", "user-1"); err != nil {
		t.Fatal(err)
	}
	if d.agent, err = memory.NewAgent("desk", memory.Internal, "default"); err != nil {
		t.Fatal(err)
	}
	return d
}

// says has the user say something, in a conversation of its own, a day later. Behind it come results of tools.
func (d *desk) says(text string, results ...message.Result) {
	d.Helper()
	d.turns++
	id := string(rune('a' + d.turns))
	d.at = d.at.Add(24 * time.Hour)
	said := []message.Message{message.User(text)}
	if len(results) > 0 {
		said = append(said, message.Tool(results...))
	}
	d.remember(longterm.Exchange{Conversation: "c-" + id, Messages: said, At: d.at})
}

func (d *desk) remember(e longterm.Exchange) {
	d.Helper()
	if err := d.store.Remember(d.Context(), d.scope, d.agent, e); err != nil {
		d.Fatal(err)
	}
}

func (d *desk) finds(q string) (out []longterm.Hit) {
	d.Helper()
	out, err := d.store.Search(d.Context(), d.scope, d.agent, longterm.Query{Text: q})
	if err != nil {
		d.Fatal(err)
	}
	return out
}

func (d *desk) list() []longterm.Item {
	d.Helper()
	items, err := d.store.List(d.Context(), d.scope, d.agent, longterm.Page{})
	if err != nil {
		d.Fatal(err)
	}
	return items
}

func TestChangesOfMind(t *testing.T) { // R69, R71, R72, R82, R104, reports 132, 134
	t.Parallel()
	tests := []struct {
		name     string
		says     []string
		asks     string
		want     string // what is found has it
		not      string // and nothing of it this
		sources  int    // of the item found
		versions int
	}{
		{"a new default", []string{"默认测试", "改成默认生产"}, "默认环境是哪个", "生产", "测试", 1, 2},
		{"in English", []string{"Default to testing, please", "I changed my mind, production"}, "which environment is the default?", "production", "testing", 1, 2},
		{"said twice", []string{"我喜欢用表格", "我喜欢用表格"}, "表格", "表格", "-", 2, 1},
		{"said twice in other words", []string{"以后默认查生产环境", "把默认环境改成生产"}, "默认环境", "生产", "-", 2, 1},
		{"a new name", []string{"My name is Bob", "my name is Alice now"}, "what is my name?", "Alice", "Bob", 1, 2},
		{"a like that turned", []string{"我不喜欢电话沟通", "我喜欢电话沟通"}, "电话沟通", "喜欢电话沟通", "不喜欢", 1, 2},
		{"a form that turned", []string{"I like tables", "Never use tables"}, "tables", "Never use tables", "like", 1, 2},
		{"a new company", []string{"我在腾讯工作", "我跳槽到字节跳动了"}, "公司", "字节跳动", "腾讯", 1, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			for _, s := range tt.says {
				d.says(s)
			}
			hits := d.finds(tt.asks)
			if len(hits) != 1 || !strings.Contains(hits[0].Text, tt.want) || strings.Contains(hits[0].Text+hits[0].Words, tt.not) || len(hits[0].Sources) != tt.sources {
				t.Fatalf("found %+v", hits)
			}
			all, err := d.store.History(d.Context(), d.scope, d.agent, hits[0].ID)
			if err != nil || len(all) != tt.versions {
				t.Errorf("%d versions, want %d: %+v %v", len(all), tt.versions, all, err)
			}
		})
	}
}

// Neighbours stay: what is said about another thing ends nothing.
func TestNeighboursStay(t *testing.T) { // R70
	t.Parallel()
	d := newDesk(t)
	said := []string{"默认生产", "默认区域是华东", "我喜欢用表格", "以后都用中文回答", "先结论后证据", "我叫李明", "叫我老李", "我在腾讯工作", "我不喜欢电话沟通",
		"请用邮件联系我", "我对花生过敏", "我不吃辣", "我拒绝了 A 方案的报价", "我拒绝了 B 方案的报价"}
	for _, s := range said {
		d.says(s)
	}
	if got := d.list(); len(got) != len(said) {
		for _, i := range got {
			t.Log(i.Key, i.Text)
		}
		t.Errorf("%d items, want %d", len(got), len(said))
	}
}

func TestRefusal(t *testing.T) { // R81
	t.Parallel()
	d := newDesk(t)
	d.says("我拒绝了 A 方案的报价，太贵")
	if hits := d.finds("A 方案的报价怎么样了"); len(hits) != 1 || hits[0].Text != "我拒绝了 A 方案的报价" || hits[0].Origin != longterm.FromUser {
		t.Errorf("found %+v", hits)
	}
}

func TestTheServiceOfLastWeek(t *testing.T) { // R102
	t.Parallel()
	d := newDesk(t)
	d.says("查一下支付服务的日志", message.Call{ID: "k-1", Name: "query_logs"}.Done(`{"service":"payment-api","env":"production","errors":3}`))
	d.says("看看订单服务", message.Call{ID: "k-2", Name: "query_logs"}.Done(`{"service":"order-api","env":"production","errors":0}`))
	hits := d.finds("还是上次那个支付服务")
	if len(hits) == 0 || hits[0].Key != "service.payment-api" || hits[0].Kind != longterm.Episode || hits[0].Origin != longterm.FromTool {
		t.Errorf("found %+v", hits)
	}
}

func TestTheRefundOfLastWeek(t *testing.T) { // R103
	t.Parallel()
	for _, lang := range []struct{ says, asks string }{{"1005 这单帮我退款", "上次那个退款到账了吗"}, {"Refund order 1005 please", "did that refund arrive?"}} {
		d := newDesk(t)
		d.says(lang.says, message.Call{ID: "k-1", Name: "refund_order"}.Done(`{"refund":"R-7","order":"1005","amount":"35.50","status":"requested"}`))
		hits := d.finds(lang.asks)
		if len(hits) == 0 || hits[0].Key != "order.1005.refund" || !strings.Contains(hits[0].Text, "R-7") || hits[0].Sources[0].Call != "k-1" {
			t.Errorf("%s: found %+v", lang.asks, hits)
		}
	}
}

// The parameters and the result of a failed call say nothing.
func TestFailedCall(t *testing.T) { // R77
	t.Parallel()
	d := newDesk(t)
	d.says("1005 这单帮我退款", message.Call{ID: "k-1", Name: "refund_order"}.Ended(message.StatusError, `{"refund":"R-7","order":"1005","amount":"35.50","status":"requested"}`))
	if got := d.list(); len(got) != 0 {
		t.Errorf("stored %+v", got)
	}
}

func TestWithdrawals(t *testing.T) { // R83
	t.Parallel()
	tests := [][2]string{
		{"我叫李明", "忘掉我的名字"}, {"my name is Bob", "Please forget my name"}, {"默认生产", "不再默认生产了"}, {"default to production", "No longer default to production"},
		{"我喜欢用表格", "我不再喜欢表格了"}, {"I like tables", "I no longer like tables"}, {"我在腾讯工作", "我离职了"}, {"I work at Acme", "I no longer work at Acme"},
	}
	for _, tt := range tests {
		d := newDesk(t)
		d.says(tt[0])
		if got := d.list(); len(got) != 1 {
			t.Errorf("%s: stored %+v", tt[0], got)
		}
		d.says(tt[1])
		if got := d.list(); len(got) != 0 {
			t.Errorf("%s: still there is %+v", tt[1], got)
		}
	}
}

// What may be is not kept, and the job says why.
func TestUnsure(t *testing.T) { // R74
	t.Parallel()
	d := newDesk(t)
	d.says("我喜欢表格，不确定")
	d.says("I think so, maybe, but I like tables")
	if got := d.list(); len(got) != 1 {
		t.Errorf("stored %+v", got)
	}
	jobs, err := d.store.Jobs(d.Context(), d.scope, d.agent, "", 0)
	if err != nil {
		t.Fatal(err)
	}
	var reasons []longterm.Reason
	for _, j := range jobs {
		for _, o := range j.Outcomes {
			reasons = append(reasons, o.Reason)
		}
	}
	if len(reasons) != 2 || reasons[0] != longterm.Unsure && reasons[1] != longterm.Unsure {
		t.Errorf("reasons %q", reasons)
	}
}
