package search

import "errors"

var (
	// ErrFormat is returned when a row cannot be decoded: the index is damaged, or of a later release. Make it anew from the texts.
	ErrFormat = errors.New("search: a row of the index cannot be read")

	// ErrDoc is returned for a document that has no number, is added under one that is taken, or is removed with another text or
	// time than it was added with. Nothing is changed.
	ErrDoc = errors.New("search: a document needs a number of its own, and is removed as it was added")

	// ErrVector is returned for a vector that is empty, too long, only zeros, or has what is no number. Nothing is stored.
	ErrVector = errors.New("search: a vector has 1 to 65535 numbers, not all zero")
)
