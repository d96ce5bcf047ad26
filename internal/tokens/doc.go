// Package tokens estimates how many tokens a text has, without a vocabulary.
package tokens
