package govern

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/memory/longterm"
	"github.com/holdfast-go/holdfast/memory/working"
)

// follow writes the explanation, stage after stage.
func (w *inquiry) follow(ctx context.Context, said []spoken) error {
	if w.turn != nil {
		w.e.Prompt = w.turn.log(w.known)
	}
	c := w.candidate(said)
	if c == nil && len(said) == 0 {
		if w.boxes.Session == nil {
			w.e.miss(StageSaid, "there is no session store to look into", "没有可查看的会话存储")
		}
		w.e.stop(StageSaid, NeverSaid, "")
		return nil
	}
	w.tellSaid(said, c)
	told, err := w.toldAsMessage(ctx, said)
	if err != nil {
		return err
	}
	if c == nil {
		w.followMessage(said[0])
	} else {
		w.e.Item = c.ID
		if err := w.followItem(ctx, *c); err != nil {
			return err
		}
	}
	if told != "" && w.e.Cause != InPrompt {
		w.e.Stages = slices.DeleteFunc(w.e.Stages, func(s Stage) bool { return s.Name == StagePrompt })
		cause, reason := w.e.Cause, w.e.Reason
		w.e.stop(StagePrompt, InPrompt, "", Finding{ID: told, Reason: "as a message of the conversation; as a memory: " + strings.TrimSpace(string(cause)+" "+reason)})
	}
	return nil
}

// A candidate is an item that may be what the words are about.
type candidate struct {
	longterm.Item
	outcome longterm.Outcome
	cover   float64
}

// candidate is the item that the words are about, or nil: of those that fit about equally one that holds, then the newest.
func (w *inquiry) candidate(said []spoken) *candidate {
	var all []candidate
	for _, i := range w.items {
		c := candidate{Item: i, cover: w.covered(termsOf(i))}
		for _, m := range said {
			for _, o := range m.outcomes {
				if o.ID == i.ID || o.Fate == longterm.Ended && o.Over == i.ID {
					c.outcome, c.cover = o, max(c.cover, w.spanned(m, o))
				}
			}
		}
		if c.cover >= enough {
			all = append(all, c)
		}
	}
	if len(all) == 0 {
		return nil
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(b.cover, a.cover) })
	best := all[0].cover
	all = slices.DeleteFunc(all, func(c candidate) bool { return c.cover < 0.9*best })
	slices.SortStableFunc(all, func(a, b candidate) int {
		return cmp.Or(-compareBool(w.holds(a.Item), w.holds(b.Item)), b.Stored.Compare(a.Stored))
	})
	c := &all[0]
	if len(said) > 0 && said[0].cover > best/near && !slices.ContainsFunc(c.Sources, func(s longterm.Source) bool { return s.Message == said[0].ID }) {
		return nil // it is about something else, and the message has nothing of its own
	}
	return c
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

func (w *inquiry) holds(i longterm.Item) bool {
	return i.Current() && (i.Expires.IsZero() || i.Expires.After(w.now)) && w.q.Reader.May(i.Label, i.Namespace)
}

// outcomes are those of the drafts that a message had.
func (w *inquiry) outcomes(m spoken) (out []longterm.Outcome) {
	for _, j := range w.jobs {
		if j.Conversation != m.Conversation {
			continue
		}
		for _, o := range j.Outcomes {
			if o.Message == m.ID {
				out = append(out, o)
			}
		}
	}
	return out
}

// spanned is how much of the words a draft has.
func (w *inquiry) spanned(m spoken, o longterm.Outcome) float64 {
	if o.Span == (longterm.Span{}) {
		return 0
	}
	return w.cover(o.Span.Of(m.read(o.Call)))
}

// tellSaid notes which messages say the words.
func (w *inquiry) tellSaid(said []spoken, c *candidate) {
	switch {
	case len(said) > 0:
		var found []Finding
		for _, m := range said[:min(len(said), 5)] {
			found = append(found, Finding{ID: m.ID, Conversation: m.Conversation, At: m.At, Coverage: m.cover})
		}
		en, zh := both("said in conversation %s, message %s", "在对话 %s 的消息 %s 中说过", said[0].Conversation, said[0].ID)
		w.e.pass(StageSaid, en, zh, found...)
	case len(c.Sources) > 0:
		s := c.Sources[0]
		en, zh := both("said in conversation %s, message %s, which is not there any more", "在对话 %s 的消息 %s 中说过，该消息已不在", s.Conversation, s.Message)
		w.e.pass(StageSaid, en, zh, Finding{ID: s.Message, Conversation: s.Conversation, At: s.At})
	default:
		w.e.miss(StageSaid, "its message is not there any more", "原消息已不在")
	}
}

// jobOf is the job that had a message.
func (w *inquiry) jobOf(conversation, id string) (longterm.Job, bool) {
	i := slices.IndexFunc(w.jobs, func(j longterm.Job) bool {
		return j.Conversation == conversation && (slices.Contains(j.Messages, id) ||
			slices.ContainsFunc(j.Texts, func(t longterm.Text) bool { return t.Source.Message == id }))
	})
	if i < 0 {
		return longterm.Job{}, false
	}
	return w.jobs[i], true
}

func jobFinding(j longterm.Job) Finding {
	return Finding{ID: j.ID, Conversation: j.Conversation, State: string(j.State), Reason: j.Fault, At: j.Queued}
}

// followMessage explains why a message has become no item.
func (w *inquiry) followMessage(m spoken) {
	if w.boxes.Longterm == nil {
		w.e.stop(StageQueued, NotQueued, "there is no long-term memory")
		return
	}
	j, ok := w.jobOf(m.Conversation, m.ID)
	if !ok {
		w.e.stop(StageQueued, NotQueued, "")
		return
	}
	if dropped := w.dropped(m); dropped != nil {
		w.tellQueued(j)
		w.e.pass(StageExtracted, "a draft was made", "已得出草稿")
		w.e.stop(StageKept, Filtered, reasonOf(*dropped), Finding{
			ID: j.ID, Message: m.ID, State: string(dropped.Fate), Reason: string(dropped.Reason), Confidence: dropped.Confidence, Least: dropped.Least,
		})
		return
	}
	if id := w.readAhead(j); id != "" {
		w.tellQueued(j)
		w.e.miss(StageExtracted, "not done yet: its words were searched as they are", "尚未完成：按原话搜索")
		en, zh := both("read as number %d of %d", "读取时排第 %d，共 %d 条", place(w.turn.read, id), len(w.turn.read))
		w.e.pass(StageRanked, en, zh, Finding{ID: id, Rank: place(w.turn.read, id), Of: len(w.turn.read)})
		w.followPrompts(id)
		return
	}
	switch j.State {
	case longterm.Queued, longterm.Failing:
		w.e.stop(StageQueued, Waiting, j.Fault, jobFinding(j))
	case longterm.Parked:
		w.e.stop(StageQueued, Parked, j.Fault, jobFinding(j))
	default:
		w.tellQueued(j)
		w.e.stop(StageExtracted, NotExtracted, "", jobFinding(j))
	}
}

// known reports whether the agent who asks may know of something that the turn has read of long-term memory.
func (w *inquiry) known(id string) bool {
	return w.item(id) != nil ||
		slices.ContainsFunc(w.jobs, func(j longterm.Job) bool { return strings.HasPrefix(id, j.ID+"-") })
}

// readAhead is the id under which the turn has read the words of a job that is not done, or "".
func (w *inquiry) readAhead(j longterm.Job) string {
	if w.turn == nil || j.State == longterm.Done {
		return ""
	}
	for _, i := range w.turn.read {
		if strings.HasPrefix(i.ID, j.ID+"-") {
			return i.ID
		}
	}
	return ""
}

func (w *inquiry) tellQueued(j longterm.Job) {
	en, zh := both("job %s, %s", "任务 %s，%s", j.ID, j.State)
	w.e.pass(StageQueued, en, zh, jobFinding(j))
}

// dropped is the draft of a message that has the words and was not kept; one of which nobody knows where it stands only if no other
// draft of the message is about something else.
func (w *inquiry) dropped(m spoken) *longterm.Outcome {
	var about, unplaced *longterm.Outcome
	best := 0.0
	for _, o := range m.outcomes {
		if o.Fate != longterm.Dropped {
			continue
		}
		if o.Span == (longterm.Span{}) {
			unplaced = &o
		} else if c := w.spanned(m, o); c >= enough*m.cover && c > best {
			about, best = &o, c
		}
	}
	return cmp.Or(about, unplaced)
}

func reasonOf(o longterm.Outcome) string {
	if o.Reason == longterm.Unsure {
		return fmt.Sprintf("confidence %.2f, at least %.2f is needed", o.Confidence, o.Least)
	}
	return string(o.Reason)
}

// followItem explains what became of an item.
func (w *inquiry) followItem(ctx context.Context, c candidate) error {
	later, err := w.boxes.Longterm.History(ctx, w.q.Scope, w.q.Agent, c.ID)
	if err != nil && !errors.Is(err, longterm.ErrNotFound) { // it was erased meanwhile
		return err
	}
	for _, i := range later {
		w.add(i)
	}
	w.tellStored(c)
	if cause := w.ended(c.Item); cause != "" {
		w.e.stop(StageCurrent, cause, "", w.versions(c.Item)...)
		return nil
	}
	en, zh := both("it holds, version %d", "当前有效，第 %d 版", c.Version)
	w.e.pass(StageCurrent, en, zh, w.itemFinding(c.Item))
	return w.followRead(ctx, c.Item)
}

func (w *inquiry) tellStored(c candidate) {
	var j longterm.Job
	known := false
	for _, s := range c.Sources {
		if found, ok := w.jobOf(s.Conversation, s.Message); ok {
			j, known = found, true
		}
	}
	if known {
		w.tellQueued(j)
		w.e.pass(StageExtracted, "a draft was made", "已得出草稿")
	} else {
		w.e.miss(StageQueued, "there is no job: it was added by hand, or long ago", "没有任务记录：人工添加，或时间太久")
		w.e.miss(StageExtracted, "there is no job", "没有任务记录")
	}
	en, zh := both("stored as %s", "已存储为 %s", c.ID)
	f := w.itemFinding(c.Item)
	f.Reason = string(c.outcome.Fate)
	w.e.pass(StageKept, en, zh, f)
}

// itemFinding shows an item, and the first message that said it.
func (w *inquiry) itemFinding(i longterm.Item) Finding {
	f := Finding{ID: i.ID, Text: i.Text, State: string(i.End), At: i.Stored, Confidence: i.Confidence}
	if len(i.Sources) > 0 {
		f.Conversation, f.Message = i.Sources[0].Conversation, i.Sources[0].Message
	}
	if w.item(i.By) != nil { // else nobody learns what is there
		f.By = i.By
	}
	return f
}

// versions shows an item and those after it.
func (w *inquiry) versions(i longterm.Item) (out []Finding) {
	for at := &i; at != nil && len(out) < 100; at = w.item(at.By) {
		out = append(out, w.itemFinding(*at))
	}
	return out
}

// ended says why an item is none that the reader could have found, or "". What the turn has read held then.
func (w *inquiry) ended(i longterm.Item) Cause {
	if w.turn != nil && place(w.turn.read, i.ID) > 0 {
		return ""
	}
	switch i.End {
	case longterm.Superseded:
		return Superseded
	case longterm.Withdrawn:
		return Withdrawn
	case longterm.RolledBack:
		return RolledBack
	case longterm.Forgotten:
		return Forgotten
	}
	switch {
	case !i.Expires.IsZero() && !i.Expires.After(w.now):
		return Expired
	case i.Origin == longterm.Inferred:
		return Unconfirmed
	case !w.q.Reader.May(i.Label, i.Namespace):
		return HiddenByLabel
	}
	return ""
}

// place is the place of an item among those that a turn has read, from 1, or 0.
func place(read []working.Item, id string) int {
	return slices.IndexFunc(read, func(i working.Item) bool { return i.ID == id }) + 1
}

// followRead explains what the turn made of an item that holds.
func (w *inquiry) followRead(ctx context.Context, i longterm.Item) error {
	rank, err := w.rank(ctx, i)
	if err != nil {
		return err
	}
	t := w.turn
	if t == nil {
		switch {
		case w.asked() == "":
			w.e.stop(StageRanked, NotAsked, "")
		case rank.Rank == 0:
			w.e.stop(StageRanked, NoMatch, "")
		default:
			w.e.stop(StageRanked, Found, fmt.Sprintf("rank %d", rank.Rank), rank)
		}
		return nil
	}
	if place(t.read, i.ID) == 0 {
		w.unread(i, rank)
		return nil
	}
	rank.Rank = place(t.read, i.ID)
	en, zh := both("read as number %d of %d", "读取时排第 %d，共 %d 条", rank.Rank, rank.Of)
	w.e.pass(StageRanked, en, zh, rank)
	w.followPrompts(i.ID)
	return nil
}

// unread explains why a turn has not read an item.
func (w *inquiry) unread(i longterm.Item, rank Finding) {
	t := w.turn
	after := t.begun
	if len(t.prompts) > 0 {
		after = t.prompts[0].at
	}
	switch {
	case slices.ContainsFunc(i.Sources, func(s longterm.Source) bool { return s.Message == t.message }):
		w.e.stop(StageRanked, NotAsked, "")
	case i.Stored.After(after):
		w.e.stop(StageRanked, TooLate, "", rank)
	case !t.wasRead:
		w.e.stop(StageRanked, NotRead, "", rank)
	case rank.Rank == 0:
		w.e.stop(StageRanked, NoMatch, "")
	case rank.Rank <= rank.Of || rank.Of == 0:
		w.e.stop(StageRanked, NotRead, "", rank)
	default:
		w.e.stop(StageRanked, RankedOut, fmt.Sprintf("rank %d, %d were taken", rank.Rank, rank.Of), rank)
	}
}

// asked is what the item should have been found for.
func (w *inquiry) asked() string {
	if w.q.Asked != "" || w.turn == nil {
		return w.q.Asked
	}
	return w.turn.text
}

// deepest is the last place that is looked for.
const deepest = 200

// rank is the place of an item in a search by the reader for what was asked, made now; 0 if it is not found, one behind the
// deepest if it is beyond.
func (w *inquiry) rank(ctx context.Context, i longterm.Item) (Finding, error) {
	f := Finding{ID: i.ID, Text: i.Text}
	if w.turn != nil {
		f.Of = len(w.turn.read)
	}
	if w.asked() == "" {
		return f, nil
	}
	hits, err := w.boxes.Longterm.Search(ctx, w.q.Scope, w.q.Reader, longterm.Query{Text: w.asked(), Limit: deepest})
	if err != nil {
		return f, err
	}
	if len(hits) == deepest {
		f.Rank = deepest + 1 // or more, unless it is found
	}
	for n, h := range hits {
		if h.ID == i.ID {
			f.Rank, f.Score, f.Coverage, f.Cosine, f.Decay = n+1, h.Score, h.Why.Coverage, h.Why.Cosine, h.Why.Decay
		}
	}
	return f, nil
}

// followPrompts explains what the prompts of the turn made of what was read.
func (w *inquiry) followPrompts(id string) {
	t := w.turn
	if len(t.prompts) == 0 {
		w.e.stop(StageBudget, NoPrompt, "")
		return
	}
	for _, p := range slices.Backward(t.prompts) {
		e, ok := p.entry(id)
		if ok && e.Outcome != working.Dropped {
			f := entryFinding(t, p, e)
			en, zh := both("%d of %d tokens were sent", "发送了 %d / %d 个 token", e.Sent, e.Tokens)
			w.e.pass(StageBudget, en, zh, f)
			w.e.stop(StagePrompt, InPrompt, "", f)
			return
		}
	}
	for _, p := range slices.Backward(t.prompts) {
		if e, ok := p.entry(id); ok {
			cause := LeftOut
			switch e.Reason {
			case working.OverCap, working.OverBudget, working.TooLong:
				cause = DroppedByBudget
			}
			w.e.stop(StageBudget, cause, string(e.Reason), entryFinding(t, p, e))
			return
		}
	}
	w.e.stop(StageBudget, LeftOut, "")
}

func entryFinding(t *turn, p logged, e working.Entry) Finding {
	return Finding{
		ID: t.run, Conversation: t.conversation, Message: t.message, State: string(e.Outcome), Reason: string(e.Reason), At: p.at, Tokens: e.Tokens, Sent: e.Sent,
	}
}

// toldAsMessage is the id of a message that says the words and was in the prompt itself, or "".
func (w *inquiry) toldAsMessage(ctx context.Context, said []spoken) (string, error) {
	if w.turn == nil {
		return "", nil
	}
	for _, m := range said {
		if m.Conversation != w.turn.conversation {
			continue
		}
		is, err := w.turn.tells(ctx, w.boxes.Threads, m.ID)
		switch {
		case err != nil:
			return "", err
		case is:
			return m.ID, nil
		}
	}
	return "", nil
}
