package search

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"time"
)

// vectorBlock is how many documents a row of vectors has: 8 KB of 128 dimensions, 96 KB of 1536.
const vectorBlock = 16

func vectorKey(shelf, space string, no uint32) Key {
	return Key{shelf, "\x00" + space, int(no) / vectorBlock}
}

// SaveVectors stores the vectors of documents in a space, which names the embedder that made them; a nil vector is deleted. One of
// another length than those in its block is an ErrVector: vectors of another embedder need another space.
func SaveVectors(ctx context.Context, rows Rows, shelf, space string, vectors map[uint32][]float32) error {
	var keys []Key
	units := map[uint32][]float32{}
	for no, v := range vectors {
		keys = append(keys, vectorKey(shelf, space, no))
		if v == nil {
			continue
		}
		unit, err := unit(v)
		if err != nil {
			return fmt.Errorf("document %d: %w", no, err)
		}
		units[no] = unit
	}
	slices.SortFunc(keys, func(a, b Key) int { return cmp.Compare(a.Block, b.Block) })
	keys = slices.Compact(keys)
	stored, err := rows.Load(ctx, keys)
	if err != nil {
		return err
	}
	changed := make(map[Key][]byte, len(keys))
	for _, k := range keys {
		block, err := readVectors(stored[k])
		if err != nil {
			return fmt.Errorf("%w: vectors %q of shelf %q, block %d", err, space, shelf, k.Block)
		}
		for off := range block {
			no := uint32(k.Block*vectorBlock + off)
			if _, ok := vectors[no]; ok {
				block[off] = units[no]
			}
		}
		if changed[k], err = writeVectors(block); err != nil {
			return fmt.Errorf("%w: space %q, block %d", err, space, k.Block)
		}
	}
	return rows.Save(ctx, changed)
}

// unit returns the vector of length 1 in the direction of v.
func unit(v []float32) ([]float32, error) {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if len(v) == 0 || len(v) > math.MaxUint16 || !(sum > 0) || math.IsInf(sum, 1) {
		return nil, ErrVector
	}
	u, by := make([]float32, len(v)), 1/math.Sqrt(sum)
	for i, x := range v {
		u[i] = float32(float64(x) * by)
	}
	return u, nil
}

func readVectors(row []byte) (block [vectorBlock][]float32, err error) {
	if len(row) == 0 {
		return block, nil
	}
	if len(row) < 3 || row[0] != version {
		return block, ErrFormat
	}
	dims := int(binary.LittleEndian.Uint16(row[1:]))
	last := -1
	for rest := row[3:]; len(rest) > 0; rest = rest[1+4*dims:] {
		off := int(rest[0])
		if dims == 0 || len(rest) < 1+4*dims || off <= last || off >= vectorBlock {
			return block, ErrFormat
		}
		v := make([]float32, dims)
		for i := range v {
			v[i] = math.Float32frombits(binary.LittleEndian.Uint32(rest[1+4*i:]))
		}
		block[off], last = v, off
	}
	return block, nil
}

func writeVectors(block [vectorBlock][]float32) ([]byte, error) {
	var row []byte
	dims := 0
	for off, v := range block {
		if v == nil {
			continue
		}
		if row == nil {
			dims = len(v)
			row = binary.LittleEndian.AppendUint16([]byte{version}, uint16(dims))
		}
		if len(v) != dims {
			return nil, fmt.Errorf("%w: lengths %d and %d in one space", ErrVector, dims, len(v))
		}
		row = append(row, byte(off))
		for _, x := range v {
			row = binary.LittleEndian.AppendUint32(row, math.Float32bits(x))
		}
	}
	return row, nil
}

// Nearest returns the documents of the shelves whose vectors have the highest cosine with v, which is their Score, by looking at
// each: the time is linear in what the owner has. Documents
// that were not added, were removed or have expired by now are not found, nor is a vector of another length than v, which is none of
// this space.
func Nearest(ctx context.Context, rows Rows, shelves []string, space string, v []float32, now time.Time, limit int) ([]Hit, error) {
	q, err := unit(v)
	if err != nil {
		return nil, err
	}
	blocks := map[Key]columns{}
	vectors := map[Key][]byte{}
	err = rows.Scan(ctx, distinct(shelves), []string{"", "\x00" + space}, func(k Key, row []byte) error {
		if k.Term != "" {
			vectors[k] = row
			return nil
		}
		c, err := readColumns(row)
		c.drop(now)
		blocks[k] = c
		return rowError(err, k)
	})
	if err != nil {
		return nil, err
	}
	if limit <= 0 {
		limit = defaultLimit
	}
	best := newTop(limit, better)
	for k, c := range blocks {
		for first := 0; first < len(c.lengths); first += vectorBlock {
			no := uint32(k.Block*blockSize + first)
			if err := nearest(vectors[vectorKey(k.Shelf, space, no)], q, k, c, first, best); err != nil {
				return nil, rowError(err, vectorKey(k.Shelf, space, no))
			}
		}
	}
	return best.sorted(), nil
}

// nearest adds the documents of one row of vectors; their columns begin at first in those of the block.
func nearest(row []byte, q []float32, block Key, c columns, first int, best *top[Hit]) error {
	if len(row) == 0 {
		return nil
	}
	if len(row) < 3 || row[0] != version {
		return ErrFormat
	}
	dims := int(binary.LittleEndian.Uint16(row[1:]))
	if dims == 0 || (len(row)-3)%(1+4*dims) != 0 {
		return ErrFormat
	}
	if dims != len(q) {
		return nil
	}
	for rest := row[3:]; len(rest) > 0; rest = rest[1+4*dims:] {
		off := int(rest[0])
		if off >= vectorBlock {
			return ErrFormat
		}
		if at := first + off; c.has(at) {
			best.add(Hit{Shelf: block.Shelf, No: uint32(block.Block*blockSize + at), Score: dot(q, rest[1:])})
		}
	}
	return nil
}

// dot multiplies a vector with one that is stored.
func dot(q []float32, stored []byte) float64 {
	var sum float32
	stored = stored[:4*len(q)]
	for i, x := range q {
		sum += x * math.Float32frombits(binary.LittleEndian.Uint32(stored[4*i:]))
	}
	return float64(sum)
}
