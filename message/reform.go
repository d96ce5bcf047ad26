package message

import (
	"slices"
	"strings"
)

// inResult lists the parts that a result may have.
var inResult = []Kind{KindText, KindImage}

// fault returns what is wrong with a message alone, and the rule, or no reason.
func fault(m Message) (Rule, string) {
	if err := checkForm(m); err != nil {
		return RuleForm, strings.TrimPrefix(err.Error(), "message: ")
	}
	return RuleEmpty, emptyPart(m)
}

// reform returns a message that has no fault, unless nothing is left or a result stands outside a tool's message. It also
// returns what it dropped.
func reform(m Message) (Message, []Part) {
	role := roleOf(m)
	parts, dropped := reformParts(m.Parts, append([]Kind{KindResult}, allowed[role]...))
	return Message{ID: validText(m.ID), Role: role, Parts: parts, Partial: m.Partial && role == RoleAssistant}, dropped
}

// roleOf guesses a role that is none: calls are of the assistant, nothing but results is of a tool. The rest is of the user,
// who has less to say about how the model behaves than the system has.
func roleOf(m Message) Role {
	if _, ok := allowed[m.Role]; ok {
		return m.Role
	}
	role := RoleUser
	for i, p := range split(m.Parts) {
		switch {
		case p.Kind == KindCall || p.Kind == KindReasoning:
			return RoleAssistant
		case p.Kind == KindResult && i == 0:
			role = RoleTool
		case p.Kind != KindResult:
			role = RoleUser
		}
	}
	return role
}

// split makes a part of each thing that a part holds, whatever it says it is, and none of what holds nothing.
func split(parts []Part) []Part {
	var made []Part
	for _, p := range parts {
		switch {
		case p.Kind == KindReasoning && p.Text+p.Signature != "":
			made = append(made, Reasoning(p.Text, p.Signature))
		case !blank(p.Text):
			made = append(made, Text(p.Text))
		}
		if p.Image != nil {
			made = append(made, Part{Kind: KindImage, Image: p.Image})
		}
		if p.Call != nil {
			made = append(made, Part{Kind: KindCall, Call: p.Call})
		}
		if p.Result != nil {
			made = append(made, Part{Kind: KindResult, Result: p.Result})
		}
	}
	return made
}

// reformParts returns the parts whose kinds are among those given, well formed, and what it dropped. Text and images that
// have no place go into the result before them.
func reformParts(parts []Part, kinds []Kind) (kept, dropped []Part) {
	for _, p := range split(parts) {
		fits := slices.Contains(kinds, p.Kind)
		last := len(kept) - 1
		if !fits && (last < 0 || kept[last].Kind != KindResult || !slices.Contains(inResult, p.Kind)) {
			dropped = append(dropped, p)
			continue
		}
		made, whole := reformPart(p)
		if !whole {
			dropped = append(dropped, p)
		}
		switch {
		case made.Kind == "":
		case fits:
			kept = append(kept, made)
		default:
			kept[last].Result.Parts = append(kept[last].Result.Parts, made)
		}
	}
	return kept, dropped
}

// reformPart returns what can be kept of a part that holds one thing, and whether that is all of it.
func reformPart(p Part) (Part, bool) {
	switch p.Kind {
	case KindImage:
		return reformImage(*p.Image)
	case KindReasoning:
		if validText(p.Signature) != p.Signature { // its provider would refuse it
			return Part{}, false
		}
		return Reasoning(validText(p.Text), p.Signature), true
	case KindCall:
		c := Call{ID: validText(p.Call.ID), Name: validText(p.Call.Name), Args: validText(p.Call.Args)}
		return Part{Kind: KindCall, Call: &c}, true
	case KindResult:
		r, whole := reformResult(*p.Result)
		return Part{Kind: KindResult, Result: &r}, whole
	}
	return Text(validText(p.Text)), true
}

// reformImage keeps the one way to the picture that is whole. Without any, a text says that there was a picture.
func reformImage(i Image) (Part, bool) {
	switch {
	case i.Data != nil && i.MediaType != "":
		return ImageData(validText(i.MediaType), i.Data), true
	case i.URL != "":
		return ImageURL(validText(i.URL)), i.Data == nil
	}
	return Text("(An image that cannot be shown.)"), false
}

// reformResult takes a status that is none for ok, as providers take the missing flag of an error: the text says how it was.
func reformResult(r Result) (Result, bool) {
	if !slices.Contains(statuses, r.Status) {
		r.Status = StatusOK
	}
	r.CallID, r.Name = validText(r.CallID), validText(r.Name)
	parts, dropped := reformParts(r.Parts, inResult)
	if r.Parts = parts; wordless(r) {
		r.Parts = []Part{Text(endings[r.Status])}
	}
	return r, len(dropped) == 0
}

// validText puts the replacement character where text is no UTF-8.
func validText(text string) string { return strings.ToValidUTF8(text, "\ufffd") }
