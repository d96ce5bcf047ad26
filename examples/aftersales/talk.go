package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/examples/aftersales/shop"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/textwidth"
	"github.com/holdfast-go/holdfast/message"
	"github.com/holdfast-go/holdfast/nodes"
)

// A talk is with one person at a terminal, or with a pipe.
type talk struct {
	*desk
	in     *reader
	asks   bool         // a prompt is shown before each input
	echo   bool         // what is read is shown, where no terminal does
	thread graph.Thread // the conversation that is talked in
}

// errLeave says that the person wants to leave.
var errLeave = errors.New("leave")

// run continues what is unfinished, then takes messages until the input ends. It returns errLeave if the person left while a
// question was open.
func (t *talk) run(ctx context.Context) error {
	t.p.sayf("Holdfast aftersales: an agent whose refunds survive crashes.", "Holdfast 售后：崩溃也不会丢退款的客服。")
	todo, err := t.unfinished(ctx)
	if err != nil {
		return err
	}
	for _, th := range todo {
		if err := t.takeUp(ctx, th); err != nil {
			return err
		}
	}
	t.p.sayf(`You are %s, in conversation %s. Ask about your orders ("help", "new", "quit").`,
		"您是%s，对话 %s。可以询问您的订单（“帮助”、“新对话”、“退出”）。", nameOf(t.p.zh, t.user), t.thread.ID)
	for {
		line, err := t.read(ctx)
		switch {
		case errors.Is(err, io.EOF) || err == nil && isWord(line, "quit", "exit", "q", "退出", "离开"):
			t.p.sayf("Goodbye.", "再见。")
			return nil
		case err != nil:
			return err
		}
		if err := t.take(ctx, line); err != nil {
			return err
		}
	}
}

// takeUp continues a conversation that somebody has left unfinished.
func (t *talk) takeUp(ctx context.Context, th graph.Thread) error {
	t.thread = th
	t.p.sayf("Conversation %s is unfinished. It goes on where it stopped.", "对话 %s 还没有完成，从停下的地方继续。", th.ID)
	return t.see(ctx, func() (*Care, error) { return t.goOn(ctx, th) })
}

// read returns the next line that can be read. It complains about the others.
func (t *talk) read(ctx context.Context) (string, error) {
	for {
		if t.asks {
			t.p.prompt()
		}
		line, err := t.in.next(ctx)
		if m, ok := errors.AsType[*mistake](err); ok {
			t.p.sayf("%s", "%s", t.p.pick(m.en, m.zh))
			continue
		}
		if t.echo && err == nil {
			t.p.line("> ", line)
		}
		return line, err
	}
}

func isWord(line string, words ...string) bool {
	for _, w := range words {
		if strings.EqualFold(strings.Trim(line, `"“”. 。`), w) {
			return true
		}
	}
	return false
}

// take does what one line says: a command, or a message to the agent.
func (t *talk) take(ctx context.Context, line string) error {
	switch {
	case line == "":
		t.p.sayf("Nothing was typed. Try: Where is my latest order?", "没有输入内容。可以写：我最近的订单到哪了？")
	case isWord(line, "help", "?", "h", "帮助", "？"):
		t.help()
	case isWord(line, "new", "new conversation", "新对话"):
		t.thread = newConversation()
		t.p.sayf("A new conversation: %s.", "新对话：%s。", t.thread.ID)
	case isWord(line, "approve", "审批"):
		return t.pending(ctx)
	case isWord(line, "orders", "订单"):
		return t.orders(ctx)
	case isWord(line, "ledger", "账本"):
		return t.ledger(ctx, "")
	case isWord(line, "buy", "下单"):
		o, err := t.shop.Buy(ctx, t.user)
		if err == nil {
			t.p.sayf("Order %s: %v, delivered yesterday.", "订单 %s：%v，昨天送达。", o.ID, o.Paid)
		}
		return err
	case isWord(line, "trouble", "捣乱"):
		return t.trouble(ctx)
	case wonders(line) != "":
		return t.why(ctx, wonders(line))
	case passes(line) > 0:
		return t.pass(ctx, passes(line))
	default:
		m := message.User(line)
		return t.see(ctx, func() (*Care, error) { return t.say(ctx, t.thread, m) })
	}
	return nil
}

func (t *talk) help() {
	for _, l := range [][2]string{
		{`Where is my latest order?   and then: refund it`, `我最近的订单到哪了？      然后说：退了吧`},
		{`What do you know about me?  and: remember that ..., forget that ...`, `你记得我什么？            然后说：记住……、忘掉……`},
		{`How long can I return it?   answered from the shop's handbook`, `退货期限是多久？          按店铺的手册回答`},
		{`why: short answers          what became of something that you have said`, `为什么：简短的回答          说过的话后来怎样了`},
		{`new                         begins a new conversation`, `新对话                    开始一段新的对话`},
		{`days 3                      lets three days pass at the shop`, `过3天                     让店铺过去三天`},
		{`approve                     asks again what waits for a colleague`, `审批                      再次询问等待同事的事项`},
		{`orders, ledger              what was bought, what was paid back`, `订单、账本                买了什么，退了多少`},
		{`buy                         places a new order to play with`, `下单                      再买一单，用来试`},
		{`trouble                     the next requests fail in several ways`, `捣乱                      让接下来的请求以各种方式出错`},
		{`quit                        leaves; what is unfinished goes on next time`, `退出                      离开；没完成的下次继续`},
	} {
		t.p.line("  ", t.p.pick(l[0], l[1]))
	}
}

// pending asks again what waits for a decision.
func (t *talk) pending(ctx context.Context) error {
	now, err := steady(ctx, func() (*graph.Snapshot[Care], error) { return t.app.State(ctx, t.thread) })
	if errors.Is(err, graph.ErrNoThread) || err == nil && len(now.Questions) == 0 {
		t.p.sayf("Nothing waits in conversation %s.", "对话 %s 里没有等待的事项。", t.thread.ID)
		return nil
	}
	if err != nil {
		return err
	}
	return t.see(ctx, func() (*Care, error) { return t.goOn(ctx, t.thread) })
}

// passes is how many days a line lets pass, 0 if it is not about that.
func passes(line string) int {
	line = strings.ToLower(strings.TrimSpace(line))
	text, en := strings.CutPrefix(line, "days ")
	if !en {
		var zh bool
		if text, zh = strings.CutPrefix(line, "过"); !zh {
			return 0
		}
		text = strings.TrimSuffix(text, "天")
	}
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || n < 1 || n > 365 {
		return 0
	}
	return n
}

func (t *talk) pass(ctx context.Context, days int) error {
	now, err := t.shop.Time(ctx)
	if err == nil {
		now, err = t.shop.Ahead(ctx, now.Days+days)
	}
	if err == nil {
		t.p.sayf("At the shop it is %s now.", "店铺现在是 %s。", now.Now.Format(time.DateOnly))
	}
	return err
}

// orders lists what the customer has bought.
func (t *talk) orders(ctx context.Context) error {
	all, err := t.shop.Orders(ctx, t.user)
	if err != nil {
		return err
	}
	for _, o := range all {
		state := t.p.pick("delivered", "送达")
		if o.State == shop.OnTheWay {
			state = t.p.pick("expected ", "预计")
		}
		text := fmt.Sprintf("%s %s  %v  %s", state, o.Delivered.Format(time.DateOnly), o.Paid, itemsText(t.p.zh, o.Items))
		if o.Refunded > 0 {
			text += t.p.textf(" (refunded: %v)", "（已退 %v）", o.Refunded)
		}
		t.p.line("  "+textwidth.Pad(o.ID, 6), text)
	}
	return nil
}

// trouble makes the next requests fail, each in another way.
func (t *talk) trouble(ctx context.Context) error {
	err := t.shop.Break(ctx,
		shop.Fault{Endpoint: "latest", Kind: shop.Broken, Times: 2},
		shop.Fault{Endpoint: "order", Kind: shop.CutBefore, Times: 2},
		shop.Fault{Endpoint: "check", Kind: shop.Slow, Wait: 3 * time.Second},
		shop.Fault{Endpoint: "refund", Kind: shop.CutAfter, Times: 2},
		shop.Fault{Endpoint: "refunds", Kind: shop.Broken, Times: 2},
		shop.Fault{Endpoint: "status", Kind: shop.Broken, Times: 2})
	if err == nil {
		t.p.sayf("The next requests meet a shop that answers 500, hangs, and cuts connections before and after paying.",
			"接下来的请求会遇到：店铺返回 500、卡住不回、在打款之前和之后断开连接。")
	}
	return err
}

// see follows a run to its end, asking for decisions on the way.
func (t *talk) see(ctx context.Context, run func() (*Care, error)) error {
	out, err := run()
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		t.answered(out, err)
		open, waits := errors.AsType[*graph.Interrupted](err)
		if !waits || len(open.Questions) == 0 {
			return t.explain(err)
		}
		decision, later, derr := t.decide(ctx, open.Questions[0])
		if derr != nil || later {
			return derr
		}
		out, err = t.goOn(ctx, t.thread, decision)
	}
}

// decide asks for the decision about a call. Later leaves the question open; so does the end of the input.
func (t *talk) decide(ctx context.Context, q graph.Question) (c graph.Command, later bool, err error) {
	a, err := graph.PromptOf[nodes.Approval](q)
	if err != nil {
		return c, false, err
	}
	by := t.showQuestion(q, a)
	for {
		t.p.sayf(`You are now %s. Shall it run? (y, n and why, another amount, or "later")`,
			`您现在是%s。执行吗？（是、否加原因、另一个金额，或“稍后”）`, nameOf(t.p.zh, by))
		line, err := t.read(ctx)
		switch {
		case errors.Is(err, io.EOF) || err == nil && isWord(line, "quit", "exit", "q", "退出", "离开"):
			t.p.sayf("The question stays open. Start the program again to answer it.", "问题保留着，重新启动程序就可以回答。")
			return c, false, errLeave
		case err != nil:
			return c, false, err
		case isWord(line, "later", "稍后"):
			t.p.sayf(`It waits. "approve" asks again; what you say meanwhile is answered afterwards, and "never mind" calls it off.`,
				"它会等着。“审批”会再次询问；这期间您说的话会在之后回答，“算了”则取消。")
			return c, true, nil
		}
		if d, ok := readDecision(line, a); ok {
			return graph.Answer(q, d).By(by), false, nil
		}
		t.p.sayf(`"%s" cannot be read as a decision.`, "“%s”看不出是什么决定。", textwidth.Clip(line, 40))
	}
}

// explain tells of a run that did not end. One conversation that cannot go on must not keep people from the others, so it returns
// only the errors of the databases.
func (t *talk) explain(err error) error {
	switch busy, held := errors.AsType[*graph.BusyError](err); {
	case err == nil:
	case held:
		t.p.sayf("Process %d works on conversation %s now.", "进程 %d 正在处理对话 %s。", busy.Holder.PID, t.thread.ID)
	case errors.Is(err, graph.ErrQueued):
		t.p.sayf("That is answered when the open question is decided.", "等到悬而未决的问题有了决定，就会回答这句话。")
	case errors.Is(err, graph.ErrNothingToDo), errors.Is(err, graph.ErrNotPending): // another process was faster
		t.p.sayf("Conversation %s was continued by somebody else meanwhile.", "对话 %s 已经由别人继续处理了。", t.thread.ID)
	case errors.Is(err, graph.ErrBadAnswer):
		t.p.sayf("That decision was not taken: %s", "这个决定没有被接受：%s", err)
	case errors.Is(err, nodes.ErrForeign):
		return mistakef("conversation %s is not yours", "对话 %s 不是您的", t.thread.ID)
	case away(err), errors.Is(err, checkpoint.ErrClosed):
		return fmt.Errorf("conversation %s: %w", t.thread.ID, err)
	default:
		t.p.sayf("The conversation stopped: %s. It is saved and goes on when the program starts again.",
			"对话停下了：%s。进度已保存，重新启动程序会继续。", errorText(t.p.zh, err))
	}
	return nil
}
