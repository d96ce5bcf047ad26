// Package postgres keeps threads in a Postgres database, for programs that run on several machines.
package postgres
