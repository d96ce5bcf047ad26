// Package knowledge keeps what the documents of a company say (RAG).
//
// # The nouns
//
// A [Document] has an id, a version, the day from which it binds, and the roles that may read it. The index pipeline, [Store.Index], cuts it into
// chunks and swaps its version in one step; nothing else changes documents, and no user's words get here. A [Reader] is who asks: a tenant and
// roles. [Store.Retrieve] returns an [Answer]: the chunks that fit, how much of each [Aspect] of the question they cover, and whether that is enough.
// Where it is not the answer is a refusal: the documents do not say.
//
//	store, err := sqlite.Open("app.db", sqlite.Options{})
//	err = store.Index(ctx, "acme", knowledge.Document{ID: "travel", Version: "7", Text: text, Roles: []string{"staff"}})
//	reader, err := knowledge.NewReader("acme", roles...) // from the authenticated request
//	answer, err := store.Retrieve(ctx, reader, knowledge.Query{Text: "How much may a hotel cost?"})
//
// [Relation] rows are optional facts of a graph, such as which service depends on which; [Store.Paths] answers questions over several hops and shows
// the path. With [Options].Hops Retrieve tells paths too, where a question asks for them; without it never looks for any.
//
// # What holds
//
// Chunks that the same roles may read are in one shelf of the index, and a reader's roles pick shelves, so what somebody may not read is not read, and
// moves no score. A version takes over in one transaction, or by itself when its day comes: each read finds one version of a document, whole. Index,
// Withdraw and Relate may be repeated; one that was cut off has left everything as it was.
//
// # Refusals
//
// Whether an answer is enough is decided by words, offline, in Chinese and English: what the question is about must be in one chunk, rare words counting
// more; what it asks of that, such as a deadline or who approves, must be in one or two sentences of it, in these or other words that a small lexicon
// knows, and so must be the form of the answer, such as an amount or a time. Words that neither the documents nor the lexicon know are held against an
// answer, unless the question has all of the heading above it. So headings that name things help, and so does an embedder with [Options].Sure. Measure
// your own questions with [Curve] to choose [Options].Floor.
//
// The text of documents is data: it is not searched for instructions to a model. Tell it as memory/working does, quoted.
package knowledge
