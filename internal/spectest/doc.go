// Package spectest holds tests about the repository itself: that each line of docs/spec.md is proved by a test, and that
// the core packages import nothing but the standard library.
package spectest
