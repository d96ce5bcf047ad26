// Package working assembles the messages of one model call under a token budget. It keeps nothing.
//
// # The nouns
//
// An [Input] is all that a call may be told: rules, tools, session state, pins, a summary, the history, notes and recalled
// items. A [Profile] says how many tokens the model takes and how they are shared out; [Default], [Answers], [Assistant],
// [Operations] and [LongTask] are ready to use or to change. An [Assembler] makes a [Prompt] of both: the messages to send and
// a [Manifest], which names each thing that was kept, shortened or dropped, and why. A [Counter] counts.
//
//	a, err := working.New(working.Default(), working.Estimate)
//	prompt, err := a.Assemble(working.Input{
//		System:  []string{"You answer questions about orders."},
//		State:   "order: 4711 (the user confirmed it)",
//		History: []message.Message{message.User("Where is it?")},
//	})
//	send(prompt.Messages, prompt.Tools)
//	log.Println(prompt.Manifest)
//
// # What a prompt looks like
//
// One system message: the rules, then what changes behind them, session state and pins. Then the recent messages as they
// were said, the question, which is the latest user message, and the steps of this turn. What is data, that is the summary,
// the notes and the recalled items, stands quoted in front of the text of a user message, each with its source and id.
// Rules and tools are the same bytes in each call, so a provider can keep them in its cache; Manifest.Prefix tells.
//
// # Rules
//
//   - Rules, tools, state, pins and the question are the hard zone: no soft content takes a byte of it. If it has no room,
//     Assemble returns a [BudgetError] and there is nothing to send.
//   - A question that does not fit beside the rest of the hard zone is cut to its head and tail, with a line that says what
//     is missing. So are the results of the latest step; older results are excerpts in any case.
//   - Each part has a cap. What one leaves over goes to the next: recent messages, steps of this turn, then the recalled
//     items in the order of the profile.
//   - Messages are dropped in whole rounds, the oldest first. A call never loses its result.
//   - Items of all sources are ranked together by their places, not by their scores. Of two with equal origin and text one is
//     told. A document about the subject of a preference is marked as binding, and without it the preference is not told.
//   - Nothing in data can pose as a line of the prompt: see [Item].
//
// # Caveats
//
// The history must be valid: call message.Repair before. Its system messages move into the one at the start. A text that is
// cut loses its middle; whoever wants a better excerpt makes one before, as memory/compact does. State and pins are told as
// they are given, with the authority of the system: render them so that no value poses as a line. A prompt shares the parts of
// the history's messages: read it, do not write it. The messages of a prompt are no history: do not store them.
package working
