package crash_test

import (
	"fmt"
	"testing"

	"github.com/holdfast-go/holdfast/internal/crash"
)

// TestCrashCancelled ends the program's context between the end of a node and its entry, among other moments. The program goes on with
// a new one. // E26
func TestCrashCancelled(t *testing.T) {
	skipShort(t)
	t.Parallel()
	inEach(t, func(t *testing.T, l *lab) {
		var trials []trial
		for _, scene := range crash.Scenes {
			c := l.calm(t, scene.Name, "sync")
			for _, point := range []string{"node", "node returned", "kept", "folded", "write O", "write R", "write E", "written E", "write P"} {
				for n := range min(2, c.reports[0].Points[point]) {
					trials = append(trials, trial{c, []string{fmt.Sprintf("cancel %d %s", n+1, point)}})
				}
			}
		}
		part := trials
		if l != inSQLite {
			part = part[:0:0]
			for n := 0; n < len(trials); n += l.every() {
				part = append(part, trials[n])
			}
		}
		try(t, part)
		t.Logf("%d contexts ended", len(part))
	})
}
