package sessiontest

import (
	"errors"
	"time"

	"github.com/holdfast-go/holdfast/memory/session"
	"github.com/holdfast-go/holdfast/message"
)

var trustCases = []testCase{
	{"what confirms", "R14, R15, R16", "only a tool that succeeded or the user confirms; a failed call or a model does not", whatConfirms},
	{"a call that was tried again", "R14, R16", "how a call ended in the end is what counts", triedAgain},
}

func whatConfirms(e *env) {
	partial := answers("a2", "half an answer")
	partial.Partial = true
	interim := message.Call{ID: "interim", Name: "find"}.Done("still at work")
	interim.Interim = true
	working := message.Tool(interim)
	working.ID = "t9"
	stored := []message.Message{
		says("u1", "look"), answers("a1", "it may be production"), partial, working,
		ended("t1", "ok", message.StatusOK), ended("t2", "error", message.StatusError), ended("t3", "cancelled", message.StatusCancelled),
		ended("t4", "crashed", message.StatusCrashed), ended("t5", "late", message.StatusTimedOut), ended("t6", "denied", message.StatusDenied),
	}
	system := message.System("rules")
	system.ID = "s1"
	e.write(session.Write{Messages: append(stored, system)})
	for _, s := range []session.Source{
		session.FromUser("a1"), session.FromUser("a2"), session.FromUser("s1"), session.FromUser("t1"), session.FromUser("unknown"), session.FromUser(""),
		session.FromTool("error"), session.FromTool("cancelled"), session.FromTool("crashed"), session.FromTool("late"), session.FromTool("denied"),
		session.FromTool("interim"), session.FromTool("unknown"), session.FromTool(""), session.FromTool("t1"), session.FromTool("u1"), session.FromUser("ok"),
		{Origin: "model", Ref: "u1"}, {},
	} {
		err := e.refused(session.ErrUnconfirmed, session.Write{Set: []session.Change{session.Set(session.Env, "production", s)}})
		if err.Error() == session.ErrUnconfirmed.Error() {
			e.Errorf("the error does not say what is wrong with %+v", s)
		}
	}
	e.refused(session.ErrUnconfirmed, session.Write{Set: []session.Change{session.Unset(session.Env, session.FromUser("a1"))}})
	e.refused(session.ErrUnconfirmed, session.Write{Set: []session.Change{session.Unset(session.Env, session.FromTool("error"))}})
	e.equal("facts", len(e.state().Facts), 0)
	e.write(session.Write{Set: []session.Change{session.Set(session.Env, "production", session.FromTool("ok"))}})
	e.write(session.Write{Set: []session.Change{session.Set(session.Env, "testing", session.FromUser("u1"))}})
	e.equal("environment", e.env(), "testing")
}

func triedAgain(e *env) {
	confirm := session.Write{Set: []session.Change{session.Set(session.Env, "production", session.FromTool("call-1"))}}
	e.write(session.Write{Messages: []message.Message{ended("t1", "call-1", message.StatusCrashed)}})
	e.refused(session.ErrUnconfirmed, confirm)
	e.write(session.Write{Messages: []message.Message{ended("t2", "call-1", message.StatusOK)}})
	e.write(confirm)
	e.write(session.Write{Messages: []message.Message{ended("t3", "call-1", message.StatusError)}})
	e.again(session.Write{Messages: []message.Message{ended("t2", "call-1", message.StatusOK)}})
	e.again(confirm)
	e.refused(session.ErrUnconfirmed, session.Write{Set: []session.Change{session.Set(session.Env, "testing", session.FromTool("call-1"))}})
}

var candidateCases = []testCase{
	{"a guess", "R15", "a guess must not look confirmed", guess},
	{"confirming", "T22", "a yes confirms what was asked, once", confirming},
	{"an answer to several", "T22", "\"ok\" after three proposals confirms none of them", ambiguous},
	{"an answer that was there before", "T22", "who has not seen a question has not answered it", earlier},
	{"overtaken and rejected", "T22", "a late yes must not undo what was settled in another way", overtaken},
	{"expiry", "T22", "nobody remembers what an old question was", expiry},
	{"proposed again", "T22", "a retry must not turn one question into two", proposedAgain},
}

func (e *env) propose(ref, environment string) session.State {
	e.Helper()
	return e.write(session.Write{
		Messages: []message.Message{answers(ref, "Do you mean "+environment+"?")},
		Propose:  []session.Proposal{session.Propose(session.Env, environment, ref, 0)},
	})
}

// confirm is a user's message that confirms a candidate.
func confirm(id, candidate string) session.Write {
	return session.Write{
		Messages: []message.Message{says(id, "好的")},
		Confirm:  []session.Answer{{Candidate: candidate, Message: id}},
	}
}

func guess(e *env) {
	st := e.propose("a1", "production")
	if _, ok := session.Get(st, session.Env); ok || len(st.Facts) != 0 {
		e.Errorf("a guess is a fact: %+v", st)
	}
	c := st.Candidates[0]
	if c.Field != "env" || string(c.Value) != `"production"` || c.Ref != "a1" || c.ID == "" || !c.Expires.After(c.At) || c.Standing != session.Pending {
		e.Errorf("candidate %+v", c)
	}
	h, err := e.store.FactHistory(e.Context(), e.scope, conv, "env")
	e.ok(err)
	e.equal("facts that ever were", len(h), 0)
}

func confirming(e *env) {
	c := e.propose("a1", "production").Candidates[0]
	e.refused(session.ErrUnconfirmed, session.Write{Confirm: []session.Answer{{Candidate: c.ID, Message: "a1"}}})
	e.refused(session.ErrNoCandidate, confirm("u0", "c_unknown"))
	for _, w := range []session.Write{confirm("u1", c.ID), confirm("u1", c.ID), confirm("u1", "")} { // the last two change nothing
		st := e.write(w)
		f, _ := st.Fact("env")
		if string(f.Value) != `"production"` || f.Source != session.FromUser("u1") || f.Candidate != c.ID || f.Version != 1 || len(st.Candidates) != 0 {
			e.Fatalf("after a confirmation: %+v", st)
		}
	}
	e.refused(session.ErrSettled, confirm("u2", c.ID))
	err := e.refused(session.ErrAmbiguous, confirm("u2", ""))
	if a, ok := errors.AsType[*session.AmbiguousError](err); !ok || len(a.Candidates) != 0 {
		e.Errorf("error %v", err)
	}
	only := e.propose("a2", "testing").Candidates[0]
	e.write(confirm("u3", ""))
	f, _ := e.state().Fact("env")
	e.equal("the only candidate", f.Candidate, only.ID)
}

func ambiguous(e *env) {
	e.propose("a1", "production")
	e.propose("a2", "testing")
	st := e.propose("a3", "development")
	err := e.refused(session.ErrAmbiguous, confirm("u1", ""))
	a, ok := errors.AsType[*session.AmbiguousError](err)
	if !ok {
		e.Fatalf("error %v", err)
	}
	e.equal("candidates of the error", a.Candidates, st.Candidates)
	st = e.write(confirm("u1", st.Candidates[1].ID))
	e.equal("environment", e.env(), "testing")
	e.equal("the others", len(st.Candidates), 0)
}

func earlier(e *env) {
	e.write(session.Write{Messages: []message.Message{says("u1", "好的")}})
	c := e.propose("a1", "production").Candidates[0]
	w := session.Write{Confirm: []session.Answer{{Candidate: c.ID, Message: "u1"}}}
	e.refused(session.ErrUnconfirmed, w)
	w = session.Write{Reject: w.Confirm}
	e.refused(session.ErrUnconfirmed, w)
	// A message of the very write that proposes has seen no question either.
	both := confirm("u2", "")
	both.Propose = []session.Proposal{session.Propose(session.CurrentService, session.Service{ID: "a"}, "a1", 0)}
	e.write(both) // confirms the environment, then proposes
	st := e.state()
	e.refused(session.ErrUnconfirmed, session.Write{Confirm: []session.Answer{{Candidate: st.Candidates[0].ID, Message: "u1"}}})
	e.write(confirm("u3", ""))
	e.equal("facts", len(e.state().Facts), 2)
}

func overtaken(e *env) {
	c := e.propose("a1", "production").Candidates[0]
	if st := e.write(set("u1", "testing")); len(st.Candidates) != 0 {
		e.Errorf("the user has said it, and a guess is still there: %+v", st.Candidates)
	}
	e.refused(session.ErrSettled, confirm("u2", c.ID))
	c = e.propose("a2", "production").Candidates[0]
	reject := session.Write{Messages: []message.Message{says("u3", "不是")}, Reject: []session.Answer{{Message: "u3"}}}
	e.write(reject)
	e.again(reject)
	e.refused(session.ErrSettled, confirm("u4", c.ID))
	e.equal("environment", e.env(), "testing")
}

func expiry(e *env) {
	st, err := e.store.Write(e.Context(), e.scope, conv, session.Write{
		Messages: []message.Message{answers("a1", "production?")},
		Propose: []session.Proposal{
			session.Propose(session.Env, "production", "a1", 20*time.Millisecond),
			session.Propose(session.CurrentService, session.Service{ID: "a"}, "a1", time.Hour),
		},
	})
	e.ok(err)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for len(e.state().Candidates) > 1 { // the store's own clock says when; the test's deadline ends it
		select {
		case <-tick.C:
		case <-e.Context().Done():
			e.Fatal("the candidate never expired")
		}
	}
	for _, c := range st.Candidates {
		if c.Field == "env" {
			e.refused(session.ErrExpired, confirm("u1", c.ID))
		}
	}
	e.write(confirm("u1", "")) // only the other one is pending
	e.equal("environment", e.env(), "")
	e.equal("facts", len(e.state().Facts), 1)
}

func proposedAgain(e *env) {
	first := e.propose("a1", "production").Candidates
	e.propose("a1", "production")
	st := e.propose("a2", "production") // from elsewhere
	e.equal("candidates", len(st.Candidates), 1)
	e.equal("id", st.Candidates[0].ID, first[0].ID)
	w := session.Write{Propose: []session.Proposal{{Field: "currentService", Value: []byte(` { "id" : "a" } `), Ref: "a1"}}}
	e.write(w)
	e.write(session.Write{Messages: []message.Message{says("u1", "no")}, Reject: []session.Answer{{Candidate: e.candidate("currentService"), Message: "u1"}}})
	e.again(w) // what was rejected is not asked again by a retry
	w.Propose[0].Ref = "a2"
	e.write(w) // but by a new proposal
	if e.candidate("currentService") == "" {
		e.Error("a new proposal was ignored")
	}
	e.refused(session.ErrInvalidValue, session.Write{Propose: []session.Proposal{{Field: "env", Ref: "a1"}}})
	e.refused(session.ErrInvalidValue, session.Write{Propose: []session.Proposal{session.Propose(session.Env, "testing", "a1", -1)}})
	e.refused(session.ErrBadID, session.Write{Propose: []session.Proposal{session.Propose(session.Env, "testing", "", 0)}})
}

// candidate is the id of the pending one of a field, or "".
func (e *env) candidate(field string) string {
	for _, c := range e.state().Candidates {
		if c.Field == field {
			return c.ID
		}
	}
	return ""
}
