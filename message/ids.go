package message

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"
)

// ids are the names of the messages, or of the calls, of one history.
type ids struct {
	times map[string]int  // how often the history names an id
	given map[string]bool // ids that were kept or derived
	tries map[string]int  // how often an id was derived from the same
}

func newIDs() ids { return ids{map[string]int{}, map[string]bool{}, map[string]int{}} }

// seen counts an id of the history.
func (s ids) seen(id string) { s.times[id]++ }

// once reports whether the history names an id only once.
func (s ids) once(id string) bool { return s.times[id] == 1 }

// keep reports whether whoever has an id may keep it, and from then on nobody else may.
func (s ids) keep(id string) bool {
	if id == "" || s.given[id] {
		return false
	}
	s.given[id] = true
	return true
}

// derive returns an id that the history does not name, always the same for the same history and origin.
func (s ids) derive(origin ...string) string {
	from := fmt.Sprintf("%q", origin)
	for {
		s.tries[from]++
		id := uuid.NewSHA1(space, fmt.Appendf(nil, "%s %d", from, s.tries[from])).String()
		if s.times[id] == 0 && s.keep(id) {
			return id
		}
	}
}

var space = uuid.NewSHA1(uuid.NameSpaceURL, []byte("https://github.com/holdfast-go/holdfast/message"))

// fingerprint is the same for messages that are equal.
func fingerprint(m Message) string {
	doc, err := json.Marshal(m)
	if err != nil {
		panic(err) // the type is ours and plain
	}
	sum := sha256.Sum256(doc)
	return hex.EncodeToString(sum[:])
}
