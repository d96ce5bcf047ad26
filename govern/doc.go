// Package govern does what concerns a user in all boxes at once: it erases all that there is of one, and proves it.
//
//	receipt, err := govern.Erase(ctx, scope,
//		govern.Box{Name: "threads", Eraser: govern.Threads(threads, "")},
//		govern.Box{Name: "session", Eraser: sessions},
//		govern.Box{Name: "longterm", Eraser: memories},
//	)
//
// It stands above memory and checkpoint, which know nothing of it: whatever has an Erase and a Count can be a box, also one of yours.
package govern
