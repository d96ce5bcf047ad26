package search

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"
)

// A corpus is all that a search knows of the documents that are there, by shelf and number.
type corpus struct {
	*room
	shelves  []string
	total    float64 // terms of all documents
	postings map[string][]docTimes
}

// A room is the memory of a search, some MB of a large corpus, which the next one uses again.
type room struct {
	docs    []document
	groups  []float64 // terms of each
	columns columns
	places  []int32 // in docs of each document of each block; -1: there is none

	own, covered, group, bounds, times []float64 // see ranking
}

var rooms = sync.Pool{New: func() any { return new(room) }}

// zeros returns n of them, in the memory of a slice if it has that much.
func zeros(s []float64, n int) []float64 {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}

type document struct {
	no     uint32
	shelf  int32
	group  int32 // counted from 0; a document without one has one of its own
	length int32 // terms
}

// docTimes is how often a document of the corpus has a term, and whether it names who speaks.
type docTimes struct {
	doc    int32
	times  uint8
	speaks bool
}

// A blockRow is a row of a term or of columns, and the block that it is of; places begin at first.
type blockRow struct {
	Key
	row   []byte
	first int
}

func (b blockRow) compare(o blockRow) int {
	return cmp.Or(cmp.Compare(b.Shelf, o.Shelf), cmp.Compare(b.Block, o.Block))
}

// readCorpus reads the documents of shelves, which are sorted, and who of them has which term.
func readCorpus(ctx context.Context, rows Rows, shelves, terms []string, now time.Time) (*corpus, error) {
	found := make(map[string][]blockRow, len(terms)+1)
	err := rows.Scan(ctx, shelves, append([]string{""}, terms...), func(k Key, row []byte) error {
		found[k.Term] = append(found[k.Term], blockRow{Key: k, row: row})
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, blocks := range found {
		slices.SortFunc(blocks, blockRow.compare)
	}
	c := &corpus{room: rooms.Get().(*room), shelves: shelves, postings: make(map[string][]docTimes, len(terms))}
	if err := c.lay(found[""], now); err != nil {
		return nil, err
	}
	for _, t := range terms {
		if c.postings[t], err = c.read(found[t], found[""]); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// lay puts the documents of all blocks into one row.
func (c *corpus) lay(blocks []blockRow, now time.Time) error {
	c.docs, c.groups, c.places = c.docs[:0], c.groups[:0], c.places[:0]
	numbers := groupNumbers{known: map[uint32]int32{}}
	for i, b := range blocks {
		if err := c.columns.read(b.row); err != nil {
			return rowError(err, b.Key)
		}
		c.columns.drop(now)
		blocks[i].first = len(c.places)
		shelf, _ := slices.BinarySearch(c.shelves, b.Shelf)
		for off, length := range c.columns.lengths {
			if length == 0 {
				c.places = append(c.places, -1)
				continue
			}
			c.places = append(c.places, int32(len(c.docs)))
			c.add(document{uint32(b.Block*blockSize + off), int32(shelf), numbers.of(c.columns.groups[off]), int32(length - 1)})
		}
	}
	return nil
}

func (c *corpus) add(d document) {
	if int(d.group) == len(c.groups) {
		c.groups = append(c.groups, 0)
	}
	c.docs = append(c.docs, d)
	c.groups[d.group] += float64(d.length)
	c.total += float64(d.length)
}

// read returns the documents that have a term.
func (c *corpus) read(rows, blocks []blockRow) ([]docTimes, error) {
	size := 0
	for _, r := range rows {
		size += len(r.row) / 2
	}
	docs := make([]docTimes, 0, size)
	for _, r := range rows {
		places := c.placesOf(r, blocks)
		err := eachPosting(r.row, func(p posting) {
			if p.off() < len(places) && places[p.off()] >= 0 {
				docs = append(docs, docTimes{places[p.off()], uint8(p.times()), p&speaks != 0})
			}
		})
		if err != nil {
			return nil, rowError(err, r.Key)
		}
	}
	return docs, nil
}

// placesOf returns the places of the documents of a block; none if it has no columns.
func (c *corpus) placesOf(r blockRow, blocks []blockRow) []int32 {
	i, ok := slices.BinarySearchFunc(blocks, r, blockRow.compare)
	if !ok {
		return nil
	}
	if i+1 == len(blocks) {
		return c.places[blocks[i].first:]
	}
	return c.places[blocks[i].first:blocks[i+1].first]
}

// groupNumbers count groups by their hashes. Most documents are of the group of the one before.
type groupNumbers struct {
	known      map[uint32]int32
	last, next uint32
	number     int32
}

func (g *groupNumbers) of(hash uint32) int32 {
	if hash != 0 && hash == g.last {
		return g.number
	}
	number, ok := g.known[hash]
	if !ok || hash == 0 {
		number = int32(g.next)
		g.next++
		g.known[hash] = number
	}
	g.last, g.number = hash, number
	return number
}

// together reports whether two places have documents of one group in one shelf.
func (c *corpus) together(doc, other int) bool {
	return other >= 0 && other < len(c.docs) && c.docs[doc].group == c.docs[other].group && c.docs[doc].shelf == c.docs[other].shelf
}
