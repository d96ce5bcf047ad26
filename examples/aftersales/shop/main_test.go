package shop_test

import (
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/holdfast-go/holdfast/examples/aftersales/shop"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// today is the day of every test. The seed's ages count from the first opening of the file.
var today = time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC)

// start runs a new shop and returns a client of it.
func start(t *testing.T) *shop.Client {
	t.Helper()
	c, _ := startFile(t, filepath.Join(t.TempDir(), "shop.db"))
	return c
}

func startFile(t *testing.T, path string) (*shop.Client, *shop.Shop) {
	t.Helper()
	s, err := shop.Open(path, func() time.Time { return today })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	url, err := s.Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return shop.NewClient(url, 30*time.Second), s
}
