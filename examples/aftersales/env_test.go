package main

import (
	"os"
	"strings"
)

// bareEnv is the environment without what chooses a language, a folder or a model.
func bareEnv() (env []string) {
	for _, e := range os.Environ() {
		name, _, _ := strings.Cut(e, "=")
		switch strings.ToUpper(name) {
		case "LC_ALL", "LC_MESSAGES", "LANG", "HOME", "XDG_STATE_HOME", "LOCALAPPDATA", "OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_MODEL":
		default:
			env = append(env, e)
		}
	}
	return env
}
