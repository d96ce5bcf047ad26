package knowledge

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/memory/search"
)

// A Backend keeps rows; all rules are in Store, which has made sure of every tenant and id. It is for those who write a back end:
// memory/knowledge/knowledgetest is the suite that it must pass with a Store before it. Its errors wrap ErrUnavailable, ErrCorrupt or
// none of this package; what f returns is returned as it is, and undoes what f wrote.
type Backend interface {
	// View runs f on the rows of a tenant as of one moment. f writes nothing. It may be called again after a collision.
	View(ctx context.Context, tenant string, f func(Tx) error) error

	// Update runs f in a transaction that is alone with the tenant: two updates of one tenant happen one after the other, and a view
	// sees all of one or nothing. f may be called again after a collision.
	Update(ctx context.Context, tenant string, f func(Tx) error) error

	// Erase removes all rows of a tenant.
	Erase(ctx context.Context, tenant string) error

	// Compact writes the files anew, without what was deleted. Where nothing is kept of that it does nothing.
	Compact(ctx context.Context) error

	// Close is called once, when no call is under way.
	Close() error
}

// A Tx works on the rows of one tenant. Rows and slices that it got or returned belong to the other side.
type Tx interface {
	// Rows are those of the index, see search.
	search.Rows

	// Now is the clock of the store, in whole microseconds, the same in all of a transaction.
	Now() time.Time

	// Readable returns the names of the shelves that one of the roles may read and that have chunks, sorted.
	Readable(ctx context.Context, roles []string) ([]string, error)

	// Shelf returns one by its name; one that is not there has no roles.
	Shelf(ctx context.Context, name string) (Shelf, error)

	// PutShelf stores a shelf. Its roles never change.
	PutShelf(ctx context.Context, s Shelf) error

	// Versions returns the rows that a selection has, by Document and Seq.
	Versions(ctx context.Context, s Select) ([]VersionRow, error)

	// PutVersions stores rows, each in place of one of the same Document and Version.
	PutVersions(ctx context.Context, rows ...VersionRow) error

	// Delete removes the versions and relations of documents.
	Delete(ctx context.Context, documents []string) error

	// Chunks returns those of the places whose version is in force at a time, in any order. Those of the zero time are all.
	Chunks(ctx context.Context, places []search.Place, at time.Time) ([]ChunkRow, error)

	// PutChunks stores new rows.
	PutChunks(ctx context.Context, rows ...ChunkRow) error

	// DeleteChunks removes rows.
	DeleteChunks(ctx context.Context, places []search.Place) error

	// PutVectors stores vectors of chunks in a space; nil deletes one, from every space where that is no more work. Back ends without
	// vectors of their own use search.SaveVectors.
	PutVectors(ctx context.Context, shelf, space string, vectors map[uint32][]float32) error

	// Nearest is search.Nearest, or better.
	Nearest(ctx context.Context, shelves []string, space string, v []float32, limit int) ([]search.Hit, error)

	// Related reports whether the tenant has a relation. It is cheap.
	Related(ctx context.Context) (bool, error)

	// PutRelations stores relations in place of all that a document has.
	PutRelations(ctx context.Context, document string, rs []Relation) error

	// Relations returns those that a selection has, by From, Name, To and Document.
	Relations(ctx context.Context, s SelectRelations) ([]Relation, error)
}

// A Shelf holds the chunks that the same roles may read.
type Shelf struct {
	Name  string
	Roles []string // sorted
	Next  uint32   // number of the next chunk
}

// A VersionRow is a version of a document as a back end keeps it.
type VersionRow struct {
	Document string
	Version  string
	Shelf    string
	Seq      int64     // versions of one document in the order in which they came
	Start    time.Time // in force since; zero: always
	Until    time.Time // in force until; zero: it is
	First    uint32    // number of its first chunk in the shelf
	Count    int       // of its chunks; they are numbered in a row. 0: it is in force no more, and nothing but this row is left
	Hash     string    // of its content
	Space    string    // that has vectors of all its chunks
	Body     []byte    // the document without its text
	Text     []byte    // only read for Select.Text
}

// A Select says which versions of a tenant are wanted. Every field that is set narrows it.
type Select struct {
	Documents []string
	Shelves   []string
	InForce   time.Time // at that time
	Ended     time.Time // that have chunks, and are in force no more at that time
	Without   string    // that have chunks, and another space than this one
	After     string    // documents behind this one
	Limit     int       // 0: all
	Text      bool      // with the texts
}

// A ChunkRow is a chunk as a back end keeps it.
type ChunkRow struct {
	search.Place
	Document string
	Version  string
	Body     []byte
}

// A SelectRelations says which relations of a tenant are wanted: those of documents that are in one of the shelves at a time, whose Version is
// empty or the one in force, and that begin at one of the nodes, or end there. Nodes are compared by NodeKey.
type SelectRelations struct {
	Shelves  []string
	At       time.Time
	From, To []string // keys; one of both is set
	Limit    int      // 0: all
}
