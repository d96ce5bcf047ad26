// Command aftersales is an agent that looks after the orders of a shop's customers, and shows that a crash in the middle of a
// payment loses nothing and pays nothing twice.
//
// Without flags it talks with the person at the terminal, in English or Chinese. With -demo it plays a whole story by itself,
// including the killing of its own worker process. Its model is a script that needs no network; if OPENAI_BASE_URL,
// OPENAI_API_KEY and OPENAI_MODEL are set, it is that model.
package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/holdfast-go/holdfast/checkpoint"
	"github.com/holdfast-go/holdfast/examples/aftersales/shop"
	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/textwidth"
	"github.com/holdfast-go/holdfast/memory/session"
)

// Exit codes.
const (
	exitOK      = 0
	exitFailed  = 1   // something went wrong, or the input ended before a question was answered
	exitUsage   = 2   // the command line cannot be read
	exitWaiting = 3   // of a worker: a call waits for a person
	exitSignal  = 130 // Ctrl-C
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	os.Exit(run(ctx, os.Args[1:]))
}

// flags is the command line. The ones below "hidden" are for the processes that the demonstration starts.
type flags struct {
	lang, db, graph    string
	user, conversation string
	demo, help         bool
	echo               bool // hidden: what is read is printed, for transcripts

	serveShop, work, shop, sessions, memory, say, approve string // hidden
	timeout, pace                                         time.Duration
	width                                                 int
}

func parseFlags(args []string) (*flags, error) {
	f := &flags{}
	fs := flag.NewFlagSet("aftersales", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.StringVar(&f.lang, "lang", "", "")
	fs.StringVar(&f.db, "db", "", "")
	fs.StringVar(&f.graph, "graph", "", "")
	fs.BoolVar(&f.demo, "demo", false, "")
	fs.BoolVar(&f.help, "help", false, "")
	fs.BoolVar(&f.help, "h", false, "")
	fs.StringVar(&f.user, "user", customer, "")
	fs.StringVar(&f.conversation, "conversation", "", "")
	fs.BoolVar(&f.echo, "echo", false, "")
	fs.StringVar(&f.serveShop, "serve-shop", "", "")
	fs.StringVar(&f.work, "work", "", "")
	fs.StringVar(&f.shop, "shop", "", "")
	fs.StringVar(&f.sessions, "sessions", "", "")
	fs.StringVar(&f.memory, "memory", "", "")
	fs.StringVar(&f.say, "say", "", "")
	fs.StringVar(&f.approve, "approve", "", "")
	fs.DurationVar(&f.timeout, "timeout", 2*time.Second, "")
	fs.IntVar(&f.width, "width", 0, "")
	fs.DurationVar(&f.pace, "pace", -1, "")
	if err := fs.Parse(args); err != nil {
		return f, mistakef("the command line: %v", "命令行：%v", err)
	}
	switch {
	case fs.NArg() > 0:
		return f, mistakef("there is no argument %q", "没有 %q 这个参数", fs.Arg(0))
	case f.lang != "" && f.lang != "en" && f.lang != "zh":
		return f, mistakef("-lang takes en or zh, not %q", "-lang 只能是 en 或 zh，不能是 %q", f.lang)
	case strings.TrimSpace(f.user) == "":
		return f, mistakef("-user takes a name, such as lin", "-user 需要一个名字，例如 lin")
	case len(f.conversation) > session.MaxID || !utf8.ValidString(f.conversation) || strings.ContainsFunc(f.conversation, unicode.IsControl):
		return f, mistakef("-conversation takes at most %d bytes of text", "-conversation 最多 %d 字节的文字", session.MaxID)
	case f.graph != "" && f.graph != "mermaid" && f.graph != "dot":
		return f, mistakef("-graph takes mermaid or dot, not %q", "-graph 只能是 mermaid 或 dot，不能是 %q", f.graph)
	case isURL(f.db) && !knownStore(f.db):
		scheme, _, _ := strings.Cut(f.db, "://")
		return f, mistakef("-db takes a file, postgres:// or redis://, not %s://", "-db 可以是文件、postgres:// 或 redis://，不能是 %s://", scheme)
	case f.demo && f.db != "" && !isURL(f.db):
		return f, mistakef("-demo works on files of its own: leave -db out, or name a server", "-demo 使用自己的临时文件，不要带 -db，或者给出一个服务器")
	}
	return f, nil
}

// chinese reports whether the person reads Chinese: what -lang says, or else what the environment says.
func (f *flags) chinese(env func(string) string) bool {
	if f.lang != "" {
		return f.lang == "zh"
	}
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		if v := env(name); v != "" {
			return strings.HasPrefix(strings.ToLower(v), "zh")
		}
	}
	return false
}

func run(ctx context.Context, args []string) int {
	f, err := parseFlags(args)
	p := newPrinter(os.Stdout, f.chinese(os.Getenv))
	if err != nil {
		e := newPrinter(os.Stderr, p.zh)
		e.sayf("aftersales: %s; see aftersales -help", "aftersales：%s；请看 aftersales -help", errorText(p.zh, err))
		return exitUsage
	}
	if f.width > 0 {
		p.width = f.width
	}
	switch {
	case f.help:
		usage(p)
		return exitOK
	case f.graph != "":
		return f.end(p, f.draw(os.Stdout))
	case f.serveShop != "":
		return f.end(p, serveShop(ctx, f.serveShop))
	case f.work != "":
		return f.end(p, f.worker(ctx, p))
	case f.demo:
		return f.end(p, playDemo(ctx, p, f.db))
	}
	return f.end(p, f.talk(ctx, p))
}

// end turns the outcome of a mode into an exit code, and says what is not said yet.
func (f *flags) end(p *printer, err error) int {
	e := newPrinter(os.Stderr, p.zh)
	e.width = p.width
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errLeave), errors.Is(err, errToldAlready):
		return exitFailed
	case errors.Is(err, graph.ErrInterrupted):
		return exitWaiting
	case errors.Is(err, context.Canceled):
		e.sayf("Stopped. Everything is saved; start again to go on.", "已停止。进度都保存了，重新启动就会继续。")
		return exitSignal
	}
	if errors.Is(err, checkpoint.ErrNotAllowed) {
		e.sayf("Not allowed: whoever asks for a refund must not approve it.", "不允许：申请退款的人不能自己审批。")
		return exitFailed
	}
	e.sayf("aftersales: %s", "aftersales：%s", errorText(p.zh, err))
	return exitFailed
}

func (f *flags) draw(w io.Writer) (err error) {
	b, err := emptyBoxes()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	g, err := newCare(nil, b, scripted(0), inView)
	if err != nil {
		return err
	}
	app, err := g.Compile(graph.Options{})
	if err != nil {
		return err
	}
	picture := app.Mermaid()
	if f.graph == "dot" {
		picture = app.DOT()
	}
	_, err = io.WriteString(w, picture)
	return err
}

// data says where the threads are, what was confirmed in them, and what is remembered of customers.
func (f *flags) data() (d data, err error) {
	d = data{f.db, f.sessions, f.memory}
	if d.URL == "" {
		if d.URL, err = databaseFile(""); err != nil {
			return d, err
		}
	}
	if d.Sessions == "" {
		d.Sessions, err = beside(d.URL, "sessions")
	}
	if d.Memory == "" && err == nil {
		d.Memory, err = beside(d.URL, "memory")
	}
	return d, err
}

// talk runs the interactive program, with an order service of its own inside.
func (f *flags) talk(ctx context.Context, p *printer) (err error) {
	where, err := f.data()
	if err != nil {
		return err
	}
	file, err := beside(where.URL, "orders")
	if err != nil {
		return err
	}
	service, err := shop.Open(file, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, service.Close()) }()
	url, err := service.Start("127.0.0.1:0")
	if err != nil {
		return err
	}
	tty := term.IsTerminal(int(os.Stdout.Fd()))
	if f.pace < 0 && tty {
		f.pace = 20 * time.Millisecond // slow enough to watch
	}
	d, err := f.desk(ctx, p, where, url)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	t := &talk{desk: d, in: newReader(ctx, os.Stdin), echo: f.echo, thread: graph.ID(f.conversation)}
	t.asks = tty && term.IsTerminal(int(os.Stdin.Fd()))
	if f.conversation == "" {
		if t.thread, err = d.lastConversation(ctx); err != nil {
			return err
		}
	}
	return t.run(ctx)
}

// desk opens the desk over the shop at url.
func (f *flags) desk(ctx context.Context, p *printer, where data, url string) (*desk, error) {
	b, err := brainOf(f.pace)
	if err != nil {
		return nil, err
	}
	client := shop.NewClient(url, f.timeout)
	return openDesk(ctx, p, deskOptions{Data: where, User: f.user, Shop: client, Brain: b, Policy: patience, Around: inView})
}

func usage(p *printer) {
	p.sayf("aftersales is an agent for orders and refunds that survives crashes.", "aftersales 是一个不怕崩溃的售后客服，可以查订单、办退款。")
	for _, l := range [][3]string{
		{"(no flags)", "talk with it: \"Where is my latest order?\", then \"refund it\"", "与它对话：“我最近的订单到哪了？”，然后“退了吧”"},
		{"-demo", "play the whole story unattended, with a killed worker and three days", "自动演示全过程，中途会杀掉自己的工作进程，再过三天"},
		{"-user NAME", "who you are: lin (default) or chen", "您是谁：lin（默认）或 chen"},
		{"-conversation ID", "go on with this one (default: your last one)", "继续这段对话（默认是您最近的一段）"},
		{"-db FILE|URL", "where conversations are kept: a file (default: holdfast/aftersales.db in your state folder; three more are beside it), " +
			"postgres:// or redis://",
			"对话存放的地方：文件（默认在用户状态目录的 holdfast/aftersales.db，旁边还有三个文件）、postgres:// 或 redis://"},
		{"-lang en|zh", "the language of the program (default: from LC_ALL, LC_MESSAGES or LANG); the agent answers in yours",
			"程序的语言（默认取自 LC_ALL、LC_MESSAGES 或 LANG）；客服用您的语言回答"},
		{"-graph FORMAT", "print the graph as mermaid or dot", "打印图：mermaid 或 dot"},
		{"-help", "print this", "打印本说明"},
	} {
		p.line("  "+textwidth.Pad(l[0], 18), p.pick(l[1], l[2]))
	}
	p.sayf("With OPENAI_BASE_URL, OPENAI_API_KEY and OPENAI_MODEL it is that model; without them, a script.",
		"设置了 OPENAI_BASE_URL、OPENAI_API_KEY 和 OPENAI_MODEL 就使用那个模型，否则用内置的脚本。")
}
