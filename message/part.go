package message

import "slices"

// A Kind says what a part is.
type Kind string

// The kinds of parts. There are no others.
const (
	KindText      Kind = "text"
	KindImage     Kind = "image"
	KindReasoning Kind = "reasoning"
	KindCall      Kind = "call"
	KindResult    Kind = "result"
)

// A Part is one piece of a message. Kind says which of the other fields count; the rest are zero.
type Part struct {
	Kind Kind   `json:"kind" enum:"text,image,reasoning,call,result"`
	Text string `json:"text,omitzero" description:"of a text or of reasoning"`

	// Signature belongs to reasoning. It is opaque: the provider that made it wants it back unchanged.
	Signature string  `json:"signature,omitzero" description:"of reasoning, opaque"`
	Image     *Image  `json:"image,omitzero"`
	Call      *Call   `json:"call,omitzero"`
	Result    *Result `json:"result,omitzero"`
}

// An Image is a picture, by its address or by its bytes; one of them is set.
type Image struct {
	URL       string `json:"url,omitzero"`
	MediaType string `json:"media_type,omitzero" description:"of the bytes, such as image/png"`
	Data      []byte `json:"data,omitzero"`
}

// Text returns a text part.
func Text(text string) Part { return Part{Kind: KindText, Text: text} }

// Reasoning returns what a model thought before it answered. The signature may be empty.
func Reasoning(text, signature string) Part {
	return Part{Kind: KindReasoning, Text: text, Signature: signature}
}

// ImageURL returns a picture that the provider fetches itself.
func ImageURL(url string) Part { return Part{Kind: KindImage, Image: &Image{URL: url}} }

// ImageData returns a picture by its bytes, which are not copied. The media type is one such as "image/png".
func ImageData(mediaType string, data []byte) Part {
	return Part{Kind: KindImage, Image: &Image{MediaType: mediaType, Data: data}}
}

func (p Part) clone() Part {
	if p.Image != nil {
		image := *p.Image
		image.Data = slices.Clone(image.Data)
		p.Image = &image
	}
	if p.Call != nil {
		call := *p.Call
		p.Call = &call
	}
	if p.Result != nil {
		result := *p.Result
		result.Parts = cloneParts(result.Parts)
		p.Result = &result
	}
	return p
}
