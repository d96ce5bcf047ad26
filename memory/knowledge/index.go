package knowledge

import (
	"context"
	"fmt"
	"maps"
	"slices"
)

// Index puts documents of a tenant in place of their versions before, all in one transaction: a search finds the old chunks or the new ones, never both,
// never none. A version that is there, or was, with equal content changes nothing; with other content it is ErrConflict. A version with a day to
// come waits for it, and takes over by itself.
//
// Vectors are made before the transaction; a failing embedder is ErrEmbedder. Where the context has no deadline it has sixty times OpTimeout.
func (s *Store) Index(ctx context.Context, tenant string, docs ...Document) (err error) {
	acc := access(ctx, tenant, "Index", documentIDs(docs)...)
	if err := s.audit.Begin(ctx, acc); err != nil {
		return err
	}
	defer s.audit.Ended(ctx, acc, &err)
	clean := make([]Document, len(docs))
	for i, d := range docs {
		var err error
		if clean[i], err = d.clean(s.o); err != nil {
			return err
		}
	}
	return s.write(ctx, tenant, func(ctx context.Context) error {
		drafts, err := s.drafts(ctx, tenant, clean)
		if err != nil || len(drafts) == 0 {
			return err
		}
		return s.back.Update(ctx, tenant, func(tx Tx) error { return s.index(ctx, tx, drafts) })
	})
}

// A draft is a document with what is made of it outside the transaction.
type draft struct {
	Document
	hash    string
	parts   []part
	space   string
	vectors [][]float32 // one for each part; none without an embedder
}

// drafts are what is new among the documents.
func (s *Store) drafts(ctx context.Context, tenant string, docs []Document) ([]draft, error) {
	var ids []string
	for _, d := range docs {
		ids = append(ids, d.ID)
	}
	var known history
	err := s.back.View(ctx, tenant, func(tx Tx) (err error) {
		known, err = readHistory(ctx, tx, ids, false)
		return err
	})
	if err != nil {
		return nil, err
	}
	var drafts []draft
	for _, d := range docs {
		there, err := known.has(d)
		if err != nil {
			return nil, err
		}
		if there {
			continue
		}
		drafts = append(drafts, draft{Document: d, hash: d.hash(), parts: d.parts(s.o), space: s.o.Space})
	}
	for i := range drafts {
		if drafts[i].vectors, err = s.embed(ctx, drafts[i].parts); err != nil {
			return nil, err
		}
	}
	return drafts, nil
}

// A history has the versions of documents, in the order in which they came.
type history map[string][]VersionRow

func readHistory(ctx context.Context, tx Tx, ids []string, text bool) (history, error) {
	h := history{}
	if len(ids) == 0 {
		return h, nil
	}
	rows, err := tx.Versions(ctx, Select{Documents: sorted(ids), Text: text})
	for _, v := range rows {
		h[v.Document] = append(h[v.Document], v)
	}
	return h, err
}

// has reports whether a version is there, or returns ErrConflict.
func (h history) has(d Document) (bool, error) {
	for _, v := range h[d.ID] {
		switch {
		case v.Version != d.Version:
		case v.Hash == d.hash():
			return true, nil
		default:
			return false, fmt.Errorf("%w: document %q, version %q", ErrConflict, d.ID, d.Version)
		}
	}
	return false, nil
}

// index is the transaction.
func (s *Store) index(ctx context.Context, tx Tx, drafts []draft) error {
	var ids []string
	for _, d := range drafts {
		ids = append(ids, d.ID)
	}
	known, err := readHistory(ctx, tx, ids, true)
	if err != nil {
		return err
	}
	w := newWriter(tx)
	for _, d := range drafts {
		there, err := known.has(d.Document) // another process may have been faster
		if err != nil {
			return err
		}
		if there {
			continue
		}
		if known[d.ID], err = w.add(ctx, known[d.ID], d); err != nil {
			return err
		}
	}
	for _, id := range slices.Sorted(maps.Keys(known)) {
		w.put(known[id])
	}
	return w.flush(ctx, ids)
}

// Withdraw removes documents with all their versions and relations. What is not there is no error.
func (s *Store) Withdraw(ctx context.Context, tenant string, ids ...string) (err error) {
	ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return name(id) != nil })
	acc := access(ctx, tenant, "Withdraw", ids...)
	if err := s.audit.Begin(ctx, acc); err != nil {
		return err
	}
	defer s.audit.Ended(ctx, acc, &err)
	return s.update(ctx, tenant, func(ctx context.Context, tx Tx) error {
		known, err := readHistory(ctx, tx, ids, false)
		if err != nil || len(known) == 0 {
			return err
		}
		w := newWriter(tx)
		for _, id := range slices.Sorted(maps.Keys(known)) {
			w.gone = append(w.gone, known[id]...)
		}
		if err := w.flush(ctx, ids); err != nil {
			return err
		}
		return tx.Delete(ctx, sorted(ids))
	})
}
