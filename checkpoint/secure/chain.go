package secure

import (
	"context"
	"fmt"

	"github.com/holdfast-go/holdfast/checkpoint"
)

// pageRows is how many rows are read at once where a whole chain is walked.
const pageRows = 64

// places checks that records stand in the chain that was asked for and follow each other.
func places(c checkpoint.Chain, records []checkpoint.Record) error {
	for i := range records {
		r := &records[i]
		if r.Branch != c.Branch || r.Namespace != c.Namespace || i > 0 && r.Pos != records[i-1].Pos+1 {
			at := row{key: c.Key, record: r}
			return at.refuse(fmt.Errorf("%w: it does not follow the record before it", ErrTampered))
		}
	}
	return nil
}

// openRecords opens records that follow each other in a chain, in place.
func (s *store) openRecords(ctx context.Context, c checkpoint.Chain, records []checkpoint.Record) error {
	if err := places(c, records); err != nil {
		return err
	}
	f, _ := s.guard.forms()
	plain := 0
	for plain < len(records) && !sealed(records[plain].Body, f) {
		plain++
	}
	if plain > 0 {
		if err := s.adopted(ctx, c, records[:plain]); err != nil {
			return err
		}
	}
	for i := range records[plain:] {
		if r := &records[plain+i]; !sealed(r.Body, f) {
			at := row{key: c.Key, record: r}
			return at.refuse(fmt.Errorf("%w: it stands above a sealed one", ErrPlain))
		}
	}
	return s.guard.openRecords(c.Key, records, plain)
}

// adopted reports whether records that are not sealed, the first ones that were read, may be used: only while a store is
// adopted, and only below all sealed records of their chain. For that it reads the chain below them.
func (s *store) adopted(ctx context.Context, c checkpoint.Chain, records []checkpoint.Record) error {
	at := row{key: c.Key, record: &records[0]}
	if !s.ring.adopt {
		return at.refuse(ErrPlain)
	}
	f, _ := s.guard.forms()
	for from := int64(0); from < records[0].Pos; {
		below, err := s.inner.Read(ctx, checkpoint.Query{Chain: c, From: from, To: records[0].Pos - 1, Limit: pageRows})
		if err != nil {
			return err
		}
		for i := range below {
			if sealed(below[i].Body, f) {
				return at.refuse(fmt.Errorf("%w: it stands above a sealed one", ErrPlain))
			}
		}
		if len(below) < pageRows {
			return nil
		}
		from = below[len(below)-1].Pos + 1
	}
	return nil
}
