package main

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/holdfast-go/holdfast/graph"
	"github.com/holdfast-go/holdfast/internal/textwidth"
)

// A finding is what the node assess tells while it runs.
type finding struct {
	EN     string `json:"en"` // name of the article
	ZH     string `json:"zh"`
	Points int    `json:"points"`
}

// A progress prints what a run does while it does it: one line for each event that a person cares about.
type progress struct {
	p *printer

	mu      sync.Mutex
	running []string // nodes, one for each task that runs
}

// event is the App's OnEvent: it is called in order and must be quick.
func (g *progress) event(e graph.Event) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.p
	switch e.Kind {
	case graph.RunStarted:
		g.running = nil
	case graph.TaskStarted:
		g.running = append(g.running, e.Node)
		g.node("->", e.Node, nodeText(p.zh, e.Node))
	case graph.TaskRetried:
		g.node("!!", e.Node, p.textf("attempt %d: %s; it is tried again", "第 %d 次尝试：%s；稍后重试", e.Attempt, troubleText(p.zh, e.Error)))
	case graph.TaskAsked:
		g.ends(e.Node)
		g.node("??", e.Node, p.pick("waits for a person; nothing is held meanwhile", "等待人工答复；等待期间不占用任何资源"))
	case graph.TaskFailed:
		g.ends(e.Node)
		g.node("xx", e.Node, p.textf("failed: %s", "失败：%s", troubleText(p.zh, e.Error)))
	case graph.TaskStopped:
		g.ends(e.Node)
		g.node("..", e.Node, p.pick("was stopped; it runs again when the refund goes on", "已停下；继续时会重新执行"))
	case graph.TaskCompleted:
		g.ends(e.Node)
		g.node("ok", e.Node, g.completed(e.Attempt))
	case graph.CustomEvent:
		if f, err := graph.Custom[finding](e); err == nil {
			g.node("  ", e.Node, p.textf("%s: %d risk points", "%s：风险 %d 分", p.pick(f.EN, f.ZH), f.Points))
		}
	}
}

// completed says how it went and what is still waited for.
func (g *progress) completed(attempt int) string {
	text := g.p.pick("done", "完成")
	if attempt > 1 {
		text = g.p.textf("done, at attempt %d", "第 %d 次尝试后完成", attempt)
	}
	if len(g.running) > 0 {
		text += g.p.textf("; %s still running", "；%s 仍在运行", g.others())
	}
	return text
}

// others lists the nodes that still run, each once, with how often.
func (g *progress) others() string {
	count := map[string]int{}
	var names []string
	for _, n := range g.running {
		if count[n]++; count[n] == 1 {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	for i, n := range names {
		if count[n] > 1 {
			names[i] = fmt.Sprintf("%s x%d", n, count[n])
		}
	}
	return strings.Join(names, g.p.pick(", ", "、"))
}

func (g *progress) ends(node string) {
	if i := slices.Index(g.running, node); i >= 0 {
		g.running = slices.Delete(g.running, i, i+1)
	}
}

func (g *progress) node(mark, node, text string) {
	g.p.line("  "+mark+" "+textwidth.Pad(node, 8)+" ", text)
}

// troubleText says in the printer's language what an error of the shop's client means. Others stay as they are.
func troubleText(zh bool, text string) string {
	switch {
	case strings.Contains(text, "no answer in time"):
		return choose(zh, "the shop did not answer in time", "店铺没有及时回应")
	case strings.Contains(text, "connection lost"):
		return choose(zh, "the connection to the shop was cut", "与店铺的连接中断")
	case strings.Contains(text, "shop: 5"):
		return choose(zh, "the shop answered with a server error", "店铺返回服务器错误")
	case strings.Contains(text, "shop: 4"):
		return choose(zh, "the shop said no", "店铺拒绝了请求") + " (" + text + ")"
	}
	return text
}
