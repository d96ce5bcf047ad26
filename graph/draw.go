package graph

import (
	"fmt"
	"strings"
)

// Mermaid draws the graph as a Mermaid flowchart. Edges that are always taken are solid, declared targets of routes and
// branches dotted, ways of error handlers labelled.
func (a *App[S]) Mermaid() string { return a.c.plan.mermaid() }

// DOT draws the graph for Graphviz.
func (a *App[S]) DOT() string { return a.c.plan.dot() }

// An arrow of the picture.
type arrow struct {
	from, to string
	label    string
	dotted   bool
}

// arrows lists every way through the graph, in an order that depends on the graph alone.
func (p *plan) arrows() (out []arrow) {
	for _, n := range append([]*node{p.start}, p.nodes...) {
		for _, t := range n.edges {
			out = append(out, arrow{n.name, t, "", false})
		}
		for _, t := range n.targets {
			out = append(out, arrow{n.name, t, p.each(t), true})
		}
		for _, r := range n.routes {
			for _, t := range r.targets {
				out = append(out, arrow{n.name, t, p.each(t), true})
			}
		}
		if n.handler != nil {
			for _, t := range n.handler.targets {
				out = append(out, arrow{n.name, t, "on error", true})
			}
		}
	}
	for _, j := range p.joins {
		for _, from := range j.from {
			out = append(out, arrow{from, j.to, "all", false})
		}
	}
	return out
}

// each labels the way to a node that runs once for each argument.
func (p *plan) each(name string) string {
	if n := p.index[name]; n != nil && n.arg != nil {
		return "each"
	}
	return ""
}

// ids gives every node an identifier that needs no quoting.
func (p *plan) ids() map[string]string {
	ids := map[string]string{Start: "start", End: "finish"}
	for i, n := range p.nodes {
		ids[n.name] = fmt.Sprintf("n%d", i)
	}
	return ids
}

func (p *plan) ends() bool {
	for _, a := range p.arrows() {
		if a.to == End {
			return true
		}
	}
	return false
}

func (p *plan) mermaid() string {
	ids := p.ids()
	var b strings.Builder
	b.WriteString("flowchart TD\n\tstart([start])\n")
	for _, n := range p.nodes {
		open, close := "[", "]"
		switch {
		case n.arg != nil:
			open, close = "[[", "]]"
		case n.branch || len(n.routes) > 0:
			open, close = "{{", "}}"
		}
		fmt.Fprintf(&b, "\t%s%s%q%s\n", ids[n.name], open, mermaidText(n.name), close)
	}
	if p.ends() {
		b.WriteString("\tfinish([end])\n")
	}
	for _, a := range p.arrows() {
		line := "-->"
		if a.dotted {
			line = "-.->"
		}
		if a.label != "" {
			line += "|" + a.label + "|"
		}
		fmt.Fprintf(&b, "\t%s %s %s\n", ids[a.from], line, ids[a.to])
	}
	return b.String()
}

func mermaidText(s string) string { return strings.ReplaceAll(s, `"`, "#quot;") }

func (p *plan) dot() string {
	ids := p.ids()
	var b strings.Builder
	fmt.Fprintf(&b, "digraph %q {\n\tstart [shape=oval, label=\"start\"];\n", p.id.Name)
	for _, n := range p.nodes {
		shape := "box"
		switch {
		case n.arg != nil:
			shape = "box3d"
		case n.branch || len(n.routes) > 0:
			shape = "hexagon"
		}
		fmt.Fprintf(&b, "\t%s [shape=%s, label=%q];\n", ids[n.name], shape, n.name)
	}
	if p.ends() {
		b.WriteString("\tfinish [shape=oval, label=\"end\"];\n")
	}
	for _, a := range p.arrows() {
		var attrs []string
		if a.label != "" {
			attrs = append(attrs, fmt.Sprintf("label=%q", a.label))
		}
		if a.dotted {
			attrs = append(attrs, "style=dashed")
		}
		fmt.Fprintf(&b, "\t%s -> %s", ids[a.from], ids[a.to])
		if len(attrs) > 0 {
			fmt.Fprintf(&b, " [%s]", strings.Join(attrs, ", "))
		}
		b.WriteString(";\n")
	}
	b.WriteString("}\n")
	return b.String()
}
