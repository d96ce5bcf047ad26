// Package longterm keeps what one user told us, across conversations.
//
// # The nouns
//
// An [Item] is one version of one fact: a conclusion, the words that said it, who said it, since when it holds. Items are
// appended: of a stored one the text never changes, only how long it holds, who else has said it, and whether it is in doubt. A
// [Draft] is what becomes an item, if the [Store] finds it worth keeping; an [Outcome] says what became of it. An [Exchange] is
// what was said in one turn: Remember takes it into a durable outbox, [Store.Work] has an [Extractor] make drafts of it, later
// and as often as it takes. A [Hit] is an item that was found, and why.
//
//	store, err := sqlite.Open("memory.db", longterm.Options{Rules: extract.Rules()})
//	err = store.Remember(ctx, user, agent, longterm.Exchange{Conversation: "c-1", Messages: said})
//	hits, err := store.Search(ctx, user, agent, longterm.Query{Text: "how should I format the report?"})
//
// # What holds
//
// Every call names a [memory.Scope] and a [memory.Agent]; what another user has, or lies in a namespace or under a label that the
// agent may not see, is never read. What a user said and what a tool has verified becomes a fact; what a model inferred waits until
// somebody confirms it. A later fact about the same subject supersedes the one before, which stays readable with its history.
// Secrets and planted instructions are kept out, and kept back where they are found in what was stored before.
package longterm
