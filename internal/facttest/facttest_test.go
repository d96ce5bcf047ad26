package facttest_test

import (
	"reflect"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/holdfast-go/holdfast/internal/facttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// What is generated is what it says, and the same for the same seed: a measure that moves by itself measures nothing.
func TestGenerated(t *testing.T) {
	t.Parallel()
	pairs, canaries := facttest.Pairs(3, 200), facttest.Canaries(3, 1000)
	if !reflect.DeepEqual(pairs, facttest.Pairs(3, 200)) || !reflect.DeepEqual(canaries, facttest.Canaries(3, 1000)) || reflect.DeepEqual(pairs, facttest.Pairs(4, 200)) {
		t.Error("a seed gives different things, or two seeds the same")
	}
	if len(pairs) != 200 || len(canaries) != 1000 || len(facttest.Planted()) != 20 || len(facttest.Junk()) < 50 {
		t.Error(len(pairs), len(canaries), len(facttest.Planted()), len(facttest.Junk()))
	}
	langs, classes, forms := map[string]int{}, map[string]int{}, map[string]int{}
	for _, p := range pairs {
		langs[p.Lang]++
		classes[p.Class]++
		if p.Old == p.New || !strings.Contains(p.New, p.Want) || p.Question == "" || len(p.Neighbours) < 3 || strings.ContainsAny(p.Old+p.New+p.Question+strings.Join(p.Neighbours, ""), "{}") {
			t.Errorf("%+v", p)
		}
		for _, n := range p.Neighbours {
			if n == p.Old || n == p.New {
				t.Errorf("%q is no neighbour of itself", n)
			}
		}
	}
	for _, c := range canaries {
		forms[c.Form]++
		if c.Secret == "" || !strings.Contains(c.Text, c.Secret) || !strings.Contains(c.Text, c.Kept) {
			t.Errorf("%+v", c)
		}
	}
	if langs["zh"] != 100 || langs["en"] != 100 || len(classes) < 20 || len(forms) < 35 {
		t.Error(langs, classes, forms)
	}
}
