// Package tiktoken counts tokens exactly as OpenAI's models do, by the vocabularies o200k and cl100k.
//
// [O200k] is right for GPT-4o and what came after it, [CL100k] for GPT-4 and GPT-3.5. For a model of another provider its counts are no
// better than working.Estimate; there, correct either one by what the provider reports (working.Correction).
//
//	counter := working.Cached(tiktoken.O200k(), 10_000)
//	n := working.CountRequest(counter, messages, tools)
//
// # Caveats
//
// The vocabularies are part of this package: each one that is used adds about 6 MB (o200k) or 3 MB (cl100k) to the program, and the first
// count takes the time to build it in memory. That is why they are in a package of their own. Counting reads a few megabytes a second,
// working.Estimate a hundred times more, so count through working.Cached.
package tiktoken
