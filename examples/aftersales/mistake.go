package main

import (
	"errors"
	"fmt"
)

// A mistake is bad input, told in both languages.
type mistake struct{ en, zh string }

func (m *mistake) Error() string { return m.en }

// mistakef formats a mistake. Both texts take the same arguments in the same order.
func mistakef(en, zh string, args ...any) error {
	return &mistake{fmt.Sprintf(en, args...), fmt.Sprintf(zh, args...)}
}

// errorText is err in the language, if it is told in both.
func errorText(zh bool, err error) string {
	if m, ok := errors.AsType[*mistake](err); ok {
		return choose(zh, m.en, m.zh)
	}
	return err.Error()
}
