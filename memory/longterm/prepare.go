package longterm

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"github.com/holdfast-go/holdfast/memory"
	"github.com/holdfast-go/holdfast/memory/guard"
)

// A prepared draft has passed every check that needs no store, so that no transaction waits for them.
type prepared struct {
	Draft
	hash     string
	redacted bool
	quoted   bool   // Words are a text of their own
	exact    bool   // a document: only its key says what it is about
	dropped  Reason // why it is not kept, if it is not
	span     Span   // of Words in its source
}

// prepare returns a draft as it will be kept, or what is wrong with it.
func (s *Store) prepare(sc memory.Scope, a memory.Agent, d Draft) (*prepared, error) {
	if d.Namespace == "" {
		d.Namespace = a.Namespaces()[0]
	}
	if d.Confidence == 0 {
		d.Confidence = 1
	}
	if err := check(d); err != nil {
		return nil, err
	}
	if !a.May(d.Label, d.Namespace) {
		return nil, fmt.Errorf("%w: %s in %.80q", ErrDenied, d.Label, d.Namespace)
	}
	d.Source.At, d.From, d.Expires = moment(d.Source.At), moment(d.From), moment(d.Expires)
	d.Depends = slices.Clone(d.Depends)
	p := &prepared{Draft: d, exact: d.Key != "" && d.Value != nil}
	if err := p.clean(); err != nil {
		return nil, err
	}
	p.quoted = p.Words != "" && p.Words != p.Text
	if p.Words == "" {
		p.Words = p.Text
	}
	p.hash = hash(sc, p.Namespace, p.Draft)
	if p.dropped == "" && p.Confidence < s.o.Confidence {
		p.dropped = Unsure
	}
	return p, s.fits(p)
}

// fits is ErrTooLarge for what is too long to be an item.
func (s *Store) fits(p *prepared) error {
	r := record{Item: Item{Key: p.Key, Text: p.Text, Words: p.Words, Value: p.Value, Meta: p.Meta, Depends: p.Depends}}
	row, err := r.row()
	if err != nil {
		return err
	}
	return within("bytes of an item", len(row.Body), s.o.ItemBytes)
}

func check(d Draft) error {
	var errs []error
	bad := func(wrong bool, format string, args ...any) {
		if wrong {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	bad(strings.TrimSpace(d.Text) == "" && !d.Ends, "it has no text")
	bad(!slices.Contains(kinds, d.Kind) && !d.Ends, "kind %.40q is none", d.Kind)
	bad(d.Origin != FromUser && d.Origin != FromTool && d.Origin != Inferred, "origin %.40q is none", d.Origin)
	bad(d.Ends && d.Key == "" && d.Replaces == "", "what it withdraws has neither Key nor Replaces")
	bad(d.Ends && d.Origin == Inferred, "what was inferred withdraws nothing")
	bad(!within01(d.Confidence) || math.IsNaN(d.Confidence), "confidence %v does not go from 0 to 1", d.Confidence)
	bad(d.Value != nil && !json.Valid(d.Value), "its value is no JSON")
	bad(d.Key != "" && !goodName(d.Key), "its key needs at most %d bytes of text", memory.MaxName)
	errs = append(errs, checkSource(d.Source))
	for _, id := range d.Depends {
		bad(!goodName(id), "it depends on the id %.80q", id)
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("%w: %w", ErrDraft, err)
	}
	return nil
}

func checkSource(s Source) error {
	if !goodName(s.Conversation) || !goodName(s.Message) || s.Call != "" && !goodName(s.Call) {
		return fmt.Errorf("its source is message %.80q of conversation %.80q, call %.80q; ids have 1 to %d bytes of text",
			s.Message, s.Conversation, s.Call, memory.MaxName)
	}
	return nil
}

// clean blots secrets out of a draft, and drops one that holds nothing else, or an instruction.
func (p *prepared) clean() error {
	p.Text, p.Words = tidy(p.Text), tidy(p.Words)
	for _, text := range []string{p.Text, p.Words, p.Key} {
		if len(guard.Planted(text)) > 0 {
			p.dropped = Instruction
		}
	}
	value, redacted, planted, err := cleanJSON(p.Value)
	if err != nil {
		return fmt.Errorf("%w: its value: %w", ErrDraft, err)
	}
	p.Value = value
	meta := map[string]string{}
	for name, text := range p.Meta {
		clean, was := cleanPair(tidy(name), tidy(text))
		name, wasName := guard.Redact(tidy(name))
		meta[name] = clean
		redacted = redacted || was || wasName
		planted = planted || len(guard.Planted(text)) > 0 || len(guard.Planted(name)) > 0
	}
	if len(p.Meta) > 0 {
		p.Meta = meta
	}
	if planted {
		p.dropped = Instruction
	}
	p.redacted = redacted
	for _, text := range []*string{&p.Text, &p.Words, &p.Key} {
		clean, was := guard.Redact(*text)
		*text = clean
		p.redacted = p.redacted || was
	}
	if p.redacted && p.dropped == "" && !p.Ends && bare(p.Text) {
		p.dropped = Secret
	}
	return nil
}

// moment is a time as it is kept.
func moment(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Microsecond)
}

// tidy is a text that can be stored and shown anywhere: valid UTF-8, no control characters but line breaks and tabs.
func tidy(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD")))
}

// fold is a text without the differences of width and case.
func fold(text string) string { return strings.ToLower(norm.NFKC.String(text)) }
