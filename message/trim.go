package message

import "slices"

// Trim parts a history into what is kept and what is dropped, in whole groups and in their order. It asks drop for each
// group from the oldest on, except for those that must stay: system messages, groups with an open call, and the group of
// the user's latest message. What is kept may begin with the assistant: [Repair] sees to that. An orphan is a group like
// any other. It takes linear time. To drop the oldest until the rest fits:
//
//	kept, dropped := message.Trim(history, func(g message.Group) bool {
//		fits := total <= budget
//		if !fits {
//			total -= size(g)
//		}
//		return !fits
//	})
//
// Repair a history after it was loaded, before it is trimmed: a call that crashed would stay open, and keep its place, for
// good. Do not trim one that was repaired with RepairOptions.Waiting, in which pending calls do not look open.
func Trim(history []Message, drop func(Group) bool) (kept, dropped []Message) {
	latest := len(history) - 1
	for latest >= 0 && history[latest].Role != RoleUser {
		latest--
	}
	for _, g := range Groups(history) {
		if !g.mustStay(latest) && drop(g) {
			dropped = append(dropped, g.Messages...)
		} else {
			kept = append(kept, g.Messages...)
		}
	}
	return kept, dropped
}

func (g Group) mustStay(latest int) bool {
	isSystem := func(m Message) bool { return m.Role == RoleSystem }
	return g.Start <= latest && latest < g.Start+len(g.Messages) || slices.ContainsFunc(g.Messages, isSystem) || len(Open(g.Messages)) > 0
}
