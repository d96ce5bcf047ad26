package search

import (
	"context"
	"time"
)

// A Key names a row of an index.
type Key struct {
	Shelf string
	Term  string // "": the columns of the block. One that begins with a NUL byte: vectors of the space that follows it
	Block int    // of documents: their number divided by the size of a block
}

// Rows are where the index of one owner is kept. A back end implements it within a transaction; [Map] is one in memory. Rows are at
// most some 100 KB, terms at most 100 bytes of UTF-8, or those of the name of a space and one. Load and Save may get tens of thousands at once.
type Rows interface {
	// Load returns those of the rows that are there.
	Load(ctx context.Context, keys []Key) (map[Key][]byte, error)

	// Scan calls each for every row of the terms in the shelves, in any order. The bytes may be kept. What each returns as an
	// error ends the scan and is returned as it is.
	Scan(ctx context.Context, shelves, terms []string, each func(Key, []byte) error) error

	// Save stores rows. One without bytes is deleted.
	Save(ctx context.Context, rows map[Key][]byte) error
}

// A Doc is a text in an index.
type Doc struct {
	No      uint32    // its place in its shelf, from 1: higher than all before, and never used again
	Text    string    // what is searched
	Group   string    // what it is part of, such as a conversation or a document; neighbours in No of one group stand together
	At      time.Time // when it was said or takes effect; its date can be searched. Zero has none
	Expires time.Time // it is not found from then on; zero: never
}
