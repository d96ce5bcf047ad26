// Package openaitest has a local model provider for tests: an endpoint that speaks OpenAI's chat completions over HTTP, with
// answers that the test writes, and with the faults of real endpoints.
//
//	p := openaitest.New(openaitest.Config{Replies: []openaitest.Reply{
//		{Error: openaitest.RateLimited("2")},
//		{Calls: []openaitest.Call{{ID: "c1", Name: "track", Args: `{"parcel":"P-7"}`}}},
//		{Text: "It is in Lyon."},
//	}})
//	defer p.Close()
//	model, err := openai.New(openai.Options{BaseURL: p.URL, Model: "test"})
//
// # Strict
//
// The provider refuses with status 400 what any known provider refuses: a call without its result or a result without its
// call, ids that are there twice, ids of more than 40 letters and digits, empty contents, a conversation that the assistant
// begins or ends, a message of the system behind others, arguments that are no JSON object, names of tools that are no names,
// tools whose schema is not that of an object, descriptions of more than 1024 characters, more than 128 tools. So a test that
// passes has sent nothing that is refused in production. The rules are checked on the JSON that arrived, and by code of their
// own.
//
// # Faults
//
// A Reply may be an Error instead of an answer, may break off with an error event, or may be Cut at any byte, hard as by a
// network or clean as by a proxy. Its Style says how the answer is written into the stream: pieces of any length, even inside
// a character, calls in turns or whole, all at one index, without ids.
//
// # Vectors
//
// It also makes embeddings: of words, by a hash, so that texts which share words are near each other. See Vector.
package openaitest
