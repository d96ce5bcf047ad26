package redis

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/holdfast-go/holdfast/checkpoint"
)

// keys are those of a thread. Base64 of the URL alphabet has neither dot nor brace, so two threads never share a key, and
// the braces make the three keys live on one node of a cluster.
func (s *Store) keys(k checkpoint.Key) []string {
	e := base64.RawURLEncoding
	stem := s.o.Prefix + ":{" + e.EncodeToString([]byte(k.Tenant)) + "." + e.EncodeToString([]byte(k.Thread)) + "}:"
	return []string{stem + "m", stem + "j", stem + "q"}
}

// shards is how many parts the index has. It must never change: a list looks into all of them.
const shards = 16

// shardOf is the part of the index that holds a thread.
func shardOf(k checkpoint.Key) int {
	h := fnv.New32a()
	h.Write([]byte(member(k)))
	return int(h.Sum32() % shards)
}

// indexKeys are those of a part of the index, in the order that the scripts expect.
func (s *Store) indexKeys(shard int) []string {
	stem := fmt.Sprintf("%s:ix:{%02d}:", s.o.Prefix, shard)
	return []string{stem + "s", stem + "a", stem + "l", stem + "w", stem + "i", stem + "q"}
}

// member is a thread in the index. No part contains NUL, so members sort as tenant and thread do.
func member(k checkpoint.Key) string { return k.Tenant + "\x00" + k.Thread }

// keyOf is the inverse of member; for a question it also returns the id.
func keyOf(m string) (k checkpoint.Key, id string) {
	p := strings.SplitN(m, "\x00", 4)
	k.Tenant = p[0]
	if len(p) > 1 {
		k.Thread = p[1]
	}
	if len(p) > 2 {
		id = p[2]
	}
	return k, id
}

// chainField is a chain's field in the head: nothing but the namespace follows the first slash.
func chainField(branch int32, ns checkpoint.Namespace) string {
	return "k" + strconv.Itoa(int(branch)) + "/" + string(ns)
}

// recordField is a record's field: the position follows the last slash.
func recordField(branch int32, ns checkpoint.Namespace, pos int64) string {
	return strconv.Itoa(int(branch)) + "/" + string(ns) + "/" + strconv.FormatInt(pos, 10)
}

// eight is a whole number as the scripts compare it.
func eight(n int64) string {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(n))
	return string(b[:])
}
