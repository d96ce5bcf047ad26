package longterm

import (
	"context"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/memory"
)

// chain returns all versions of the fact that a record belongs to, and what they superseded besides, whoever may see them, by
// ID. It costs two selects for each step of the way to the farthest, or one in all where the fact has a key.
func (u *unit) chain(ctx context.Context, r *record) ([]*record, error) {
	found := map[string]*record{r.ID: r}
	fresh := []*record{r}
	keys := map[string]bool{}
	for len(fresh) > 0 {
		var next []*record
		take := func(sel Select) error {
			sel.Namespaces, sel.Label = []string{r.Namespace}, memory.Secret
			more, err := u.items(ctx, sel)
			for _, m := range more {
				if found[m.ID] == nil {
					found[m.ID] = m
					next = append(next, m)
				}
			}
			return err
		}
		if err := u.step(fresh, found, keys, take); err != nil {
			return nil, err
		}
		fresh = next
	}
	var all []*record
	for _, m := range found {
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b *record) int { return strings.Compare(a.ID, b.ID) })
	return all, nil
}

// step takes the neighbours of some records.
func (u *unit) step(fresh []*record, found map[string]*record, keys map[string]bool, take func(Select) error) error {
	var ids, links, names []string
	for _, m := range fresh {
		ids = append(ids, m.ID)
		links = append(links, m.By, m.Replaces)
		links = append(links, m.Also...)
		if m.Key != "" && !keys[m.Key] {
			keys[m.Key] = true
			names = append(names, m.Key)
		}
	}
	if len(names) > 0 {
		if err := take(Select{Keys: names, States: []State{Holds, Past}}); err != nil {
			return err
		}
	}
	links = slices.DeleteFunc(links, func(id string) bool { return id == "" || found[id] != nil })
	if len(links) > 0 {
		if err := take(Select{IDs: links}); err != nil {
			return err
		}
	}
	return take(Select{Replaces: ids})
}
