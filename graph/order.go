package graph

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// sortQuestions puts questions into task order, and those of one task into the order of their names.
func sortQuestions(qs []Question) {
	slices.SortFunc(qs, func(a, b Question) int {
		return cmp.Or(compareTasks(a.Task, b.Task), strings.Compare(a.Name, b.Name), strings.Compare(a.ID, b.ID))
	})
}

// compareTasks orders task ids by step and index.
func compareTasks(a, b string) int {
	as, ai := splitTask(a)
	bs, bi := splitTask(b)
	return cmp.Or(cmp.Compare(as, bs), cmp.Compare(ai, bi))
}

func splitTask(id string) (step int64, index int) {
	s, i, _ := strings.Cut(id, ".")
	step, _ = strconv.ParseInt(s, 10, 64)
	index, _ = strconv.Atoi(i)
	return step, index
}

func unmarshal(b []byte, v any) error { return json.Unmarshal(b, v) }

func sorted(s []string) []string {
	slices.Sort(s)
	return s
}
