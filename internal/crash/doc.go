// Package crash kills programs. It holds the scenes that a victim plays, the ledger of the outside world in which their
// effects count, and the test that kills victims at every store call and every marked point, lets others recover, and
// compares what is left with a run that nobody disturbed.
package crash
