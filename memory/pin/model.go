package pin

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/message"
)

// A Model finds denials and rules that no rule of this package finds. It gets one message of the user.
type Model interface {
	Detect(ctx context.Context, text string) ([]Found, error)
}

// DetectWith returns what Detect finds and, behind it, what a model finds beyond that. A model can only add: what it takes for a permission
// is left out, and so is what has no words of the message, an unknown action or an unknown environment. If the model fails, what
// Detect found is returned with the error: the rules stand.
func DetectWith(ctx context.Context, m message.Message, model Model) ([]Found, error) {
	out := Detect(m)
	if m.Role != message.RoleUser {
		return out, nil
	}
	text := m.Text()
	more, err := model.Detect(ctx, text)
	if err != nil {
		return out, fmt.Errorf("pin: the model has not looked at message %s: %w", m.ID, err)
	}
	for _, f := range more {
		f, ok := checked(f, text)
		if ok && !slices.ContainsFunc(out, func(o Found) bool { return covered(f, o) }) {
			out = append(out, f)
		}
	}
	return out, nil
}

// checked is what may be taken over from a model.
func checked(f Found, text string) (Found, bool) {
	f.Text, f.All = cutText(strings.TrimSpace(f.Text)), false
	if f.Text == "" || !strings.Contains(text, f.Text) || f.Effect != Deny && f.Effect != Rule {
		return f, false
	}
	for _, a := range f.Actions {
		if _, ok := slices.BinarySearch(actionNames, a); !ok {
			return f, false
		}
	}
	return f, slices.Contains([]string{"", Production, Testing, Development}, f.Env)
}
