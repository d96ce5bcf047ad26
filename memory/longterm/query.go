package longterm

import "time"

// A Query says what to look for.
type Query struct {
	Text    string    // what was asked
	Also    []string  // what it may be about besides: the entities of the session state
	Limit   int       // items at most, the profile among them; default 5
	Profile int       // of them at most this many preferences and habits, whatever is asked; default 0
	Kinds   []Kind    // none: all
	AsOf    time.Time // what held then; zero: now. A search of the past reads all items of the user
}

// A Hit is an item that was found, and why.
type Hit struct {
	Item
	Score   float64 // higher is better
	Why     Why
	Pending bool // said just now: the words of an exchange whose extraction is not done
}

// A Why explains the place of a hit.
type Why struct {
	Profile  bool     // it belongs to the profile, whatever was asked
	Lexical  int      // its rank by words, from 1; 0: not found that way
	Vector   int      // its rank by vectors, from 1
	Terms    []string // of the query that it has
	Coverage float64  // how much of the query its words have, 0 to 1
	Cosine   float64
	Weight   float64 // of its kind
	Decay    float64 // by its age, at least Options.Floor
}

// A Page says which items to list, in the order of ids.
type Page struct {
	After    string    // the id of the last item of the page before
	Limit    int       // at most 1000; default 100
	Kinds    []Kind    // none: all
	Past     bool      // also those that hold no longer, forgotten ones as what is left of them
	Inferred bool      // also those that wait for somebody to confirm them
	AsOf     time.Time // those that held then; zero: now
}
