package openai_test

import (
	"context"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/holdfast-go/holdfast/message"
	"github.com/holdfast-go/holdfast/nodes"
	"github.com/holdfast-go/holdfast/nodes/openai"
	"github.com/holdfast-go/holdfast/nodes/openaitest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const key = "sk-test-0123456789"

// provide starts a provider and returns a model at it. o names what differs from the defaults.
func provide(t *testing.T, c openaitest.Config, o openai.Options) (*openai.Model, *openaitest.Provider) {
	t.Helper()
	p := openaitest.New(c)
	transport := &http.Transport{MaxIdleConnsPerHost: 8}
	o.BaseURL, o.APIKey, o.HTTPClient = p.URL, key, &http.Client{Transport: transport}
	if o.Model == "" {
		o.Model = "test"
	}
	m, err := openai.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		p.Close()
	})
	return m, p
}

func replies(r ...openaitest.Reply) openaitest.Config { return openaitest.Config{Replies: r} }

func hello() nodes.Request { return nodes.Request{Messages: []message.Message{message.User("Hello")}} }

// ask sends a request that must be answered.
func ask(t *testing.T, m nodes.Model, r nodes.Request) nodes.Answer {
	t.Helper()
	a, err := m.Generate(within(t), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// within bounds a test that hangs.
func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// seeded returns a source whose seed is in the log, and is that of HOLDFAST_SEED if set.
func seeded(t *testing.T) *rand.Rand {
	seed, err := strconv.ParseUint(os.Getenv("HOLDFAST_SEED"), 10, 64)
	if err != nil {
		seed = rand.Uint64()
	}
	t.Logf("HOLDFAST_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 1))
}
