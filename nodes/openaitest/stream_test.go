package openaitest_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/nodes/openaitest"
)

// A stream that is cut ends at its byte, hard or clean.
func TestCut(t *testing.T) {
	t.Parallel()
	whole := openaitest.Reply{Text: "It is in Lyon.", Usage: &openaitest.Usage{}}
	body := strings.Join(whole.Events(openaitest.Request{Model: "m"}), "")
	for after := 0; after <= len(body); after += 7 {
		for _, clean := range []bool{true, false} {
			r := whole
			r.Cut = &openaitest.Cut{After: after, Clean: clean}
			p := start(t, openaitest.Config{Replies: []openaitest.Reply{r}})
			resp, err := http.Post(p.URL+"/chat/completions", "", strings.NewReader(with(`"stream":true`)))
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			hard := !clean && after < len(body)
			if string(got) != body[:after] || hard != errors.Is(err, io.ErrUnexpectedEOF) || !hard && err != nil {
				t.Errorf("after %d of %d, clean %v: %d bytes, %v", after, len(body), clean, len(got), err)
			}
		}
	}
}

func TestInterleave(t *testing.T) {
	t.Parallel()
	r := openaitest.Reply{Calls: []openaitest.Call{{ID: "a", Name: "f", Args: "12"}, {ID: "b", Name: "g", Args: "345"}},
		Style: openaitest.Style{Interleave: true, Piece: 1}}
	var order []string
	for _, e := range r.Events(openaitest.Request{}) {
		_, rest, ok := strings.Cut(e, `"tool_calls":[{"index":`)
		_, args, _ := strings.Cut(rest, `"arguments":"`)
		if ok {
			order = append(order, rest[:1]+args[:strings.Index(args, `"`)])
		}
	}
	if got := strings.Join(order, " "); got != "0 1 01 13 02 14 15" {
		t.Error(got)
	}
}
