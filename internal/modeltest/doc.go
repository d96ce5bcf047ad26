// Package modeltest holds tests only: random graphs run by package graph and by a plain interpreter that was written from
// the specification, and compared after every call, after every superstep and after every crash.
package modeltest
