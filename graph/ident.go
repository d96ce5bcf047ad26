package graph

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/binary"
	"strings"

	"github.com/holdfast-go/holdfast/checkpoint"
)

// hashParts hashes strings, each with its length before it, so that no two lists hash alike.
func hashParts(parts ...string) [32]byte {
	var b []byte
	for _, p := range parts {
		b = binary.AppendUvarint(b, uint64(len(p)))
		b = append(b, p...)
	}
	return sha256.Sum256(b)
}

func inPlace(kind string, c checkpoint.Chain, task, name string, n int) [32]byte {
	numbers := binary.AppendVarint(binary.AppendVarint(nil, int64(c.Branch)), int64(n))
	return hashParts(kind, c.Tenant, c.Thread, string(numbers), string(c.Namespace), task, name)
}

// questionID is the same while its task is repeated, and new in the next superstep and on a fork.
func questionID(c checkpoint.Chain, task, name string, n int) string {
	h := inPlace("holdfast.question.1", c, task, name, n)
	return strings.ToLower(base32.StdEncoding.EncodeToString(h[:10]))
}

// onceKey is the same on every attempt, in every process and under every version of the graph.
func onceKey(c checkpoint.Chain, task, name string, n int) string {
	h := inPlace("holdfast.once.1", c, task, name, n)
	return base64.RawURLEncoding.EncodeToString(h[:])
}

// shownHash binds an answer to what was shown.
func shownHash(prompt, schema []byte) []byte {
	h := hashParts("holdfast.shown.1", string(prompt), string(schema))
	return h[:16]
}
