package longterm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/holdfast-go/holdfast/memory/guard"
)

// blot is what guard.Redact leaves of a secret, and named the words that announce one.
var (
	blot  = regexp.MustCompile(`\[redacted[^\]]*\]`)
	named = regexp.MustCompile(`(?i)\b(?:my|the|our|is|are|it|its|a|an|api|key|keys|access|secret|token|bearer|authorization|password|passwd|pwd|passphrase|pin|code|` +
		`credential|credentials|login|private|card|number|user|account|for|to|use|here|this|and|with|in|of)\b|` +
		`我的?|你的?|用户的?|密码|口令|密钥|私钥|令牌|验证码|卡号|信用卡|银行卡|账号|登录|是|为|的|这|个|在|叫|做`)
)

// bare reports whether a text from which secrets were blotted out says nothing else.
func bare(text string) bool {
	rest := named.ReplaceAllLiteralString(blot.ReplaceAllLiteralString(text, " "), " ")
	return !strings.ContainsFunc(rest, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// cleanPair blots secrets out of a value that its name may give away.
func cleanPair(name, value string) (string, bool) {
	value, was := guard.Redact(value)
	if named, ok := guard.Redact(name + ": " + value); ok && !was && name != "" {
		if rest, ok := strings.CutPrefix(named, name+": "); ok {
			return rest, true
		}
		return "[redacted]", true
	}
	return value, was
}

// cleanJSON blots secrets out of the strings of a document, and reports whether there were some, and instructions. A document without
// stays as it was, but for spaces.
func cleanJSON(doc json.RawMessage) (clean json.RawMessage, redacted, planted bool, err error) {
	if doc == nil {
		return nil, false, false, nil
	}
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, false, false, err
	}
	w := &washer{}
	v = w.wash("", v)
	var out bytes.Buffer
	if !w.redacted {
		err = json.Compact(&out, doc)
		return out.Bytes(), false, w.planted, err
	}
	clean, err = json.Marshal(v)
	return clean, true, w.planted, err
}

// A washer goes through a JSON document.
type washer struct{ redacted, planted bool }

func (w *washer) wash(name string, v any) any {
	switch v := v.(type) {
	case string:
		return w.text(name, v)
	case json.Number:
		if clean := w.text(name, v.String()); clean != v.String() {
			return clean
		}
	case []any:
		for i := range v {
			v[i] = w.wash(name, v[i])
		}
	case map[string]any:
		out := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			clean := w.text("", name)
			for i := 2; ; i++ { // two names that were blotted out are still two
				if _, taken := out[clean]; !taken {
					break
				}
				clean = fmt.Sprintf("%s %d", w.text("", name), i)
			}
			out[clean] = w.wash(name, v[name])
		}
		return out
	}
	return v
}

func (w *washer) text(name, text string) string {
	w.planted = w.planted || len(guard.Planted(text)) > 0
	clean, was := cleanPair(name, text)
	w.redacted = w.redacted || was
	return clean
}
