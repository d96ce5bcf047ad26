package main

import (
	"bytes"
	"strings"
	"sync"
	"testing"

	"github.com/holdfast-go/holdfast/message"
)

// R116: the customer can ask what became of what they have said, in both languages.
func TestCustomersAskWhy(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, said := range []string{"Please remember that I prefer short answers", "Where is my latest order?"} {
		if _, err := b.say(t.Context(), newConversation(), message.User(said)); err != nil {
			t.Fatal(err)
		}
	}
	for _, zh := range []bool{false, true} {
		var out bytes.Buffer
		talk := &talk{desk: b.desk, thread: b.thread}
		talk.p = &printer{width: 80, mu: new(sync.Mutex), w: &out, zh: zh}
		for line, want := range map[string][2]string{
			"why: I prefer short answers": {"It was in the prompt", "模型已经被告知"},
			"为什么：花园里的蓝色自行车":               {"Nobody said it", "没有人说过"},
			"Why: ?": {"Name some words", "请写出说过的话"},
		} {
			out.Reset()
			if err := talk.take(t.Context(), line); err != nil {
				t.Fatal(err)
			}
			i := 0
			if zh {
				i = 1
			}
			if !strings.Contains(out.String(), want[i]) {
				t.Errorf("%s: %s", line, out.String())
			}
		}
	}
	if wonders("why was it refused?") != "" {
		t.Error("a message to the agent is taken as a command")
	}
}
