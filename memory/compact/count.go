package compact

import (
	"github.com/holdfast-go/holdfast/memory/working"
	"github.com/holdfast-go/holdfast/message"
)

func countMessage(c working.Counter, m message.Message) int {
	n := 4
	for _, p := range m.Parts {
		switch {
		case p.Call != nil:
			n += 4 + c.Count(p.Call.ID+p.Call.Name+p.Call.Args)
		case p.Result != nil:
			n += 4 + c.Count(p.Result.CallID+p.Result.Name) + countMessage(c, message.Message{Parts: p.Result.Parts})
		case p.Image != nil:
			n += 800
		default:
			n += c.Count(p.Text)
		}
	}
	return n
}
