package knowledge

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/memory/search"
)

// A Chunk is a part of a document.
type Chunk struct {
	ID        string    `json:"id"` // of the chunk: the same text cut in the same way has the same
	Document  string    `json:"document"`
	Version   string    `json:"version"`
	Title     string    `json:"title"` // of the document and the headings above the chunk
	Text      string    `json:"text"`
	Effective time.Time `json:"effective,omitzero"`
	Subject   string    `json:"subject,omitzero"` // the subject of its document that the question is about, or the first
	Source    string    `json:"source,omitzero"`
	Score     float64   `json:"score"`
	Coverage  float64   `json:"coverage"` // of the aspect that it covers best, 0 to 1
	Terms     []string  `json:"terms"`    // of the question that it has
}

// A part is what a row keeps of a chunk, besides its place.
type part struct {
	ID        string    `json:"id"`
	Title     string    `json:"title,omitzero"`
	Text      string    `json:"text"`
	Effective time.Time `json:"effective,omitzero"`
	Subjects  []string  `json:"subjects,omitzero"`
	Source    string    `json:"source,omitzero"`
}

// parts cuts a document.
func (d Document) parts(o Options) []part {
	var out []part
	under := sections(d.Text)
	if len(under) == 0 { // marks alone
		under = []section{{blocks: []block{{paragraph, strings.TrimSpace(d.Text)}}}}
	}
	for _, s := range under {
		path := s.path
		if d.Title != "" && (len(path) == 0 || path[0] != d.Title) {
			path = slices.Concat([]string{d.Title}, path)
		}
		for _, text := range s.cut(o.ChunkTokens, o.Count) {
			out = append(out, part{
				ID: fmt.Sprintf("%s@%s#%d", idText.Replace(d.ID), idText.Replace(d.Version), len(out)+1), Title: strings.Join(path, " "+headings+" "), Text: text,
				Effective: d.Effective, Subjects: d.Subjects, Source: d.Source,
			})
		}
	}
	return out
}

// headings is between those of a path.
const headings = ">"

// idText keeps two documents from having chunks of one id.
var idText = strings.NewReplacer("%", "%25", "@", "%40", "#", "%23")

// searched is the text by which a chunk is found: also by what stands over it, and by what its document rules.
func (p part) searched() string {
	return strings.Join(append([]string{p.Title, p.Text}, p.Subjects...), "\n")
}

// doc is a chunk in the index. Removing it takes the same again.
func (c ChunkRow) doc(p part) search.Doc {
	return search.Doc{No: c.No, Text: p.searched(), Group: c.Document + "\x00" + c.Version}
}

func (p part) encode() []byte {
	body, err := json.Marshal(p)
	if err != nil {
		panic(err) // strings and a time
	}
	return body
}

func (c ChunkRow) part() (part, error) {
	var p part
	if err := json.Unmarshal(c.Body, &p); err != nil {
		return p, fmt.Errorf("%w: chunk %d of document %q: %w", ErrCorrupt, c.No, c.Document, err)
	}
	return p, nil
}
