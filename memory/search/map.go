package search

import (
	"context"
	"maps"
)

// A Map is [Rows] in memory. It is not safe for concurrent use while one of the uses is Save or Commit.
type Map struct {
	rows map[[2]string]map[int][]byte // by shelf and term; in a map that was begun, nil hides a row of base
	base *Map                         // nil: it stands alone
}

// NewMap returns an empty Map.
func NewMap() *Map { return &Map{rows: map[[2]string]map[int][]byte{}} }

// Begin returns a Map with the rows of m. What is saved into it gets into m by Commit, and nowhere without.
func (m *Map) Begin() *Map {
	b := NewMap()
	b.base = m
	return b
}

// Commit saves what was saved since Begin.
func (m *Map) Commit() {
	for name, blocks := range m.rows {
		for block, row := range blocks {
			m.base.put(name, block, row)
		}
	}
	m.rows = map[[2]string]map[int][]byte{}
}

func (m *Map) put(name [2]string, block int, row []byte) {
	blocks := m.rows[name]
	if len(row) == 0 && m.base == nil {
		if delete(blocks, block); len(blocks) == 0 {
			delete(m.rows, name)
		}
		return
	}
	if blocks == nil {
		blocks = map[int][]byte{}
		m.rows[name] = blocks
	}
	blocks[block] = row
}

func (m *Map) get(name [2]string, block int) []byte {
	if row, ok := m.rows[name][block]; ok || m.base == nil {
		return row
	}
	return m.base.get(name, block)
}

// blocks returns the rows of a term in a shelf; the caller does not change it.
func (m *Map) blocks(name [2]string) map[int][]byte {
	own := m.rows[name]
	if m.base == nil {
		return own
	}
	all := m.base.blocks(name)
	if len(own) == 0 {
		return all
	}
	all = maps.Clone(all)
	if all == nil {
		return own
	}
	maps.Copy(all, own)
	return all
}

// Load implements [Rows].
func (m *Map) Load(ctx context.Context, keys []Key) (map[Key][]byte, error) {
	found := make(map[Key][]byte, len(keys))
	for _, k := range keys {
		if row := m.get([2]string{k.Shelf, k.Term}, k.Block); len(row) > 0 {
			found[k] = row
		}
	}
	return found, ctx.Err()
}

// Scan implements [Rows].
func (m *Map) Scan(ctx context.Context, shelves, terms []string, each func(Key, []byte) error) error {
	for _, shelf := range shelves {
		for _, term := range terms {
			for block, row := range m.blocks([2]string{shelf, term}) {
				if len(row) == 0 {
					continue
				}
				if err := each(Key{shelf, term, block}, row); err != nil {
					return err
				}
			}
		}
	}
	return ctx.Err()
}

// Save implements [Rows].
func (m *Map) Save(ctx context.Context, rows map[Key][]byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for k, row := range rows {
		m.put([2]string{k.Shelf, k.Term}, k.Block, row)
	}
	return nil
}
