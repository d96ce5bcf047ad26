package search

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"time"
)

const (
	version   = 1
	blockSize = 1024 // documents
	maxTimes  = 31   // of a term in a document
)

// columns are what a block knows of each of its documents.
type columns struct {
	lengths []uint16 // terms + 1, 0: there is no document
	groups  []uint32 // 0: none
	expires map[int]int64
}

func rowError(err error, k Key) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: term %q of shelf %q, block %d", err, k.Term, k.Shelf, k.Block)
}

func readColumns(row []byte) (columns, error) {
	var c columns
	return c, c.read(row)
}

// read takes over a row, into the memory that the columns have.
func (c *columns) read(row []byte) error {
	c.lengths, c.groups, c.expires = c.lengths[:0], c.groups[:0], nil
	if len(row) == 0 {
		return nil
	}
	if len(row) < 3 || row[0] != version {
		return ErrFormat
	}
	n := int(binary.LittleEndian.Uint16(row[1:]))
	rest := row[3:]
	if n > blockSize || len(rest) < 6*n || (len(rest)-6*n)%10 != 0 {
		return ErrFormat
	}
	for i := range n {
		c.lengths = append(c.lengths, binary.LittleEndian.Uint16(rest[2*i:]))
		c.groups = append(c.groups, binary.LittleEndian.Uint32(rest[2*n+4*i:]))
	}
	last := -1
	for rest = rest[6*n:]; len(rest) > 0; rest = rest[10:] {
		off := int(binary.LittleEndian.Uint16(rest))
		if off <= last || off >= n || c.lengths[off] == 0 {
			return ErrFormat
		}
		last = off
		c.expire(off, int64(binary.LittleEndian.Uint64(rest[2:])))
	}
	return nil
}

func (c *columns) expire(off int, at int64) {
	if c.expires == nil {
		c.expires = map[int]int64{}
	}
	c.expires[off] = at
}

// row returns no bytes if there is no document.
func (c *columns) row() []byte {
	n := len(c.lengths)
	for n > 0 && c.lengths[n-1] == 0 {
		n--
	}
	if n == 0 {
		return nil
	}
	row := binary.LittleEndian.AppendUint16([]byte{version}, uint16(n))
	for _, l := range c.lengths[:n] {
		row = binary.LittleEndian.AppendUint16(row, l)
	}
	for _, g := range c.groups[:n] {
		row = binary.LittleEndian.AppendUint32(row, g)
	}
	for off := range n {
		if at, ok := c.expires[off]; ok {
			row = binary.LittleEndian.AppendUint16(row, uint16(off))
			row = binary.LittleEndian.AppendUint64(row, uint64(at))
		}
	}
	return row
}

func (c *columns) has(off int) bool { return off < len(c.lengths) && c.lengths[off] > 0 }

func (c *columns) add(off, terms int, d Doc) {
	for len(c.lengths) <= off {
		c.lengths, c.groups = append(c.lengths, 0), append(c.groups, 0)
	}
	c.lengths[off], c.groups[off] = storedLength(terms), groupHash(d.Group)
	if !d.Expires.IsZero() {
		c.expire(off, d.Expires.UnixMicro())
	}
}

func (c *columns) remove(off int) {
	c.lengths[off], c.groups[off] = 0, 0
	delete(c.expires, off)
}

// drop takes out what has expired by now.
func (c *columns) drop(now time.Time) {
	for off, at := range c.expires {
		if at <= now.UnixMicro() {
			c.lengths[off] = 0
		}
	}
}

func storedLength(terms int) uint16 { return uint16(min(terms, math.MaxUint16-1) + 1) }

func groupHash(group string) uint32 {
	if group == "" {
		return 0
	}
	h := fnv.New32a()
	h.Write([]byte(group))
	return max(h.Sum32(), 1)
}

// A posting is a document that has a term: its place in the block, whether the term names who speaks, and how often it is there, at
// most maxTimes.
type posting uint16

const speaks posting = 1 << 5

func newPosting(off, times int, speaking bool) posting {
	p := posting(off<<6 | min(times, maxTimes))
	if speaking {
		p |= speaks
	}
	return p
}

func (p posting) off() int { return int(p >> 6) }

func (p posting) times() int { return int(p & maxTimes) }

// eachPosting decodes a row of postings.
func eachPosting(row []byte, f func(posting)) error {
	if len(row) == 0 {
		return nil
	}
	if row[0] != version || len(row)%2 == 0 {
		return ErrFormat
	}
	last := -1
	for i := 1; i < len(row); i += 2 {
		p := posting(binary.LittleEndian.Uint16(row[i:]))
		if p.off() <= last || p.times() == 0 {
			return ErrFormat
		}
		last = p.off()
		f(p)
	}
	return nil
}

func readPostings(row []byte) ([]posting, error) {
	ps := make([]posting, 0, len(row)/2+1)
	err := eachPosting(row, func(p posting) { ps = append(ps, p) })
	return ps, err
}

func postingsRow(ps []posting) []byte {
	if len(ps) == 0 {
		return nil
	}
	row := make([]byte, 1, 1+2*len(ps))
	row[0] = version
	for _, p := range ps {
		row = binary.LittleEndian.AppendUint16(row, uint16(p))
	}
	return row
}
