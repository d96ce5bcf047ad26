package message

import "strings"

// A Call is a model's request to run a tool.
type Call struct {
	ID   string `json:"id" description:"unique in its history"`
	Name string `json:"name"`

	// Args is JSON text exactly as the model wrote it. It is a string because it may be no JSON at all, and because JSON
	// inside JSON would be rewritten on its way to a store. Read it with json.Unmarshal([]byte(c.Args), &v).
	Args string `json:"args" description:"the arguments as JSON text"`
}

// A Status says how a call ended.
type Status string

// The ways in which a call ends. There are no others.
const (
	StatusOK        Status = "ok"
	StatusError     Status = "error"     // the tool reported an error
	StatusCancelled Status = "cancelled" // stopped before it was done
	StatusCrashed   Status = "crashed"   // the process died; whether the tool took effect is unknown
	StatusTimedOut  Status = "timed_out"
	StatusDenied    Status = "denied" // a person or a rule forbade it; the tool did not run
)

// A Result is what came of one call.
type Result struct {
	CallID string `json:"call_id"`
	Name   string `json:"name" description:"of the tool"`
	Parts  []Part `json:"parts" description:"texts and images"`
	Status Status `json:"status" enum:"ok,error,cancelled,crashed,timed_out,denied"`

	// Interim marks a message that the tool is still at work. The call stays open; the final result replaces this one.
	Interim bool `json:"interim,omitzero" description:"the final result is still to come"`
}

// Done returns the result of a call that succeeded with a text.
func (c Call) Done(text string) Result { return c.Ended(StatusOK, text) }

// Ended returns the result of a call that ended in any way, with a text for the model to read.
func (c Call) Ended(status Status, text string) Result {
	return Result{CallID: c.ID, Name: c.Name, Status: status, Parts: []Part{Text(text)}}
}

// Failed reports whether the call ended in any way but well. It is the error flag that providers know.
func (r Result) Failed() bool { return r.Status != StatusOK }

// Text returns the text parts, joined by line breaks.
func (r Result) Text() string {
	var texts []string
	for _, p := range r.Parts {
		if p.Kind == KindText {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}
