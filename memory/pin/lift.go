package pin

import "slices"

// Lift returns the pins that permissions take back, out of those in force, given the oldest first. A permission for actions lifts the
// denials that forbid nothing else and nothing beyond the environment and the names that it has; one without an action, such as "forget what I just said", lifts the latest pin that
// it can be about; "all restrictions" lifts all denials. Only what Detect found in a message of the user may be given here.
func Lift(pins []Pin, found []Found) (out []Pin) {
	for _, f := range found {
		if f.Effect != Permit {
			continue
		}
		for _, p := range lifted(pins, f) {
			if !slices.ContainsFunc(out, func(o Pin) bool { return o.ID == p.ID }) {
				out = append(out, p)
			}
		}
	}
	return out
}

func lifted(pins []Pin, f Found) (out []Pin) {
	for _, p := range pins {
		switch {
		case f.All:
			if p.Effect == Deny {
				out = append(out, p)
			}
		case len(f.Actions) == 0:
			if about(p, f) {
				out = []Pin{p}
			}
		case p.Effect == Deny && about(p, f) && whole(p, f):
			out = append(out, p)
		}
	}
	return out
}

// whole reports whether a permission takes back all that a denial forbids: who may restart the database may still not drop it.
func whole(p Pin, f Found) bool {
	return len(p.Actions) > 0 && !slices.ContainsFunc(p.Actions, func(a string) bool { return !slices.Contains(f.Actions, a) })
}

// about reports whether a permission can mean a pin: none of its words says otherwise, or that it is for less. Who may restart one service may
// not restart the others.
func about(p Pin, f Found) bool {
	if f.Env != "" && f.Env != p.Env { // a denial for all environments is about more than one
		return false
	}
	theirs, ours := names(p.Targets), names(f.Targets)
	if len(ours) == 0 {
		return true
	}
	return slices.ContainsFunc(ours, func(n string) bool { return slices.Contains(theirs, n) })
}

func names(targets []string) (out []string) {
	for _, t := range targets {
		if t = foldText(t); named(t) {
			out = append(out, t)
		}
	}
	return out
}
