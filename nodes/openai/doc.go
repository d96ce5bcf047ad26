// Package openai has a nodes.Model for every endpoint that speaks OpenAI's chat completions: OpenAI, DeepSeek, Qwen, Moonshot,
// vLLM, Ollama, llama.cpp, gateways. It uses the official client github.com/openai/openai-go.
//
//	model, err := openai.New(openai.Options{BaseURL: "https://api.deepseek.com/v1", APIKey: key, Model: "deepseek-chat"})
//	answer, err := model.Generate(ctx, nodes.Request{Messages: history}, nil)
//
// # What is sent
//
//   - Texts of one message are joined by line breaks, since many endpoints take strings only. A message of the user that has
//     images is sent in its parts. Images go by their address, or as data: URLs.
//   - A result is one message of role tool. What failed begins with its status in brackets, "[denied] ...", since this protocol
//     has no flag for it; a result without a word is "(no output)". Tools cannot show images here, so these follow in a
//     message of the user after the last result, and the result says so.
//   - Ids, names, arguments, and schemas go as they are.
//   - Reasoning goes back only if Options.SendReasoning says so. A message that is nothing but reasoning is not sent.
//   - Request.NoCalls is tool_choice "none". Request.Output is a response_format: json_schema, or json_object and the schema in
//     the instructions if Options.PlainJSON says so.
//
// # What is read
//
// It always streams. An answer is complete when a finish_reason and the line [DONE] have arrived, whatever the connection says;
// anything less is KindCut, and so is an answer that ended to call tools without a call. Deltas of calls are put together by
// their index. A new id at a known index is a new call, as some endpoints number all calls 0. A character that was split between
// two deltas is put together too. Reasoning is read from reasoning_content or reasoning.
//
// An answer that ended for its length is a success with StopLength, except if that was within the arguments of a call, which
// must not run: that is KindCut too, with the code "length". An answer of nothing but white space is KindEmpty.
//
// It does not retry. The errors say whether a retry is worth it, and package nodes does it.
package openai
