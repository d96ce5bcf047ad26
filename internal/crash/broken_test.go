package crash_test

import (
	"testing"
)

// The comparison must notice stores that break the contract: a test that passes with them proves nothing. The faults are
// described in the victim.
func TestCrashNoticesBrokenStores(t *testing.T) {
	skipShort(t)
	t.Parallel()
	for _, c := range []struct {
		broken, scene string
		fates         []string
	}{
		{"background", "line", []string{"point 2 written O", ""}},
		{"background", "fan", []string{"point 3 written R", ""}},
		{"lose-once", "line", []string{"point 2 written O", ""}},
		{"stale-load", "line", []string{"point 2 written E", ""}},
		{"stale-load", "ask", []string{"point 1 written O", ""}},
		{"first-load", "line", []string{"point 2 written E", ""}},
		{"forget-park", "loop", nil},
	} {
		t.Run(c.broken+" "+c.scene, func(t *testing.T) {
			t.Parallel()
			calm := inSQLite.newCalm(t, c.scene, "sync")
			whole := inSQLite.newStage(t, c.scene, "sync")
			defer whole.close(t)
			if err := calm.compare(whole, c.fates); err != nil {
				t.Fatalf("with a good store: %v", err)
			}
			s := inSQLite.newStage(t, c.scene, "sync")
			defer s.close(t)
			s.broken = c.broken
			if err := calm.compare(s, c.fates); err != nil {
				t.Logf("noticed: %.300v", err)
				return
			}
			t.Error("nothing was noticed")
		})
	}
}
