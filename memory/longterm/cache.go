package longterm

import (
	"context"

	"github.com/holdfast-go/holdfast/memory/search"
)

// A cache is the rows of an index within one transaction: each is loaded once, and saved once, by flush.
type cache struct {
	search.Rows
	rows  map[search.Key][]byte // that were loaded or saved; empty: not there
	dirty map[[2]string]map[int]bool
}

func newCache(rows search.Rows) *cache {
	return &cache{rows, map[search.Key][]byte{}, map[[2]string]map[int]bool{}}
}

func (c *cache) Load(ctx context.Context, keys []search.Key) (map[search.Key][]byte, error) {
	var missing []search.Key
	for _, k := range keys {
		if _, ok := c.rows[k]; !ok {
			missing = append(missing, k)
		}
	}
	if len(missing) > 0 {
		loaded, err := c.Rows.Load(ctx, missing)
		if err != nil {
			return nil, err
		}
		for _, k := range missing {
			c.rows[k] = loaded[k]
		}
	}
	found := make(map[search.Key][]byte, len(keys))
	for _, k := range keys {
		if row := c.rows[k]; len(row) > 0 {
			found[k] = row
		}
	}
	return found, nil
}

func (c *cache) Scan(ctx context.Context, shelves, terms []string, each func(search.Key, []byte) error) error {
	err := c.Rows.Scan(ctx, shelves, terms, func(k search.Key, row []byte) error {
		if c.dirty[[2]string{k.Shelf, k.Term}][k.Block] {
			return nil
		}
		return each(k, row)
	})
	if err != nil {
		return err
	}
	for _, shelf := range shelves {
		for _, term := range terms {
			for block := range c.dirty[[2]string{shelf, term}] {
				k := search.Key{Shelf: shelf, Term: term, Block: block}
				if row := c.rows[k]; len(row) > 0 {
					if err := each(k, row); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

func (c *cache) Save(_ context.Context, rows map[search.Key][]byte) error {
	for k, row := range rows {
		c.rows[k] = row
		name := [2]string{k.Shelf, k.Term}
		if c.dirty[name] == nil {
			c.dirty[name] = map[int]bool{}
		}
		c.dirty[name][k.Block] = true
	}
	return nil
}

func (c *cache) flush(ctx context.Context) error {
	rows := map[search.Key][]byte{}
	for name, blocks := range c.dirty {
		for block := range blocks {
			k := search.Key{Shelf: name[0], Term: name[1], Block: block}
			rows[k] = c.rows[k]
		}
	}
	if len(rows) == 0 {
		return nil
	}
	clear(c.dirty)
	return c.Rows.Save(ctx, rows)
}
