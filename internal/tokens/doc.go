// Package tokens estimates how many tokens a text has, without a vocabulary.
//
// A scanner cuts a text into the pieces that tokenizers cut it into before they look at their vocabulary (words, groups of digits, runs of
// punctuation, white space, characters of other scripts), and counts them by class. [Estimate] is the sum of the counts by weights that were fitted
// on o200k. The two files beside it say what else is known of that vocabulary; TestSketch of memory/working/tiktoken makes them.
package tokens
