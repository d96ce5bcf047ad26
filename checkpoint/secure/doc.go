// Package secure protects what a store keeps from whoever can read or write the database: [Encrypt] and [Sign] wrap any
// checkpoint.Store and are one.
package secure
