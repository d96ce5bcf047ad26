// Package govern does what concerns a user in all boxes at once: it erases all that there is of one, and proves it.
//
//	receipt, err := govern.Erase(ctx, scope,
//		govern.Box{"threads", govern.Threads(threads, "")},
//		govern.Box{"session", sessions},
//		govern.Box{"longterm", memories},
//	)
//
// It stands above memory and checkpoint, which know nothing of it: whatever has an Erase and a Count can be a box, also one of yours.
package govern
