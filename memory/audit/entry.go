package audit

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/holdfast-go/holdfast/memory"
)

// An Entry is one access that was noted.
type Entry struct {
	N            int64     `json:"n"`  // its place in the chain of the tenant, from 1
	At           time.Time `json:"at"` // by the log's clock
	Tenant       string    `json:"tenant"`
	User         string    `json:"user,omitzero"`  // "" with a Token: forgotten
	Token        string    `json:"token,omitzero"` // pseudonym of the user; "": it was of the tenant
	Agent        string    `json:"agent,omitzero"`
	Box          string    `json:"box"`
	Verb         string    `json:"verb"`
	Write        bool      `json:"write"`
	Conversation string    `json:"conversation,omitzero"`
	Items        []string  `json:"items,omitempty"`
	More         int       `json:"more,omitzero"` // items that are not listed, or were of a user who was forgotten
	Result       string    `json:"result"`
	Hash         string    `json:"hash"`
}

// Forgotten is the Token of accesses of users after they were forgotten: they have no pseudonym of their own.
const Forgotten = "forgotten"

// rowOf is the row of an access, without its place in the chain. The zero Name is that of what belongs to no user.
func rowOf(a memory.Access, n Name) Row {
	r := Row{
		User: n.Token, Agent: a.Agent, Box: a.Box, Verb: a.Verb, Write: a.Write, Conversation: a.Conversation, More: int64(a.More), Result: a.Result,
	}
	if n.Token == Forgotten {
		r.Conversation, r.More = "", r.More+int64(len(a.Items))
		return r
	}
	items := slices.Clone(a.Items)
	if n.Token != "" {
		r.Conversation = n.seal(a.Conversation)
		for i, id := range items {
			items[i] = n.seal(id)
		}
	}
	if len(items) > 0 {
		doc, _ := json.Marshal(items) // strings always can be
		r.Items = string(doc)
	}
	return r
}

// entry is the row as it is shown. n is nil if the user was forgotten.
func (r Row) entry(tenant string, n *Name) Entry {
	e := Entry{
		N: r.N, At: r.At, Tenant: tenant, Token: r.User, Agent: r.Agent, Box: r.Box, Verb: r.Verb, Write: r.Write, More: int(r.More),
		Result: r.Result, Hash: r.Hash,
	}
	var items []string
	if r.Items != "" && json.Unmarshal([]byte(r.Items), &items) != nil {
		return e // Verify says what happened to it
	}
	if r.User == "" {
		e.Conversation, e.Items = r.Conversation, items
		return e
	}
	if n == nil {
		e.More += len(items)
		return e
	}
	e.User = n.User
	e.Conversation, _ = n.open(r.Conversation)
	for _, sealed := range items {
		if id, ok := n.open(sealed); ok {
			e.Items = append(e.Items, id)
		} else {
			e.More++
		}
	}
	return e
}

// after puts the row behind a head, which it moves.
func (r *Row) after(tenant string, h *Head) {
	h.N++
	r.N = h.N
	r.Hash = r.sum(tenant, h.Hash)
	h.Hash = r.Hash
}

// sum covers the hash before, and every column with its length, so that nothing can move from one to another.
func (r *Row) sum(tenant, before string) string {
	h := sha256.New()
	for _, column := range []string{
		"holdfast audit 1", before, tenant, strconv.FormatInt(r.N, 10), strconv.FormatInt(r.At.UnixMicro(), 10), r.User, r.Agent, r.Box, r.Verb,
		strconv.FormatBool(r.Write), r.Conversation, r.Items, strconv.FormatInt(r.More, 10), r.Result,
	} {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(column))))
		h.Write([]byte(column))
	}
	return hex.EncodeToString(h.Sum(nil))
}
