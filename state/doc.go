// Package state holds the field types of a graph's state, and folds what tasks write to them.
//
// A state is a struct. The type of each field says how the writes of parallel tasks merge:
//
//	type Refund struct {
//		Messages state.Keyed[Message]       `json:"messages"` // appended in task order; the same key replaces
//		Status   state.Last[string]         `json:"status"`   // one writer a superstep
//		Docs     state.List[Doc]            `json:"docs"`     // appended
//		Scores   state.Map[string, float64] `json:"scores"`   // merged by key
//		Tries    state.Sum[int]             `json:"tries"`    // added up
//	}
//
// A task gets a *Refund of its own, called a view. It reads what is committed and what it wrote itself; what it writes stays in
// the view until the engine folds the views of a superstep in task order. Views belong to one goroutine. The zero value of a
// state is an empty one, so a node can be tested with new(Refund).
//
// The json name of a field is its durable name. A struct embedded by value puts its fields among those of the state; a named
// struct is a group, whose fields are stored as "group.field". The tag `state:"hidden"` keeps a field out of JSON and of the
// JSON schema, and `state:"alias=old"` reads what was stored under an earlier name.
//
// # What a task may write
//
// [Of] refuses types whose values encoding/json would not bring back: functions, channels, interfaces, unexported fields,
// fields tagged json:"-", and others; types with both MarshalJSON and UnmarshalJSON, or both MarshalText and UnmarshalText,
// are trusted. [Schema.Freeze] refuses values that would not come back: invalid UTF-8 in a string, NaN and infinities,
// cycles, times outside the years 0 to 9999 or with a zone offset of broken minutes, empty json.RawMessage.
//
// # Folding
//
// Writes fold in task order. A write that replaces a field (Replace, Clear) beats the writes of all other tasks of the step to
// that field; two such writes are a conflict, as are two writes to a Last, an Ephemeral or an Untracked.
//
// # Stored forms
//
// A field is shown and stored once it was written, also when it was written with nothing. An Ephemeral is gone at the end of
// the next superstep that does not write it. Data is JSON without white space and without escaping of HTML. The first form of
// a write adds to what is there, the others as said. A snapshot of a field is a write onto an empty one. k is a key, v a value.
//
//	kind         field          write                                  snapshot      JSON form
//	last         Last           v                                      v             v
//	ephemeral    Ephemeral      v                                      v             v
//	list         List           [v,..] or {"r":[v,..]} to replace      [v,..]        [v,..]
//	keyed        Keyed          [[k,v],..], [k] to remove;             [[k,v],..]    [v,..]
//	                            {"r":[[k,v],..]} to replace
//	map          Map, string k  as keyed                               [[k,v],..]    {k:v,..}
//	map.pairs    Map, other k   as keyed                               [[k,v],..]    [[k,v],..]
//	set          Set            [k,..] to add;                         [k,..]        [k,..]
//	                            {"d":[k,..],"a":[k,..]} to remove, then add;
//	                            {"r":[k,..]} to replace
//	sum.T        Sum            n, or {"r":n} to replace               n             n
//	fold         Fold           [v,..], or {"r":v,"w":[v,..]} to       {"r":v}       v
//	                            replace; of the step: v, folded
//	rename       of the step    "old": the field was called old        none          none
//	drop         of the step    null: the field and its value are gone none          none
//	any other                   kept as it is                          its writes    [write,..]
//
// T in sum.T is int8 to int64, uint8 to uint64, float32 or float64; int and uint have the name of their size. A keyed is in
// order. Keys of a map are sorted by their bytes, those of map.pairs and set by their JSON: integers by value, before all
// others by their bytes.
package state
