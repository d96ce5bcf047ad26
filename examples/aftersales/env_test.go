package main

import (
	"os"
	"strings"
)

// bareEnv is the environment without what chooses a language or a folder.
func bareEnv() (env []string) {
	for _, e := range os.Environ() {
		name, _, _ := strings.Cut(e, "=")
		switch strings.ToUpper(name) {
		case "LC_ALL", "LC_MESSAGES", "LANG", "HOME", "XDG_STATE_HOME", "LOCALAPPDATA":
		default:
			env = append(env, e)
		}
	}
	return env
}
