package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/examples/aftersales/shop"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/textwidth"
)

// A session talks with one person at a terminal, or with a pipe.
type session struct {
	*office
	in   *reader
	asks bool // a prompt is shown before each input
}

// errLeave says that the person wants to leave.
var errLeave = errors.New("leave")

// talk continues what is unfinished, then takes wishes until the input ends. It returns errLeave if the person left while a
// question was open.
func (s *session) talk(ctx context.Context) error {
	s.p.sayf("Holdfast aftersales: refunds that survive crashes.", "Holdfast 售后：崩溃也不会丢的退款。")
	if err := s.welcome(ctx); err != nil {
		return err
	}
	todo, err := s.unfinished(ctx)
	if err != nil {
		return err
	}
	for _, th := range todo {
		if err := s.takeUp(ctx, th); err != nil {
			return err
		}
	}
	s.p.sayf("", "")
	s.p.sayf(`What shall be refunded? An order number or "latest", then an amount and a reason if you like ("help", "quit").`,
		"要退什么？请写订单号或“最近一单”，后面可以写金额和原因（“帮助”、“退出”）。")
	for ; ; s.p.sayf(`What else?`, "还要退什么？") {
		line, err := s.read(ctx)
		switch {
		case errors.Is(err, io.EOF) || err == nil && isWord(line, "quit", "exit", "q", "退出", "离开"):
			s.p.sayf("Goodbye.", "再见。")
			return nil
		case err != nil:
			return err
		}
		if err := s.take(ctx, line); err != nil {
			return err
		}
	}
}

// takeUp continues a refund that somebody has left unfinished.
func (s *session) takeUp(ctx context.Context, th graph.Thread) error {
	s.p.sayf("", "")
	s.p.sayf("Refund %s is unfinished. It goes on where it stopped.", "退款 %s 还没有完成，从停下的地方继续。", th.ID)
	now, err := s.app.State(ctx, th)
	if err != nil {
		return s.explain(th, err)
	}
	if trail := now.State.Trail.Slice(); len(trail) > 0 {
		s.p.sayf("Done so far: %s.", "已完成：%s。", strings.Join(trail, s.p.pick(", ", "、")))
	}
	return s.see(ctx, th, func() (*Refund, error) { return s.goOn(ctx, th) })
}

// read returns the next line that can be read. It complains about the others.
func (s *session) read(ctx context.Context) (string, error) {
	for {
		if s.asks {
			s.p.prompt()
		}
		line, err := s.in.next(ctx)
		if m, ok := errors.AsType[*mistake](err); ok {
			s.p.sayf("%s", "%s", s.p.pick(m.en, m.zh))
			continue
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

// take does what one line says.
func (s *session) take(ctx context.Context, line string) error {
	switch {
	case line == "":
		s.p.sayf(`Nothing was typed. Try: latest`, "没有输入内容。可以写：最近一单")
	case isWord(line, "help", "?", "h", "帮助", "？"):
		s.help()
	case isWord(line, "orders", "订单"):
		return s.welcome(ctx)
	case isWord(line, "ledger", "账本"):
		return s.ledger(ctx, "")
	case isWord(line, "buy", "下单"):
		o, err := s.shop.Buy(ctx, customer)
		if err == nil {
			s.p.sayf("Order %s: %v, delivered yesterday.", "订单 %s：%v，昨天送达。", o.ID, o.Paid)
		}
		return err
	case isWord(line, "trouble", "捣乱"):
		return s.trouble(ctx)
	default:
		w, err := parseWish(customer, line)
		if m, ok := errors.AsType[*mistake](err); ok {
			s.p.sayf("%s", "%s", s.p.pick(m.en, m.zh))
			return nil
		}
		w.Chinese = s.p.zh
		return s.refund(ctx, w)
	}
	return nil
}

func (s *session) help() {
	for _, l := range [][2]string{
		{`latest                      the whole latest order`, `最近一单                  退最近的整个订单`},
		{`1005 35 one bulb flickers   ¥35 of order 1005, and why`, `1005 35 灯泡坏了          从订单 1005 退 35 元，并写原因`},
		{`orders, ledger              what was bought, what was paid back`, `订单、账本                买了什么，退了多少`},
		{`buy                         places a new order to play with`, `下单                      再买一单，用来试`},
		{`trouble                     the next requests fail in several ways`, `捣乱                      让接下来的请求以各种方式出错`},
		{`quit                        leaves; what is unfinished goes on next time`, `退出                      离开；没完成的退款下次继续`},
	} {
		s.p.line("  ", s.p.pick(l[0], l[1]))
	}
}

// welcome lists the customer's orders and the rules.
func (s *session) welcome(ctx context.Context) error {
	orders, err := s.shop.Orders(ctx, customer)
	if err != nil {
		return err
	}
	s.p.sayf("You are %s, a customer. Your orders:", "您是顾客%s。您的订单：", nameOf(s.p.zh, customer))
	for i, o := range orders {
		age := int(time.Since(o.Delivered) / (24 * time.Hour))
		text := s.p.textf("%d days ago  %v  %s", "%d 天前送达  %v  %s", age, o.Paid, itemsText(s.p.zh, o.Items))
		if o.Refunded > 0 {
			text += s.p.textf(" (refunded: %v)", "（已退 %v）", o.Refunded)
		}
		if i == 0 {
			text += s.p.pick(" (latest)", "（最近一单）")
		}
		s.p.line("  "+textwidth.Pad(o.ID, 6), text)
	}
	return nil
}

// trouble makes the next requests fail, each in another way.
func (s *session) trouble(ctx context.Context) error {
	err := s.shop.Break(ctx,
		shop.Fault{Endpoint: "latest", Kind: shop.Broken, Times: 2},
		shop.Fault{Endpoint: "order", Kind: shop.Broken, Times: 2},
		shop.Fault{Endpoint: "check", Kind: shop.CutBefore},
		shop.Fault{Endpoint: "product", Kind: shop.Slow, Wait: 3 * time.Second},
		shop.Fault{Endpoint: "refund", Kind: shop.CutAfter, Times: 2})
	if err == nil {
		s.p.sayf("The next refund meets a shop that answers 500 twice, hangs, and cuts connections before and after paying.",
			"下一笔退款会遇到：店铺两次返回 500、卡住不回、在打款之前和之后断开连接。")
	}
	return err
}

// refund starts a wish and sees it through.
func (s *session) refund(ctx context.Context, w Request) error {
	th := newThread()
	what := s.p.pick("the latest order", "最近一单")
	if w.Order != "" {
		what = s.p.textf("order %s", "订单 %s", w.Order)
	}
	amount := s.p.pick("all that is left", "全部余额")
	if w.Amount > 0 {
		amount = w.Amount.String()
	}
	s.p.sayf("Refund %s: %s, %s.", "退款 %s：%s，%s。", th.ID, what, amount)
	return s.see(ctx, th, func() (*Refund, error) { return s.start(ctx, th, w) })
}

// see follows a refund to its end, asking for answers on the way.
func (s *session) see(ctx context.Context, th graph.Thread, run func() (*Refund, error)) error {
	out, err := run()
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if open, ok := errors.AsType[*graph.Interrupted](err); ok && len(open.Questions) > 0 {
			answer, aerr := s.answer(ctx, open.Questions[0])
			if aerr != nil {
				return aerr
			}
			out, err = s.goOn(ctx, th, answer)
			continue
		}
		if err != nil {
			return s.explain(th, err)
		}
		return s.result(ctx, out)
	}
}

// answer asks the person for the answer to a question. At the end of the input the question stays open.
func (s *session) answer(ctx context.Context, q graph.Question) (graph.Command, error) {
	bill, err := graph.PromptOf[Bill](q)
	if err != nil {
		return graph.Command{}, err
	}
	s.p.sayf("Approval: %v for order %s. Up to %v no approval is needed; the risk is %d points, the limit %d.",
		"审批：退款 %v，订单 %s。%v 以内不需要审批；风险 %d 分，上限 %d 分。", bill.Amount, bill.Order, bill.Limit, bill.Risk, riskLimit)
	if bill.Reason != "" {
		s.p.sayf("Reason: %s", "原因：%s", bill.Reason)
	}
	for {
		s.p.sayf("You are now %s, a colleague. Approve? (y/n)", "您现在是同事%s。批准吗？（是/否）", nameOf(s.p.zh, colleague))
		line, err := s.read(ctx)
		if errors.Is(err, io.EOF) || err == nil && isWord(line, "quit", "exit", "q", "退出", "离开") {
			s.p.sayf("The question stays open. Start the program again to answer it.", "问题保留着，重新启动程序就可以回答。")
			return graph.Command{}, errLeave
		}
		if err != nil {
			return graph.Command{}, err
		}
		if ok, clear := yes(line); clear {
			return graph.Answer(q, Approval{Approved: ok}).By(colleague), nil
		}
		s.p.sayf(`"%s" is neither yes nor no. Please type y or n.`, "“%s”不是“是”也不是“否”，请输入 是 或 否。", textwidth.Clip(line, 40))
	}
}

// explain tells of a refund that did not end. One refund that cannot go on must not keep people from the others, so it
// returns only the errors of the store.
func (s *session) explain(th graph.Thread, err error) error {
	switch busy, ok := errors.AsType[*graph.BusyError](err); {
	case ok:
		s.p.sayf("Process %d works on refund %s now.", "进程 %d 正在处理退款 %s。", busy.Holder.PID, th.ID)
	case errors.Is(err, graph.ErrNothingToDo), errors.Is(err, graph.ErrNotPending): // another process was faster
		s.p.sayf("Refund %s was continued by somebody else meanwhile.", "退款 %s 已经由别人继续处理了。", th.ID)
	case errors.Is(err, checkpoint.ErrUnavailable), errors.Is(err, checkpoint.ErrClosed):
		return fmt.Errorf("refund %s: %w", th.ID, err)
	default:
		s.p.sayf("Refund %s stopped: %s. It is saved and goes on when the program starts again.",
			"退款 %s 停下了：%s。进度已保存，重新启动程序会继续。", th.ID, troubleText(s.p.zh, err.Error()))
	}
	return nil
}
