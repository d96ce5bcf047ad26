// Package crash kills programs. It holds the scenes that a victim plays, the ledger of the outside world in which their
// effects count, and the tests that kill victims at every store call and every marked point, on every store that processes
// share, let others recover, and compare what is left with a run that nobody disturbed. They also stop victims for longer
// than their lease, kill the servers, cut replies, fill disks and cut the tails off files. Stores that lack one guarantee
// show that each of them would be missed.
package crash
