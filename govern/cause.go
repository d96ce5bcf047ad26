package govern

// A Cause says why an agent did not remember something. The list is closed.
type Cause string

// The causes, in the order of the way that words take: the first that applies is told.
const (
	NeverSaid       Cause = "never said"         // no message of the user and no item says it
	NotQueued       Cause = "not queued"         // its exchange has not come to long-term memory, or longer ago than longterm.Options.Keep
	Waiting         Cause = "waiting"            // nobody has worked on the job yet, or another attempt is due
	Parked          Cause = "parked"             // all attempts failed: the job waits for Retry
	NotExtracted    Cause = "not extracted"      // the extractor made nothing of it
	Filtered        Cause = "filtered"           // the extractor's draft was dropped; Explanation.Reason says why
	Unconfirmed     Cause = "unconfirmed"        // a model concluded it, and nobody has confirmed it
	Superseded      Cause = "superseded"         // a later version holds
	Withdrawn       Cause = "withdrawn"          // the user took it back
	RolledBack      Cause = "rolled back"        // it was undone by hand
	Forgotten       Cause = "forgotten"          // on request
	Expired         Cause = "expired"            // its time is over
	HiddenByLabel   Cause = "hidden by label"    // the reader may not see its label or namespace; told to an agent that may
	NotAsked        Cause = "not asked"          // no turn was found in which it could have come up
	TooLate         Cause = "too late"           // it was stored after the prompt was made
	NotRead         Cause = "not read"           // the turn did not read long-term memory, or could not
	NoMatch         Cause = "no match"           // a search for what was asked does not find it
	RankedOut       Cause = "ranked out"         // others fit better, and there were enough of them
	NoPrompt        Cause = "no prompt"          // it was read, and the run made no prompt of it
	DroppedByBudget Cause = "dropped by budget"  // the prompt had no room; Explanation.Reason is that of the manifest
	LeftOut         Cause = "left out of prompt" // for another reason of the manifest, such as a duplicate
	InPrompt        Cause = "in prompt"          // the model was told
	Found           Cause = "found"              // a search finds it now; there are no threads to look into
)

// said is what a cause means, in English and Chinese.
var said = map[Cause][2]string{
	NeverSaid:       {"Nobody said it: no message of the user and no memory has these words.", "没有人说过：用户的消息和记忆里都没有这些话。"},
	NotQueued:       {"It was said, but never came to long-term memory, or so long ago that the record is gone.", "说过，但没有进入长期记忆；或者时间太久，记录已经没有了。"},
	Waiting:         {"It was said and waits to be extracted.", "说过，正在等待抽取。"},
	Parked:          {"It was said, but its extraction failed too often; it waits for a retry.", "说过，但抽取多次失败，正等待重试。"},
	NotExtracted:    {"It was said, but the extractor made nothing of it.", "说过，但抽取器没有从中得出任何内容。"},
	Filtered:        {"It was extracted, but the draft was dropped.", "已抽取，但草稿被丢弃。"},
	Unconfirmed:     {"A model concluded it; nobody has confirmed it.", "这是模型推断的，还没有人确认。"},
	Superseded:      {"A later version holds now.", "已被后来的版本取代。"},
	Withdrawn:       {"The user took it back.", "用户已收回。"},
	RolledBack:      {"It was undone by hand.", "已被人工撤销。"},
	Forgotten:       {"It was forgotten on request.", "已按要求遗忘。"},
	Expired:         {"It has expired.", "已过期。"},
	HiddenByLabel:   {"The agent may not see it: its label or namespace is above the agent.", "该代理无权看到：标签或命名空间超出其权限。"},
	NotAsked:        {"It is stored; no turn was found in which it could have come up.", "已存储；没有找到本应用到它的对话轮次。"},
	TooLate:         {"It was stored after the prompt was made.", "它是在提示词生成之后才存储的。"},
	NotRead:         {"The turn did not read it, though a search finds it: memory was not asked, or did not answer.", "搜索能找到，但那一轮没有读到：没有查询记忆，或记忆没有回应。"},
	NoMatch:         {"A search for what was asked does not find it.", "按当时的问题搜索，找不到它。"},
	RankedOut:       {"Others fitted better and took the places.", "其他内容更匹配，占满了名额。"},
	NoPrompt:        {"It was read, but the run made no prompt of it.", "已读取，但那次运行没有生成提示词。"},
	DroppedByBudget: {"It was read, but the prompt had no room for it.", "已读取，但提示词里放不下。"},
	LeftOut:         {"It was read, but left out of the prompt.", "已读取，但没有放进提示词。"},
	InPrompt:        {"It was in the prompt: the model was told.", "它在提示词里：模型已经被告知。"},
	Found:           {"A search finds it; no threads were given to look into.", "搜索能找到；没有提供可查看的线程。"},
}
