// Package tokentest has texts to measure token counts with: conversations in several languages, logs and JSON that are made here,
// and, where a folder of public sets is named, those.
package tokentest
