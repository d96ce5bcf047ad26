package graph

import (
	"fmt"
	"strings"
)

// Mermaid draws the graph as a Mermaid flowchart. Edges that are always taken are solid, declared targets of routes and
// branches dotted, ways of error handlers and of Escape labelled. Mounted graphs are nested.
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
			label := p.each(t)
			if n.mount != nil {
				label = "escape"
			}
			out = append(out, arrow{n.name, t, label, true})
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

// ids gives every node an identifier that needs no quoting. Those inside a mounted graph begin with its node's.
func (p *plan) ids(prefix string) map[string]string {
	ids := map[string]string{Start: prefix + "start", End: prefix + "finish"}
	for i, n := range p.nodes {
		ids[n.name] = fmt.Sprintf("%sn%d", prefix, i)
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
	var b strings.Builder
	b.WriteString("flowchart TD\n")
	p.mermaidIn(&b, "", "\t")
	return b.String()
}

// mermaidIn draws the graph, mounted ones nested in it.
func (p *plan) mermaidIn(b *strings.Builder, prefix, indent string) {
	ids := p.ids(prefix)
	fmt.Fprintf(b, "%s%s([start])\n", indent, ids[Start])
	for _, n := range p.nodes {
		open, close := "[", "]"
		switch {
		case n.mount != nil:
			fmt.Fprintf(b, "%ssubgraph %s[%q]\n", indent, ids[n.name], mermaidText(n.name))
			n.mount.plan.mermaidIn(b, ids[n.name]+"_", indent+"\t")
			fmt.Fprintf(b, "%send\n", indent)
			continue
		case n.arg != nil:
			open, close = "[[", "]]"
		case n.branch || len(n.routes) > 0:
			open, close = "{{", "}}"
		}
		fmt.Fprintf(b, "%s%s%s%q%s\n", indent, ids[n.name], open, mermaidText(n.name), close)
	}
	if p.ends() {
		fmt.Fprintf(b, "%s%s([end])\n", indent, ids[End])
	}
	for _, a := range p.arrows() {
		line := "-->"
		if a.dotted {
			line = "-.->"
		}
		if a.label != "" {
			line += "|" + a.label + "|"
		}
		fmt.Fprintf(b, "%s%s %s %s\n", indent, ids[a.from], line, ids[a.to])
	}
}

func mermaidText(s string) string { return strings.ReplaceAll(s, `"`, "#quot;") }

func (p *plan) dot() string {
	var b strings.Builder
	fmt.Fprintf(&b, "digraph %q {\n", p.id.Name)
	if p.nested() {
		b.WriteString("\tcompound=true;\n")
	}
	p.dotIn(&b, "", "\t")
	b.WriteString("}\n")
	return b.String()
}

func (p *plan) nested() bool {
	for _, n := range p.nodes {
		if n.mount != nil {
			return true
		}
	}
	return false
}

// dotIn draws the graph, mounted ones as clusters in it. Graphviz draws no line to a cluster: it goes to the start inside, and is cut at
// the border.
func (p *plan) dotIn(b *strings.Builder, prefix, indent string) {
	ids := p.ids(prefix)
	fmt.Fprintf(b, "%s%s [shape=oval, label=\"start\"];\n", indent, ids[Start])
	for _, n := range p.nodes {
		shape := "box"
		switch {
		case n.mount != nil:
			fmt.Fprintf(b, "%ssubgraph cluster_%s {\n%s\tlabel=%q;\n", indent, ids[n.name], indent, n.name)
			n.mount.plan.dotIn(b, ids[n.name]+"_", indent+"\t")
			fmt.Fprintf(b, "%s}\n", indent)
			continue
		case n.arg != nil:
			shape = "box3d"
		case n.branch || len(n.routes) > 0:
			shape = "hexagon"
		}
		fmt.Fprintf(b, "%s%s [shape=%s, label=%q];\n", indent, ids[n.name], shape, n.name)
	}
	if p.ends() {
		fmt.Fprintf(b, "%s%s [shape=oval, label=\"end\"];\n", indent, ids[End])
	}
	for _, a := range p.arrows() {
		p.dotArrow(b, indent, ids, a)
	}
}

func (p *plan) dotArrow(b *strings.Builder, indent string, ids map[string]string, a arrow) {
	var attrs []string
	if a.label != "" {
		attrs = append(attrs, fmt.Sprintf("label=%q", a.label))
	}
	if a.dotted {
		attrs = append(attrs, "style=dashed")
	}
	from, to := ids[a.from], ids[a.to]
	if n := p.index[a.from]; n != nil && n.mount != nil {
		attrs = append(attrs, "ltail=cluster_"+from)
		from += "_start"
	}
	if n := p.index[a.to]; n != nil && n.mount != nil {
		attrs = append(attrs, "lhead=cluster_"+to)
		to += "_start"
	}
	fmt.Fprintf(b, "%s%s -> %s", indent, from, to)
	if len(attrs) > 0 {
		fmt.Fprintf(b, " [%s]", strings.Join(attrs, ", "))
	}
	b.WriteString(";\n")
}
