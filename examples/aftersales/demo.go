package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/holdfast-go/holdfast/examples/aftersales/shop"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/textwidth"
)

// demoAmount is above the limit, and less than half of what was paid for the order: if the program paid twice, the shop would not
// stop it.
const demoAmount shop.Money = 210_00

// A demo plays the story: it starts processes, makes trouble, kills one, lets days pass, and checks the ledger at the end.
type demo struct {
	p      *printer
	dir    string
	db     string
	thread graph.Thread
	url    string
	shop   *shop.Client
	act    int
}

// playDemo plays the whole story. An error means that the money did not move exactly once, or that the story could not be
// played. The threads are kept in db, or in a file of its own if that is empty.
func playDemo(ctx context.Context, p *printer, db string) (err error) {
	ctx, cancel := context.WithTimeout(ctx, 90*time.Second)
	defer cancel()
	dir, err := os.MkdirTemp("", "aftersales-demo-")
	if err != nil {
		return err
	}
	d := &demo{p: p, dir: dir, db: cmp.Or(db, filepath.Join(dir, "threads.db")), thread: newConversation()}
	service, err := d.startShop(ctx)
	if err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	defer func() {
		err = errors.Join(err, service.quit(), os.RemoveAll(dir))
	}()
	for _, act := range []func(context.Context) error{d.asks, d.wants, d.fourEyes, d.dies, d.recovers, d.comesBack} {
		if err := act(ctx); err != nil {
			return err
		}
	}
	return d.verdict(ctx)
}

// scene begins an act with what happens and why.
func (d *demo) scene(en, zh string, args ...any) {
	if d.act++; d.act > 1 {
		d.p.sayf("", "")
	}
	d.p.line(fmt.Sprintf("%d. ", d.act), d.p.textf(en, zh, args...))
}

// says has the customer say something.
func (d *demo) says(text string) string {
	d.p.line("   "+nameOf(d.p.zh, customer)+d.p.pick(": ", "："), text)
	return text
}

// name is how a worker process is called.
func (d *demo) name(n int) string { return d.p.textf("worker %d", "工人 %d", n) }

func (d *demo) startShop(ctx context.Context) (*child, error) {
	d.scene("The order service starts: its own process, its own file, real HTTP.", "启动订单服务：独立进程，独立文件，真实的 HTTP。")
	c, err := spawn(ctx, "-serve-shop", filepath.Join(d.dir, "shop.db"))
	if err != nil {
		return nil, err
	}
	url, ok := <-c.lines
	if !ok || len(url) < 7 || url[:7] != "http://" {
		return nil, errors.Join(fmt.Errorf("the order service did not start: %s", url), c.quit())
	}
	d.url, d.shop = url, shop.NewClient(url, 10*time.Second)
	d.p.sayf("   It listens on %s, process %d.", "   它监听 %s，进程 %d。", url, c.cmd.Process.Pid)
	return c, nil
}

// worker starts a worker process on the conversation. Its patience with the shop is long, so that the held answer finds it
// waiting when it is killed, on the slowest machine.
func (d *demo) worker(ctx context.Context, args ...string) (*child, error) {
	lang := d.p.pick("en", "zh")
	width := strconv.Itoa(d.p.width - textwidth.Of(d.name(1)) - 3) // what is left beside its name
	return spawn(ctx, append([]string{"-lang", lang, "-width", width, "-work", d.thread.ID, "-db", d.db,
		"-sessions", filepath.Join(d.dir, "sessions.db"), "-memory", filepath.Join(d.dir, "memory.db"), "-shop", d.url, "-timeout", "60s"}, args...)...)
}

// runs lets a worker do its work and checks how it ended.
func (d *demo) runs(ctx context.Context, n, want int, args ...string) (pid int, err error) {
	c, err := d.worker(ctx, args...)
	if err != nil {
		return 0, err
	}
	code, err := c.relay(d.p, d.name(n))
	if err != nil || code != want {
		return 0, errors.Join(fmt.Errorf("worker %d ended with code %d", n, code), err)
	}
	return c.cmd.Process.Pid, nil
}

// asks begins the conversation, on a shop that is in a bad way.
func (d *demo) asks(ctx context.Context) error {
	d.scene("%s asks. The shop is made to answer 500 twice.", "%s来询问。让店铺先返回两次 500。", nameOf(d.p.zh, customer))
	if err := d.shop.Break(ctx, shop.Fault{Endpoint: "latest", Kind: shop.Broken, Times: 2}); err != nil {
		return err
	}
	_, err := d.runs(ctx, 1, exitOK, "-say", d.says(d.p.pick("Where is my latest order?", "我最近的订单到哪了？")))
	return err
}

// wants asks for a refund without the number of the order, in another process. It runs until a person is needed.
func (d *demo) wants(ctx context.Context) error {
	d.scene("The order is not named again: another process knows it from the session state. The shop cuts a connection.",
		"订单号没有再说一遍：另一个进程从会话状态里知道。让店铺断开一次连接。")
	if err := d.shop.Break(ctx, shop.Fault{Endpoint: "check", Kind: shop.CutBefore}); err != nil {
		return err
	}
	said := d.says(d.p.pick("Then refund ¥210 of it, because it is too bright.", "那就退 210 元吧，因为太亮了。"))
	pid, err := d.runs(ctx, 2, exitWaiting, "-say", said)
	if err != nil {
		return err
	}
	d.p.sayf("   Process %d has ended by itself: a call that waits needs no process. The question is stored.",
		"   进程 %d 已自行结束：等待中的调用不需要任何进程，问题已经存好。", pid)
	return nil
}

// fourEyes lets the customer try to approve her own refund.
func (d *demo) fourEyes(ctx context.Context) error {
	d.scene("%s tries to approve her own refund.", "%s想自己批准自己的退款。", nameOf(d.p.zh, customer))
	if _, err := d.runs(ctx, 3, exitFailed, "-approve", customer); err != nil {
		return err
	}
	d.p.sayf("   The refusal is the store's, not the program's. The question is still open.", "   拒绝来自存储层，不是这个程序。问题仍然开着。")
	return nil
}

// dies lets a second person approve, and kills the worker between the payment and its record.
func (d *demo) dies(ctx context.Context) error {
	d.scene("%s, a second person, approves. The shop is told to pay and then to keep its answer back.",
		"%s作为第二个人批准。让店铺打款之后扣住回复不发。", nameOf(d.p.zh, colleague))
	if err := d.shop.Break(ctx, shop.Fault{Endpoint: "refund", Kind: shop.Hold}); err != nil {
		return err
	}
	c, err := d.worker(ctx, "-approve", colleague)
	if err != nil {
		return err
	}
	type end struct {
		code int
		err  error
	}
	ended := make(chan end, 1)
	go func() {
		code, err := c.relay(d.p, d.name(4))
		ended <- end{code, err}
	}()
	held := d.shop.AwaitHeld(ctx, "refund")
	if held == nil {
		d.p.sayf("   The money has moved, and worker 4 does not know it yet. Now it is killed: kill -9 %d.",
			"   钱已经退了，但工人 4 还不知道。现在杀掉它：kill -9 %d。", c.cmd.Process.Pid)
	}
	err = errors.Join(held, c.kill())
	e := <-ended
	if err = errors.Join(err, e.err, d.shop.Mend(ctx)); err != nil {
		return err
	}
	if e.code != -1 && e.code != 1 { // 1: how Windows reports it
		return fmt.Errorf("worker 4 ended with code %d before it was killed", e.code)
	}
	lines, err := d.shop.Ledger(ctx, "1005")
	if err == nil && len(lines) != 1 {
		err = fmt.Errorf("the ledger has %d payments at the moment of the crash, want 1", len(lines))
	}
	return err
}

// recovers starts a new worker, which finds the conversation by itself.
func (d *demo) recovers(ctx context.Context) error {
	d.scene("A new worker starts. It is told nothing: it finds the conversation, asks the shop again under the same key, answers.",
		"启动一个新的工人。没有人告诉它任何事：它自己找到这段对话，用同一个幂等键再问一次店铺，然后回答顾客。")
	_, err := d.runs(ctx, 5, exitOK)
	return err
}

// comesBack is three days later, in a new conversation: which refund is meant comes from long-term memory, what became of it from the
// order service.
func (d *demo) comesBack(ctx context.Context) error {
	now, err := d.shop.Ahead(ctx, 3)
	if err != nil {
		return err
	}
	d.scene("Three days later, %s. A new conversation: which refund is meant is known from long-term memory, its state from the shop.",
		"三天之后，%s。一段新的对话：指的是哪笔退款来自长期记忆，它的状态来自店铺。", now.Now.Format(time.DateOnly))
	d.thread = newConversation()
	_, err = d.runs(ctx, 6, exitOK, "-say", d.says(d.p.pick("Did that refund arrive?", "那笔退款到账了吗？")))
	return err
}

// verdict asks the order service, which knows nothing of graphs, how often the money moved.
func (d *demo) verdict(ctx context.Context) error {
	d.scene("The verdict comes from the order service, which knows nothing of the graph.", "由完全不知道图的订单服务来裁决。")
	lines, err := d.shop.Ledger(ctx, "1005")
	if err != nil {
		return err
	}
	for _, l := range lines {
		d.p.line("   ", d.p.textf("ledger: %s  order %s  %v  key %s", "账本：%s  订单 %s  %v  幂等键 %s", l.Refund, l.Order, l.Amount, l.Key))
	}
	if len(lines) != 1 || lines[0].Amount != demoAmount {
		d.p.sayf("   FAILED: %d payments, want one of %v.", "   失败：%d 笔付款，应有一笔，金额 %v。", len(lines), demoAmount)
		return errToldAlready
	}
	d.p.sayf("   The money moved exactly once.", "   钱只退了一次。")
	return nil
}
