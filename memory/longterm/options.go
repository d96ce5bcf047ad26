package longterm

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/memory"
)

// Options of a store. The zero value keeps what Add is given; Remember needs an extractor.
type Options struct {
	Rules     Extractor // fast, called by Remember itself; see extract.Rules
	Extractor Extractor // slow, called by Work; see extract.Model

	Embedder memory.Embedder // nil: search goes by words alone. It must heed its context
	Space    string          // names what the embedder makes: another name for another model. Required with an Embedder

	Confidence float64                // least of a draft; default 0.7
	Weights    map[Kind]float64       // of kinds in a search; default 1 for each, 1.05 for Preference and Habit
	HalfLife   map[Kind]time.Duration // of what age counts; default 30 days for Episode, 0 for the others: none
	Floor      float64                // below which age takes no score; default 0.8
	Cosine     float64                // least of a vector to be found; default 0.35
	TTL        map[Kind]time.Duration // since From until an item expires that says nothing of it; default none

	Auditor memory.Auditor // notes every read and write; nil: none does

	Attempts  int           // of an extraction before it is parked; default 8
	Backoff   time.Duration // before the second attempt, doubled before each later one; default 1 s
	Lease     time.Duration // that a worker has a job for, and an extractor to say what it finds; default 1 minute
	Keep      time.Duration // how long jobs that are done can be listed; default 30 days
	ItemBytes int           // of one item as JSON; default 64 KB
	Items     int           // current ones of a user; default 1,000,000
	OpTimeout time.Duration // of a call whose context has no deadline; default 10 s
	Logger    *slog.Logger  // default slog.Default()
}

var kinds = []Kind{Semantic, Preference, Episode, Habit}

func (o Options) withDefaults() Options {
	o.Confidence = cmp.Or(o.Confidence, 0.7)
	if o.Weights == nil {
		o.Weights = map[Kind]float64{Preference: 1.05, Habit: 1.05}
	}
	if o.HalfLife == nil {
		o.HalfLife = map[Kind]time.Duration{Episode: 30 * 24 * time.Hour}
	}
	o.Floor = cmp.Or(o.Floor, 0.8)
	o.Cosine = cmp.Or(o.Cosine, 0.35)
	o.Attempts = cmp.Or(o.Attempts, 8)
	o.Backoff = cmp.Or(o.Backoff, time.Second)
	o.Lease = cmp.Or(o.Lease, time.Minute)
	o.Keep = cmp.Or(o.Keep, 30*24*time.Hour)
	o.ItemBytes = cmp.Or(o.ItemBytes, 64<<10)
	o.Items = cmp.Or(o.Items, 1_000_000)
	o.OpTimeout = cmp.Or(o.OpTimeout, 10*time.Second)
	o.Logger = cmp.Or(o.Logger, slog.Default())
	return o
}

func (o Options) validate() error {
	var errs []error
	bad := func(wrong bool, format string, args ...any) {
		if wrong {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	bad(min(o.Attempts, o.ItemBytes, o.Items) < 0, "a limit is negative")
	bad(min(o.Backoff, o.Lease, o.Keep, o.OpTimeout) < 0, "a duration is negative")
	bad(!within01(o.Confidence), "Confidence is %v; it goes from 0 to 1", o.Confidence)
	bad(!within01(o.Floor), "Floor is %v; it goes from 0 to 1", o.Floor)
	bad(!(o.Cosine >= -1 && o.Cosine <= 1), "Cosine is %v; it goes from -1 to 1", o.Cosine)
	bad(o.Embedder != nil && o.Space == "", "an Embedder needs a Space, which names its model")
	bad(o.Space != "" && !goodName(o.Space), "Space needs 1 to %d bytes of text", memory.MaxName)
	for _, k := range slices.Sorted(maps.Keys(o.Weights)) {
		bad(!slices.Contains(kinds, k) || !(o.Weights[k] > 0), "the weight of kind %q is %v", k, o.Weights[k])
	}
	for _, of := range []map[Kind]time.Duration{o.HalfLife, o.TTL} {
		for _, k := range slices.Sorted(maps.Keys(of)) {
			bad(!slices.Contains(kinds, k) || of[k] < 0, "the duration of kind %q is %v", k, of[k])
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("%w: %w", ErrOptions, err)
	}
	return nil
}

func within01(f float64) bool { return f >= 0 && f <= 1 }
