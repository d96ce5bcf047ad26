package openaitest_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/nodes/openaitest"
)

// start returns a running provider.
func start(t *testing.T, c openaitest.Config) *openaitest.Provider {
	p := openaitest.New(c)
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		p.Close()
	})
	return p
}

// post sends a body and returns the status and what came back.
func post(t *testing.T, p *openaitest.Provider, doc string) (int, string) {
	t.Helper()
	resp, err := http.Post(p.URL+"/chat/completions", "application/json", strings.NewReader(doc))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	back, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(back)
}

const (
	user   = `{"role":"user","content":"Hi"}`
	called = `{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	result = `{"role":"tool","tool_call_id":"c1","content":"ok"}`
	tool   = `{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}`
)

func asked(messages ...string) string {
	return `{"model":"m","messages":[` + strings.Join(messages, ",") + `]}`
}

func with(fields string) string { return `{"model":"m","messages":[` + user + `],` + fields + `}` }

// change makes a body with one thing in it replaced.
func change(doc, old, new string) string { return strings.Replace(doc, old, new, 1) }

// Each rule is broken once, and nothing else is.
func TestStrict(t *testing.T) {
	t.Parallel()
	whole := asked(user, called, result)
	said := `{"role":"assistant","content":"Yes"}`
	for name, c := range map[string]struct{ doc, says string }{
		"valid":         {whole, ""},
		"valid, more":   {asked(`{"role":"system","content":"Be."}`, user, called, result, said, user), ""},
		"valid, images": {asked(`{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}`), ""},
		"valid, tools":  {with(`"tools":[` + tool + `],"tool_choice":"none","max_tokens":5,"temperature":0`), ""},
		"valid, stream": {with(`"stream":true,"stream_options":{"include_usage":true}`), ""},
		"valid, output": {with(`"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{"type":"object"}}}`), ""},
		"valid, again":  {asked(user, called, result, change(called, "c1", "c2"), change(result, "c1", "c2")), ""},
		"no JSON":       {"{", "could not parse"},
		"no UTF-8":      {asked("{\"role\":\"user\",\"content\":\"\xff\"}"), "not UTF-8"},
		"no model":      {`{"messages":[` + user + `]}`, "model"},
		"no messages":   {asked(), "too short"},
		"no result":     {asked(user, called), "must be followed by"},
		"one result of two": {asked(user, change(called, `}}]`, `}},{"id":"c2","type":"function","function":{"name":"f","arguments":"{}"}}]`), result),
			"must be followed by"},
		"result too late":        {asked(user, called, user, result), "must be followed by"},
		"answer before result":   {asked(user, called, said, result), "must be followed by"},
		"no call":                {asked(user, result), "must be a response"},
		"result of another call": {asked(user, called, result, change(result, "c1", "c2")), "must be a response"},
		"two results":            {asked(user, called, result, result), "must be a response"},
		"no call id":             {change(whole, `"id":"c1"`, `"id":""`), "no id"},
		"no result id":           {asked(user, called, result, change(result, `"tool_call_id":"c1",`, "")), "tool_call_id is missing"},
		"id twice":               {asked(user, called, result, called, result), "there twice"},
		"id twice in a message": {asked(user, change(called, `}}]`, `}},{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]`), result),
			"there twice"},
		"call of no type":           {change(whole, `"type":"function",`, ""), "is of type"},
		"call of no name":           {change(whole, `"name":"f"`, `"name":"f g"`), "does not match"},
		"arguments are an array":    {change(whole, `"{}"`, `"[]"`), "no JSON object"},
		"arguments are cut":         {change(whole, `"{}"`, `"{"`), "no JSON object"},
		"no arguments":              {change(whole, `"{}"`, `""`), "no JSON object"},
		"arguments and more":        {change(whole, `"{}"`, `"{} {}"`), "no JSON object"},
		"arguments are null":        {change(whole, `"{}"`, `"null"`), "no JSON object"},
		"empty list of calls":       {asked(user, `{"role":"assistant","content":"Yes","tool_calls":[]}`, user), "empty array"},
		"user calls":                {asked(change(called, "assistant", "user"), result), "only the assistant"},
		"empty text":                {asked(`{"role":"user","content":""}`), "is empty"},
		"blank text":                {asked(`{"role":"user","content":" \n"}`), "is empty"},
		"blank part":                {asked(`{"role":"user","content":[{"type":"text","text":""}]}`), "is empty"},
		"no parts":                  {asked(`{"role":"user","content":[]}`), "empty array"},
		"no content":                {asked(user, `{"role":"assistant"}`, user), "content is missing"},
		"no content of a system":    {asked(`{"role":"system"}`, user), "content is missing"},
		"empty content of a result": {asked(user, called, change(result, "ok", "")), "is empty"},
		"empty text beside calls":   {asked(user, change(called, "null", `""`), result), "is empty"},
		"content is a number":       {asked(`{"role":"user","content":1}`), "neither a string nor"},
		"unknown part":              {asked(`{"role":"user","content":[{"type":"smell"}]}`), "is not known"},
		"unknown role":              {asked(user, `{"role":"wizard","content":"Hi"}`), "is not known"},
		"assistant begins":          {asked(said, user), "must be from the user"},
		"assistant ends":            {asked(user, said), "must not be from the assistant"},
		"image of a file":           {asked(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"file:///a.png"}}]}`), "neither an address"},
		"image is no base64":        {asked(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,!"}}]}`), "neither an address"},
		"image in a result":         {asked(user, called, change(result, `"ok"`, `[{"type":"image_url","image_url":{"url":"https://a.b/c.png"}}]`)), "only the user shows"},
		"system in the middle":      {asked(user, `{"role":"system","content":"Be."}`, user), "at the beginning"},
		"odd call id":               {strings.ReplaceAll(whole, "c1", "c:1"), "does not match"},
		"long call id":              {strings.ReplaceAll(whole, "c1", strings.Repeat("c", 41)), "does not match"},
		"long description":          {with(`"tools":[` + change(tool, `"f"`, `"f","description":"`+strings.Repeat("é", 1025)+`"`) + `]`), "1024 characters"},
		"many tools":                {with(`"tools":[` + strings.Repeat(tool+",", 128) + tool + `]`), "at most 128"},
		"no tools":                  {with(`"tools":[]`), "empty array"},
		"tool of no type":           {with(`"tools":[` + change(tool, `"type":"function",`, "") + `]`), "not 'function'"},
		"name of a tool":            {with(`"tools":[` + change(tool, `"f"`, `"f.g"`) + `]`), "does not match"},
		"long name of a tool":       {with(`"tools":[` + change(tool, `"f"`, `"`+strings.Repeat("f", 65)+`"`) + `]`), "does not match"},
		"tool twice":                {with(`"tools":[` + tool + "," + tool + `]`), "there twice"},
		"tool without schema":       {with(`"tools":[{"type":"function","function":{"name":"f"}}]`), "type object"},
		"schema of an array":        {with(`"tools":[` + change(tool, "object", "array") + `]`), "type object"},
		"choice without tools":      {with(`"tool_choice":"none"`), "only allowed when tools"},
		"two limits":                {with(`"max_tokens":1,"max_completion_tokens":1`), "cannot both"},
		"options without stream":    {with(`"stream_options":{"include_usage":true}`), "only allowed when stream"},
		"output without name":       {with(`"response_format":{"type":"json_schema","json_schema":{"schema":{}}}`), "needs a name"},
		"output without schema":     {with(`"response_format":{"type":"json_schema","json_schema":{"name":"n"}}`), "needs a name"},
		"unknown output":            {with(`"response_format":{"type":"xml"}`), "is not known"},
		"output without a word":     {with(`"response_format":{"type":"json_object"}`), "the word 'json'"},
	} {
		p := start(t, openaitest.Config{Answer: func(openaitest.Request) openaitest.Reply { return openaitest.Reply{Text: "Yes."} }})
		status, back := post(t, p, c.doc)
		if c.says == "" && (status != 200 || len(p.Refused()) > 0 || len(p.Requests()) != 1) {
			t.Errorf("%s: %d %s", name, status, back)
		}
		if c.says != "" && (status != 400 || !strings.Contains(back, c.says) || len(p.Refused()) != 1 || len(p.Requests()) > 0) {
			t.Errorf("%s: %d %s", name, status, back)
		}
	}
}

func TestLimit(t *testing.T) {
	t.Parallel()
	p := start(t, openaitest.Config{Replies: []openaitest.Reply{{Text: "Yes."}}, Limit: 100})
	if status, back := post(t, p, asked(change(user, "Hi", strings.Repeat("word ", 500)))); status != 400 ||
		!strings.Contains(back, "context_length_exceeded") || !strings.Contains(back, "is 100 tokens") {
		t.Error(status, back)
	}
	if status, back := post(t, p, asked(user)); status != 200 {
		t.Error(status, back)
	}
	if r := p.Requests(); len(r) != 2 || r[0].Tokens() <= 100 || r[1].Tokens() > 100 {
		t.Errorf("requests %+v", r)
	}
}

func TestNotStreamed(t *testing.T) {
	t.Parallel()
	r := openaitest.Reply{Text: "é\n", Reasoning: "Hm.", Calls: []openaitest.Call{{ID: "c1", Name: "f", Args: `{"a":"\""}`}},
		Usage: &openaitest.Usage{Input: 5, Cached: 4, Output: 3, Reasoning: 2}}
	p := start(t, openaitest.Config{Replies: []openaitest.Reply{r}})
	_, back := post(t, p, asked(user))
	want := `{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant",` +
		`"content":"é\u000a","reasoning_content":"Hm.","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":` +
		`"{\"a\":\"\\\"\"}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":5,"completion_tokens":3,"total_tokens":8,` +
		`"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":2}}}`
	if back != want || !json.Valid([]byte(back)) {
		t.Errorf("got  %s\nwant %s", back, want)
	}
	if status, back := post(t, p, asked(user)); status != 500 || !strings.Contains(back, "no reply left") {
		t.Error(status, back)
	}
}

func TestRoutes(t *testing.T) {
	t.Parallel()
	p := start(t, openaitest.Config{APIKey: "k"})
	get := func(path, key string) int {
		q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		q.Header.Set("Authorization", "Bearer "+key)
		resp, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	if a, b, c := get("/models", "k"), get("/models", "x"), get("/chat/completions", "k"); a != 200 || b != 401 || c != 404 {
		t.Error(a, b, c)
	}
}
