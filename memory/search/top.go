package search

import (
	"cmp"
	"slices"
)

// A top keeps the best of many: a heap whose root is the worst of them.
type top[T any] struct {
	items  []T
	limit  int
	better func(a, b T) int // below 0: a is better
}

func newTop[T any](limit int, better func(a, b T) int) *top[T] {
	return &top[T]{limit: limit, better: better}
}

// better orders hits: the higher score, then the shelf and the number.
func better(a, b Hit) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), Place{a.Shelf, a.No}.compare(Place{b.Shelf, b.No}))
}

// least is the worst of what is kept; the zero value while anything would be kept.
func (t *top[T]) least() (item T) {
	if len(t.items) < t.limit {
		return item
	}
	return t.items[0]
}

func (t *top[T]) add(item T) {
	if len(t.items) < t.limit {
		t.items = append(t.items, item)
		t.up(len(t.items) - 1)
	} else if t.better(item, t.items[0]) < 0 {
		t.items[0] = item
		t.down(0)
	}
}

func (t *top[T]) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if t.better(t.items[i], t.items[parent]) <= 0 {
			return
		}
		t.items[i], t.items[parent] = t.items[parent], t.items[i]
		i = parent
	}
}

func (t *top[T]) down(i int) {
	for {
		worst := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(t.items); child++ {
			if t.better(t.items[child], t.items[worst]) > 0 {
				worst = child
			}
		}
		if worst == i {
			return
		}
		t.items[i], t.items[worst] = t.items[worst], t.items[i]
		i = worst
	}
}

func (t *top[T]) sorted() []T {
	slices.SortFunc(t.items, t.better)
	return t.items
}
