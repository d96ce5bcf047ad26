package govern_test

import (
	"os"
	"testing"

	"github.com/holdfast-go/holdfast/internal/testserver"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(envDying); dir != "" {
		eraseAndDie(dir)
	}
	goleak.VerifyTestMain(testserver.Main{M: m})
}
