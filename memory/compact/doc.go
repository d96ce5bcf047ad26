// Package compact keeps the history of a conversation below a token budget without losing what was said.
//
// # The nouns
//
// A [State] is the working copy of a history and the summary of what was taken out of it. A [Compactor] makes a smaller
// State of it, in layers: an [Excerpt] instead of each long tool result, then the oldest rounds into the summary. A
// [Summarizer] is a model that writes summaries; without one they are what rules find. A [Report] says what was done and
// why it ended. What is replaced or taken out is stored in full before, as a memory.Result; [Fetch] reads and searches it.
//
//	c, err := compact.New(counter, results, compact.Options{Budget: 12_000})
//	// after the reply:
//	state, report, err = c.Compact(ctx, scope, conversation, state)
//	// what the model's tool for reading results calls:
//	page, err := compact.Fetch(ctx, counter, results, scope, query)
//
// # What stays
//
// System messages, the latest user message and open calls with their groups stay word for word, the latest rounds as far as
// they fit. A history is cut only between its groups, so a valid history stays valid. Pins are not part of a history and
// nothing here can touch them.
//
// # The summary
//
// Its text has facts, one a line with who said it: sentences in Chinese and English that name ids, codes, numbers, services,
// environments, decisions, limits or people. Of two values of the same thing the later stays, but what the assistant says
// never replaces what the user or a tool has said. Then comes what a Summarizer wrote, then one line with the id of an index
// that leads to the full text of all that was taken out. Facts are kept as they were first said, and weighed by their words
// alone, so summaries of summaries do not drift. The whole never has more than Options.SummaryCap tokens, whatever a model
// returns.
//
// # Caveats
//
// A summary is a selection: what did not fit is only found through its index. A fact that is false is kept as it was said.
// The rules know Chinese and English; of other languages they keep sentences with ids, numbers and names. Role tags and
// orders to the model are taken out of what a Summarizer wrote, as far as patterns know them; the summary has to be quoted
// as data in a prompt all the same, which memory/working does. Pictures and the signatures of reasoning are not archived.
// An index is read and written anew for each chunk: at most 64 lines.
package compact
