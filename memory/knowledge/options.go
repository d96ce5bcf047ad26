package knowledge

import (
	"cmp"
	"fmt"
	"log/slog"
	"time"

	"github.com/holdfast-go/holdfast/internal/tokens"
	"github.com/holdfast-go/holdfast/memory"
)

// Options of a store. The zero value is ready for production, and searches by words alone.
type Options struct {
	Embedder memory.Embedder // nil: search goes by words alone
	Space    string          // names what the embedder makes: another name for another model. Required with an Embedder

	Floor  float64 // least coverage of an aspect that is an answer, 0 to 1; default 0.6. Higher refuses more
	Cosine float64 // least of a vector to be found; default 0.35
	Sure   float64 // cosine from which a chunk answers whatever its words are; default 0: none does. It differs much between models
	Hops   int     // that Retrieve follows relations from what a question names, at most MaxHops; default 0: it never looks for any

	ChunkTokens   int                   // of a chunk, about; default 300
	Count         func(text string) int // tokens of a text; default an estimate by kinds of characters
	DocumentBytes int                   // of the text of one document; default 4 MB

	Auditor memory.Auditor // notes every read and write; nil: none does

	OpTimeout time.Duration // of a call whose context has no deadline; default 10 s. Calls that write have sixty times as long
	Logger    *slog.Logger  // default slog.Default()
}

func (o Options) withDefaults() Options {
	o.Floor = cmp.Or(o.Floor, 0.6)
	o.Cosine = cmp.Or(o.Cosine, 0.35)
	o.ChunkTokens = cmp.Or(o.ChunkTokens, 300)
	if o.Count == nil {
		o.Count = tokens.Estimate
	}
	o.DocumentBytes = cmp.Or(o.DocumentBytes, 4<<20)
	o.OpTimeout = cmp.Or(o.OpTimeout, 10*time.Second)
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return o
}

func (o Options) validate() error {
	share := func(f float64) bool { return f >= 0 && f <= 1 }
	switch {
	case o.Embedder != nil && o.Space == "":
		return fmt.Errorf("%w: an Embedder needs a Space that names its model", ErrOptions)
	case !share(o.Floor) || !share(o.Cosine) || !share(o.Sure):
		return fmt.Errorf("%w: Floor, Cosine and Sure go from 0 to 1", ErrOptions)
	case o.Hops < 0 || o.Hops > MaxHops:
		return fmt.Errorf("%w: %d hops, at most %d", ErrOptions, o.Hops, MaxHops)
	case o.ChunkTokens < 0 || o.DocumentBytes < 0 || o.OpTimeout < 0:
		return fmt.Errorf("%w: a limit is negative", ErrOptions)
	}
	return nil
}
