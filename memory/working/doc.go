// Package working assembles the messages of one model call under a token budget. It keeps nothing.
package working
