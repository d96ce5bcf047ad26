package compact

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/working"
)

// A Query says which part of a result is wanted. It is made to be the arguments of a tool.
type Query struct {
	Result    string `json:"result" description:"id of the result, such as r_0123456789abcdef0123"`
	Text      string `json:"text,omitzero" description:"only lines with all these words; in an index, the lines of all that it leads to"`
	From      int    `json:"from,omitzero" description:"first line, or with text first match, counted from 1"`
	MaxTokens int    `json:"max_tokens,omitzero" description:"limit of the answer, 1000 if it is missing"`
}

// A Page is a part of a result.
type Page struct {
	Text string `json:"text"`          // lines with their numbers
	Next int    `json:"next,omitzero"` // the From of the next page; 0 if this is the last
}

// maxFollowed bounds the results that one search reads.
const maxFollowed = 2000

// Fetch returns a page of a result of the scope, for a model to read: memory.Results.Result has the exact bytes. A line
// of more than 2,000 bytes is shown as several. With a text it searches, letter case aside; a search in an index or an
// archive looks into all that they lead to, the newest first, which costs a read of each. It returns memory.ErrNoResult for
// an id that is not there or belongs to somebody else.
func Fetch(ctx context.Context, c working.Counter, results memory.Results, s memory.Scope, q Query) (Page, error) {
	if q.MaxTokens <= 0 {
		q.MaxTokens = 1000
	}
	p := pager{counter: c, max: q.MaxTokens, from: max(q.From, 1), words: strings.Fields(strings.ToLower(q.Text))}
	r, err := results.Result(ctx, s, q.Result)
	if err != nil {
		return Page{}, fmt.Errorf("compact: result %q: %w", q.Result, err)
	}
	if len(p.words) == 0 {
		p.read(r.Body, "")
		return p.page(), nil
	}
	seen := map[string]bool{r.ID: true}
	for queue := []memory.Result{r}; len(queue) > 0 && p.next == 0; queue = queue[1:] {
		p.read(queue[0].Body, queue[0].ID+" ")
		for _, id := range leads(queue[0]) {
			if seen[id] || len(seen) == maxFollowed {
				continue
			}
			seen[id] = true
			next, err := results.Result(ctx, s, id)
			if errors.Is(err, memory.ErrNoResult) { // a text may name what is not there
				continue
			}
			if err != nil { // a search that skipped it would say that there is nothing
				return Page{}, fmt.Errorf("compact: result %q: %w", id, err)
			}
			queue = append(queue, next)
		}
	}
	return p.page(), nil
}

var resultID = regexp.MustCompile(`\br_[0-9a-f]{20}\b`)

// leads returns the ids that an index or an archive names, the last first. Other results lead nowhere.
func leads(r memory.Result) []string {
	if r.Name != IndexName && r.Name != ArchiveName {
		return nil
	}
	ids := resultID.FindAllString(string(r.Body), -1)
	slices.Reverse(ids)
	return ids
}

// A pager collects the lines of a page.
type pager struct {
	counter   working.Counter
	max, from int
	words     []string
	at, used  int // matching lines and tokens so far
	next      int
	lines     []string
}

func (p *pager) read(body []byte, prefix string) {
	number := 0
	for line := range lines(strings.ToValidUTF8(string(body), "\uFFFD")) {
		number++
		if !p.matches(line) {
			continue
		}
		if p.at++; p.at < p.from {
			continue
		}
		if !p.add(fmt.Sprintf("%s%d: %s", prefix, number, line)) {
			p.next = p.at
			return
		}
	}
}

// add refuses a line that does not fit, unless it is the first: that is cut, or the next page would begin with it for ever.
func (p *pager) add(line string) bool {
	n := p.counter.Count(line) + 1
	if p.used+n > p.max {
		if len(p.lines) > 0 {
			return false
		}
		line = head(p.counter, line, p.max)
	}
	p.used += n
	p.lines = append(p.lines, line)
	return true
}

func (p *pager) matches(line string) bool {
	if len(p.words) == 0 {
		return true
	}
	line = strings.ToLower(line)
	for _, word := range p.words {
		if !strings.Contains(line, word) {
			return false
		}
	}
	return true
}

func (p *pager) page() Page { return Page{Text: strings.Join(p.lines, "\n"), Next: p.next} }
