package knowledge

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Everyone is the role that every reader has.
const Everyone = "everyone"

// A Document is one version of one document. ID, Version, Text and Roles are required.
type Document struct {
	ID      string `json:"id"`
	Version string `json:"version"`
	Title   string `json:"title,omitzero"`
	Text    string `json:"text,omitzero"` // Markdown or plain

	// Effective is the day from which it binds; until then it is not found, and the version before is. Zero: from when it is indexed. Of two
	// versions whose day has come the one with the later day binds, of equal days the one that came later.
	Effective time.Time `json:"effective,omitzero"`

	// Roles may read it. What has the same roles is searched together, and each set of roles that a reader has part in costs a search some
	// 1 ms: name some groups of readers, not every person.
	Roles []string `json:"roles"`

	Subjects []string `json:"subjects,omitzero"` // what it rules: of a document and a preference with equal subject the document binds
	Source   string   `json:"source,omitzero"`   // where people find it, such as a URL
}

// clean returns the document as it is kept, or ErrDocument.
func (d Document) clean(o Options) (Document, error) {
	if err := d.check(); err != nil {
		return d, fmt.Errorf("%w: document %.80q, version %.80q: %w", ErrDocument, d.ID, d.Version, err)
	}
	if len(d.Text) > o.DocumentBytes {
		return d, fmt.Errorf("%w: document %.80q has %d bytes, at most %d", ErrTooLarge, d.ID, len(d.Text), o.DocumentBytes)
	}
	d.Roles, d.Subjects = sorted(d.Roles), append([]string(nil), d.Subjects...)
	d.Title = strings.TrimSpace(d.Title)
	if !d.Effective.IsZero() {
		d.Effective = d.Effective.UTC().Truncate(time.Microsecond)
	}
	return d, nil
}

func (d Document) check() error {
	if err := name(d.ID); err != nil {
		return fmt.Errorf("the id: %w", err)
	}
	if err := name(d.Version); err != nil {
		return fmt.Errorf("the version: %w", err)
	}
	if len(d.Roles) == 0 {
		return fmt.Errorf("no role may read it; %q is for all", Everyone)
	}
	for _, r := range d.Roles {
		if err := name(r); err != nil {
			return fmt.Errorf("a role: %w", err)
		}
	}
	if strings.TrimSpace(d.Text) == "" {
		return fmt.Errorf("the text is empty")
	}
	if y := d.Effective.UTC().Year(); y < 1 || y > 9999 {
		return fmt.Errorf("its day is in the year %d", y)
	}
	for _, s := range append([]string{d.Text, d.Title, d.Source}, d.Subjects...) {
		if !utf8.ValidString(s) {
			return fmt.Errorf("a text is no valid UTF-8: convert it first")
		}
	}
	return nil
}

// encode returns what a row keeps besides the text.
func (d Document) encode() []byte {
	d.Text = ""
	body, err := json.Marshal(d)
	if err != nil {
		panic(err) // strings and a time
	}
	return body
}

// hash is of all that a version says. The lengths keep two fields from passing for one.
func (d Document) hash() string {
	h := sha256.New()
	fmt.Fprintf(h, "%d %d ", len(d.encode()), len(d.Text))
	h.Write(d.encode())
	h.Write([]byte(d.Text))
	return hex.EncodeToString(h.Sum(nil))
}

// shelf names the one for documents that these roles may read.
func (d Document) shelf() string {
	names, err := json.Marshal(d.Roles)
	if err != nil {
		panic(err) // strings
	}
	sum := sha256.Sum256(names)
	return hex.EncodeToString(sum[:12])
}

// document reads a row.
func (v VersionRow) document() (Document, error) {
	var d Document
	if err := json.Unmarshal(v.Body, &d); err != nil {
		return d, fmt.Errorf("%w: document %q, version %q: %w", ErrCorrupt, v.Document, v.Version, err)
	}
	d.Text = string(v.Text)
	return d, nil
}
