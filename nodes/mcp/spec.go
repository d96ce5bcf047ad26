package mcp

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const maxName = 64 // of what providers take

// namesOf gives each tool a name that providers take.
func namesOf(prefix string, tools []*sdk.Tool) []string {
	names := make([]string, len(tools))
	times := map[string]int{}
	for i, t := range tools {
		names[i] = plain(prefix + t.Name)
		times[short(names[i])]++
	}
	for i, t := range tools {
		full := prefix + t.Name
		if names[i] != full && times[short(names[i])] > 1 || len(names[i]) > maxName {
			names[i] = hashed(names[i], full)
		}
	}
	return names
}

func short(name string) string { return name[:min(len(name), maxName)] }

func hashed(name, full string) string {
	sum := sha256.Sum256([]byte(full))
	return name[:min(len(name), maxName-9)] + "_" + hex.EncodeToString(sum[:4])
}

func plain(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, name)
}

// schemaOf is the schema of the arguments, of which texts for people are cleaned.
func schemaOf(t *sdk.Tool) (string, error) {
	doc, err := marshal(t.InputSchema)
	if err != nil {
		return "", fmt.Errorf("%w: the schema of %q: %w", ErrList, clean(t.Name, maxName), err)
	}
	if len(doc) > maxSchema {
		return "", fmt.Errorf("%w: the schema of %q has more than 64 KiB", ErrList, clean(t.Name, maxName))
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return "", fmt.Errorf("%w: the schema of %q: %w", ErrList, clean(t.Name, maxName), err)
	}
	root, ok := ofObject(v)
	if !ok {
		return "", fmt.Errorf("%w: the schema of %q is not that of an object", ErrList, clean(t.Name, maxName))
	}
	tidy(root)
	doc, err = marshal(root)
	return string(doc), err
}

// ofObject says of a schema what the protocol says of all: arguments are an object. Servers leave it out, providers insist on it.
func ofObject(schema any) (map[string]any, bool) {
	root, ok := schema.(map[string]any)
	if schema == nil || schema == true {
		root, ok = map[string]any{}, true
	}
	if !ok {
		return nil, false
	}
	kinds, several := root["type"].([]any)
	if root["type"] == nil || several && slices.Contains(kinds, any("object")) {
		root["type"] = "object"
	}
	return root, root["type"] == "object"
}

// tidy cleans descriptions and titles, and leaves values alone.
func tidy(schema any) {
	switch v := schema.(type) {
	case map[string]any:
		for k, inner := range v {
			text, isText := inner.(string)
			switch k {
			case "description", "title", "$comment":
				if isText {
					v[k] = clean(text, maxInSchema)
					continue
				}
			case "const", "enum", "default", "examples":
				continue
			}
			tidy(inner)
		}
	case []any:
		for _, inner := range v {
			tidy(inner)
		}
	}
}

func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// clean takes out what a person would not see, and cuts to a number of bytes.
func clean(s string, limit int) string {
	s = strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t', r == '\u200c', r == '\u200d': // joiners belong to scripts and emoji
			return r
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD")))
	if len(s) <= limit {
		return s
	}
	end := limit - len("…")
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}
