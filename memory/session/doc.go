// Package session keeps what was said and what was confirmed in one conversation of one user.
package session
