package knowledge

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"
)

const (
	longestName = 60 // bytes of the name of a node in a question
	maxPaths    = 50 // of an answer
)

var (
	// aboutRelations finds a question for how things hang together.
	aboutRelations = regexp.MustCompile(`(?i)依赖|影响|波及|连带|牵连|上游|下游|调用|故障|宕机|挂了|挂掉|出问题|关系|关联|链路|` +
		`\b(?:depends?|dependenc(?:y|ies)|dependents?|affect(?:s|ed)?|impact(?:s|ed)?|hit|hurt|fail(?:s|ed|ure)?|down|breaks?|broken|outage|upstream|downstream|calls?|relies|rely|relations?|related|connected|path)\b`)

	// backwards finds one for what comes to harm.
	harm = regexp.MustCompile(`(?i)影响|波及|连带|牵连|上游|故障|宕机|挂了|挂掉|出问题|谁依赖|哪些.{0,6}依赖|` +
		`\b(?:affect(?:s|ed)?|impact(?:s|ed)?|hit|hurt|fail(?:s|ed|ure)?|down|breaks?|broken|outage|upstream|who depends|what depends|dependents?)\b`)
)

// follow walks from the nodes that a question names, if it asks for that, and tells at most 50 paths, the shortest first. A hop that has as many is
// the last, so that a node on which all depends is no error. It does nothing unless Options.Hops says so, and asks one cheap thing of a tenant without
// relations.
func (l *lookup) follow(ctx context.Context) (out []Path, err error) {
	if l.o.Hops == 0 || !aboutRelations.MatchString(l.Text) {
		return nil, nil
	}
	if some, err := l.tx.Related(ctx); err != nil || !some {
		return nil, err
	}
	nodes, err := l.nodes(ctx)
	if err != nil {
		return nil, err
	}
	for _, n := range nodes {
		for _, backwards := range []bool{true, false} {
			if !backwards && harm.MatchString(l.Text) {
				continue
			}
			w := l.walk(backwards)
			paths, err := w.from(ctx, n, l.o.Hops)
			if err != nil {
				return nil, err
			}
			out = append(out, paths...)
		}
	}
	slices.SortStableFunc(out, func(a, b Path) int { return cmp.Compare(len(a), len(b)) })
	return out[:min(maxPaths, len(out))], nil
}

func (l *lookup) walk(backwards bool) walk {
	return walk{tx: l.tx, sel: SelectRelations{Shelves: l.shelves, At: l.tx.Now()}, backwards: backwards, enough: maxPaths}
}

// nodes are those that the question names; of names within one another the longest.
func (l *lookup) nodes(ctx context.Context) (out []string, err error) {
	names := candidates(strings.Join(append([]string{l.Text}, l.Also...), "\n"))
	if len(names) == 0 {
		return nil, nil
	}
	rs, err := l.tx.Relations(ctx, SelectRelations{Shelves: l.shelves, At: l.tx.Now(), From: names, To: names})
	if err != nil {
		return nil, err
	}
	var found []string
	for _, r := range rs {
		for _, n := range []string{NodeKey(r.From), NodeKey(r.To)} {
			if slices.Contains(names, n) && !slices.Contains(found, n) {
				found = append(found, n)
			}
		}
	}
	for _, n := range found {
		if !slices.ContainsFunc(found, func(o string) bool { return o != n && strings.Contains(o, n) }) {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out, nil
}

var namePiece = regexp.MustCompile(`[0-9A-Za-z]+(?:[-_./:@][0-9A-Za-z]+)*|\p{Han}|[^\s\p{P}\p{Han}]+`)

// candidates are the runs of a text that may name a node: of words, and of Chinese characters.
func candidates(text string) (out []string) {
	text = NodeKey(text)
	at := namePiece.FindAllStringIndex(text, -1)
	seen := map[string]bool{}
	for i := range at {
		for j := i; j < len(at) && j < i+12 && at[j][1]-at[i][0] <= longestName; j++ {
			name := text[at[i][0]:at[j][1]]
			if len(name) > 1 && !strings.Contains(name, "\n") && !seen[name] {
				seen[name] = true
				out = append(out, name)
			}
		}
	}
	return out[:min(len(out), 2000)]
}
