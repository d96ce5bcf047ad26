package memory_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/compact"
	"github.com/holdfast-go/holdfast/memory/pin"
	"github.com/holdfast-go/holdfast/memory/session"
	"github.com/holdfast-go/holdfast/memory/working"
	"github.com/holdfast-go/holdfast/message"
)

// logLines are what a tool returns of a service that began to fail.
func logLines(n int) string {
	var b strings.Builder
	for i := range n {
		at := fmt.Sprintf("2026-03-09T17:%02d:%02dZ", i/60%60, i%60)
		switch {
		case i > 1_200 && i%7 == 0:
			fmt.Fprintf(&b, "%s ERROR E504 upstream risk-engine timeout after 3000ms request=%08x\n", at, i*2654435761%(1<<32))
		case i%50 == 0:
			fmt.Fprintf(&b, "%s WARN pool connections=%d/64\n", at, 20+i%40)
		default:
			fmt.Fprintf(&b, "%s INFO POST /pay 200 %dms\n", at, 12+i%30)
		}
	}
	return b.String()
}

var (
	searching  = pin.Tool{Name: "search_resource", ReadOnly: true}
	querying   = pin.Tool{Name: "query_logs", ReadOnly: true}
	restarting = pin.Tool{Name: "restart_instance", Actions: []string{"restart"}}
)

// The conversation of an operations assistant: a service that is looked up, "its" log, a guess, a failed query, a denial that outlives
// compaction, a correction. Each prompt is one that a person can read. // R13-R22, R31, R41, R49, R50, R57, R58
func TestConversationOfOperations(t *testing.T) {
	t.Parallel()
	p := working.Operations()
	p.Language = working.Chinese
	store, user := newStore(t), scope(t, "acme", "li.lei")
	c := newChat(t, store, user, "ops-1", p, compact.Options{Budget: 2_500, Rounds: 2, SummaryCap: 300})
	c.system = []string{"你是 OpsPilot，企业运维助手。先给结论，再给证据。", "没有用户确认，不执行任何会改变系统的操作。"}
	c.tools = []working.Tool{
		{Name: "query_logs", Description: "查询日志", Schema: `{"type":"object","properties":{"service":{"type":"string"},"env":{"type":"string"}}}`},
		{Name: "restart_instance", Description: "重启实例", Schema: `{"type":"object","properties":{"service":{"type":"string"},"env":{"type":"string"}}}`},
		{Name: "search_resource", Description: "查找服务", Schema: `{"type":"object","properties":{"name":{"type":"string"},"env":{"type":"string"}}}`},
	}
	var s story

	c.hears("帮我看看生产环境的 payment-api", session.Write{})
	c.runs(searching, `{"name":"payment-api","env":"production"}`, `{"id":"svc-17","name":"payment-api","env":"production","status":"running"}`,
		func(call string) []session.Change {
			return []session.Change{
				session.Set(session.CurrentService, session.Service{ID: "svc-17", Name: "payment-api"}, session.FromTool(call)),
				session.Set(session.Env, "production", session.FromTool(call)),
			}
		})
	c.says("payment-api（svc-17）在生产环境运行中。")

	c.hears("查它的日志", session.Write{})
	prefix := c.prompt().Manifest.Prefix
	s.tell("查它的日志", c.prompt())
	full := logLines(2_000)
	c.runs(querying, `{"service":"svc-17","env":"production"}`, full, nil)
	s.tell("日志查到之后", c.prompt())
	id := memory.ResultID(user, "ops-1", "c2", []byte(full))
	if got, err := store.Result(t.Context(), user, id); err != nil || string(got.Body) != full {
		t.Errorf("the log is kept as %d bytes, %v", len(got.Body), err)
	}
	if _, err := store.Result(t.Context(), scope(t, "acme", "han.meimei"), id); !errors.Is(err, memory.ErrNoResult) {
		t.Errorf("somebody else gets %v", err)
	}

	guess := c.says("17:20 之后出现 E504，可能是 risk-engine 的问题。")
	_, err := store.Write(t.Context(), user, "ops-1", session.Write{
		Propose: []session.Proposal{session.Propose(session.CurrentService, session.Service{ID: "svc-9", Name: "risk-engine"}, guess.ID, 0)},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = store.Write(t.Context(), user, "ops-1", session.Write{
		Set: []session.Change{session.Set(session.CurrentService, session.Service{ID: "svc-9"}, session.FromUser(guess.ID))},
	})
	if !errors.Is(err, session.ErrUnconfirmed) {
		t.Errorf("a guess confirms: %v", err)
	}
	failed := message.Call{ID: "c-failed", Name: "query_logs", Args: `{"service":"svc-9","env":"testing"}`}
	c.add(message.Assistant("", failed), session.Write{})
	c.add(message.Tool(failed.Ended(message.StatusError, "no such service in testing")), session.Write{})
	_, err = store.Write(t.Context(), user, "ops-1", session.Write{Set: []session.Change{session.Set(session.Env, "testing", session.FromTool(failed.ID))}})
	if !errors.Is(err, session.ErrUnconfirmed) {
		t.Errorf("a failed call confirms: %v", err)
	}
	c.says("测试环境没有 svc-9。")

	c.hears("不要重启生产实例", session.Write{})
	s.tell("不要重启生产实例", c.prompt())
	c.says("好的，不会重启生产实例。")
	for i := range 20 {
		c.hears(fmt.Sprintf("第 %d 次检查：请再看一下最近的错误数量和连接池占用情况，和上一次比较之后告诉我变化。", i+1), session.Write{})
		c.runs(querying, `{"service":"svc-17","env":"production"}`, logLines(300+i), nil)
		c.says(fmt.Sprintf("第 %d 次检查完成：没有新的错误码，连接池占用 %d/64。", i+1, 20+i))
		c.compacts()
	}
	c.hears("要不先试一下重启？", session.Write{})
	s.tell("二十次压缩之后", c.prompt())
	if v := c.runs(restarting, `{"service":"svc-17","env":"production"}`, "restarted", nil); v.Decision == pin.Allow {
		t.Errorf("the gate lets a restart in production pass: %+v", v)
	}
	c.says("您说过不要重启生产实例，所以没有执行。")

	correct := c.hears("环境说错了，我要看的是测试环境", session.Write{
		Set: []session.Change{session.Set(session.Env, "testing", session.FromUser(fmt.Sprint("m", c.said+1)))},
	})
	s.tell("用户更正环境", c.prompt())
	if env, ok := session.Get(c.state(), session.Env); !ok || env != "testing" {
		t.Errorf("after %s the environment is %q", correct.ID, env)
	}
	if v := c.runs(restarting, `{"service":"svc-17","env":"testing"}`, "restarted", nil); v.Decision != pin.Allow {
		t.Errorf("the gate stops a restart in testing: %+v", v)
	}
	if got := c.prompt().Manifest.Prefix; got != prefix {
		t.Errorf("the prefix was %s and is %s", prefix, got)
	}
	s.compare(t, "testdata/operations.golden")
}

// Order is the order that a conversation about it is about.
var order = session.NewField[string]("order")

// The conversation of an after-sales agent: the second request needs what the first has found, and three days later, in another
// conversation, only what is long-term is left. Another user's conversation of the same name is another. // R28, R31, R41, R62, T18
func TestConversationOfAfterSales(t *testing.T) {
	t.Parallel()
	store, ann := newStore(t, order), scope(t, "shop", "ann")
	c := newChat(t, store, ann, "chat", working.Assistant(), compact.Options{Budget: 3_000})
	c.system = []string{"You help customers of the shop with orders, returns and refunds. Money moves only after the customer has agreed."}
	c.tools = []working.Tool{{Name: "find_orders", Description: "orders of the customer"}, {Name: "request_refund", Description: "asks for a refund of an order"}}
	var s story

	c.hears("Where is my last order? Please never call me, write an email instead.", session.Write{})
	c.runs(pin.Tool{Name: "find_orders", ReadOnly: true}, `{"latest":true}`, `{"order":"A-1001","item":"kettle","status":"delivered","paid":"480.00"}`,
		func(call string) []session.Change {
			return []session.Change{session.Set(order, "A-1001", session.FromTool(call))}
		})
	c.says("Your kettle, order A-1001, was delivered on Monday.")
	c.hears("Then request the refund for me, please.", session.Write{})
	p := c.prompt(
		working.Item{Source: working.LongTerm, ID: "mem-1", Kind: "preference", Subject: "refund", Text: "Wants refunds as store credit."},
		working.Item{Source: working.Knowledge, ID: "policy-3", Subject: "refund", Text: "Refunds go back the way they were paid."},
	)
	s.tell("Then request the refund for me, please.", p)
	for _, want := range []string{"A-1001", "never call me", "Refunds go back the way they were paid."} {
		if !strings.Contains(text(p), want) {
			t.Errorf("the prompt does not say %q", want)
		}
	}
	if v := c.runs(pin.Tool{Name: "call_customer", Actions: []string{"call"}}, `{"number":"+49 30 1234"}`, "", nil); v.Decision == pin.Allow {
		t.Errorf("the gate lets a call pass: %+v", v)
	}
	if v := c.runs(pin.Tool{Name: "request_refund", Actions: []string{"refund"}}, `{"order":"A-1001"}`, `{"refund":"R-7"}`, nil); v.Decision != pin.Allow {
		t.Errorf("the gate stops the refund: %+v", v)
	}
	c.says("The refund R-7 is on its way.")
	s.tell("after the refund", c.prompt())

	bob := newChat(t, store, scope(t, "shop", "bob"), "chat", working.Assistant(), compact.Options{Budget: 3_000})
	bob.system, bob.tools = c.system, c.tools
	bob.hears("And my order?", session.Write{})
	if p := bob.prompt(); strings.Contains(text(p), "A-1001") || strings.Contains(text(p), "call me") {
		t.Errorf("bob sees ann's conversation:\n%s", text(p))
	}

	later := newChat(t, store, ann, "three days later", working.Assistant(), compact.Options{Budget: 3_000})
	later.system, later.tools = c.system, c.tools
	later.hears("Has the refund arrived?", session.Write{})
	s.tell("three days later", later.prompt(working.Item{Source: working.LongTerm, ID: "mem-9", Kind: "episode", Text: "Refund R-7 of order A-1001 was requested."}))
	s.compare(t, "testdata/aftersales.golden")
}
