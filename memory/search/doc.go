// Package search finds texts by words and by vectors, for the boxes that search: memory/longterm and memory/knowledge. It works
// offline, without a model, in Chinese as in English.
//
// # The index
//
// An index is rows of bytes in the store of a box, and the same bytes in each store, so that all of them rank alike. A [Key]
// names a row: in a shelf, for a term, the documents of one block that have it; with no term, the columns of that block: lengths,
// groups, expiries. A shelf is what a reader may see or not see as a whole, such as a namespace under a label. A search reads the
// shelves that it is given and nothing else: what others have moves no score. Numbers of documents, average lengths and how common
// a term is are counted from what is read and stored nowhere, so that nothing of what was removed is left in them.
//
// # Ranking
//
// Words are found by BM25 over the terms of [Terms], a document also by what stands beside it in its group, by the group it is in, and
// by who speaks, as Ann does in "Ann: hello". Vectors are found by cosine. Scores of the two cannot be compared, so [Fuse] goes by rank. Each has a least relevance: zero
// is a possible answer.
//
// # Format
//
// Blocks are of 1024 documents; the document with number n is at n%1024 of block n/1024. Integers are little-endian, and the first
// byte of each row is its version, 1.
//
//	columns   n uint16; n lengths uint16: 0 no document, else terms + 1; n hashes of groups uint32, 0 none;
//	          for each document that expires, in order: its place uint16, microseconds since 1970 int64
//	postings  for each document that has the term, in order: uint16 of its place << 6 | 1 << 5 if the term
//	          names who speaks | times in it, at most 31
//	vectors   (blocks of 16) dimensions uint16; for each document, in order: its place uint8, the vector of length 1 as float32
//
// What does not decode is [ErrFormat].
package search
