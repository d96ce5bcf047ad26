package sqldb_test

import (
	"testing"

	"github.com/holdfast-go/holdfast/internal/testserver"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(testserver.Main{M: m}) }
