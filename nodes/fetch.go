package nodes

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/compact"
)

// fetchTool reads the full text of what a prompt shows an excerpt of, out of the scope of the call.
func (k *Kit) fetchTool() Tool {
	const about = "Reads or searches the full text of a result that is shown as an excerpt. The last line of an excerpt names its id."
	return NewTool("fetch_result", about, k.fetch, ToolOptions[compact.Query, string]{ReadOnly: true})
}

func (k *Kit) fetch(ctx context.Context, q compact.Query) (string, error) {
	in, ok := Current(ctx)
	if !ok {
		return "", ErrNoTurn
	}
	// A page that were cut to an excerpt would be one more result.
	q.MaxTokens = min(cmp.Or(max(q.MaxTokens, 0), 1000), k.resultCap()*3/4)
	p, err := compact.Fetch(ctx, k.c.Counter, k.c.Session, in.Scope, q)
	switch {
	case errors.Is(err, memory.ErrNoResult):
		return "", fmt.Errorf("there is no result %q: give an id exactly as an excerpt names it", q.Result)
	case err != nil:
		return "", err
	case p.Text == "":
		return "No line of it has all these words.", nil
	case p.Next > 0:
		p.Text += fmt.Sprintf("\n(There is more: from %d.)", p.Next)
	}
	return p.Text, nil
}
