// Package shop is a small order service for the aftersales example: real HTTP on the loopback interface, a SQLite file of
// its own, and faults on demand.
//
// A [Shop] answers requests, a [Client] makes them. Money moves through one endpoint only, which takes an
// Idempotency-Key: the same key with the same wish returns the first refund, the same key with another wish is
// refused with 409. A refund is requested first and paid days later, by a clock that a demonstration moves. A [Fault] makes
// an endpoint slow, failing, cut off before or after its work, or silent until it is told to answer.
//
// The faults are for demonstrations and tests, and anybody who can reach the port can set them: the service listens on
// 127.0.0.1 only and must not be put on a network.
package shop
