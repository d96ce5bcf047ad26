package nodes

import (
	"context"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/knowledge"
	"github.com/holdfast-go/holdfast/memory/working"
)

// Documents is what the documents of a store say to a user: the tenant is that of the scope.
type Documents struct {
	Store *knowledge.Store
	Roles func(ctx context.Context, sc memory.Scope) ([]string, error) // of a user, from where they are kept; nil: knowledge.Everyone alone
	Limit int                                                          // chunks in a prompt; default 4
}

var _ Knowledge = Documents{}

// Retrieve implements Knowledge. It costs one read of the store. Paths of relations are told where the profile uses working.Graph.
func (d Documents) Retrieve(ctx context.Context, q Query) (Retrieved, error) {
	reader, err := d.reader(ctx, q.Scope)
	if err != nil {
		return Retrieved{}, err
	}
	a, err := d.Store.Retrieve(memory.As(ctx, q.Agent.Name()), reader, knowledge.Query{Text: q.Text, Also: q.Entities, Limit: d.Limit})
	if err != nil {
		return Retrieved{}, err
	}
	var out Retrieved
	for i, c := range a.Chunks {
		out.Items = append(out.Items, itemOf(c, inOrder(i)))
	}
	for i, p := range a.Paths {
		text := p.String()
		out.Items = append(out.Items, working.Item{Source: working.Graph, ID: text, Text: text, Score: inOrder(i)})
	}
	for _, as := range a.Aspects {
		if as.Chunk == "" && len(a.Paths) == 0 {
			out.Missing = append(out.Missing, as.Text)
		}
	}
	return out, nil
}

func (d Documents) reader(ctx context.Context, sc memory.Scope) (knowledge.Reader, error) {
	var roles []string
	if d.Roles != nil {
		var err error
		if roles, err = d.Roles(ctx, sc); err != nil {
			return knowledge.Reader{}, err
		}
	}
	return knowledge.NewReader(sc.Tenant(), roles...)
}

func itemOf(c knowledge.Chunk, score float64) working.Item {
	text := c.Text
	if c.Title != "" {
		text = c.Title + "\n" + text
	}
	return working.Item{
		Source: working.Knowledge, ID: c.ID, Text: text, Score: score, Origin: c.Document + "@" + c.Version, Subject: c.Subject, At: c.Effective,
	}
}
