// Package secure protects what a store keeps from whoever can read or write the database. [Encrypt] and [Sign] wrap any
// checkpoint.Store and are one themselves:
//
//	key := secure.Key{ID: "2026-11", Bytes: bytes32} // from a key store; never from the database
//	store, err := secure.Encrypt(inner, secure.Keyring{Current: key})
//
// # What is protected
//
//	row        content                                       bound to
//	record     body                                          tenant, thread, branch, namespace, position, kind, ord, by, base, step
//	question   body, hash of what was shown                  tenant, thread, id, branch, namespace, run, task, deadline, who must not answer
//	answer     value, hash of what the person was shown      tenant, thread, id of the question, who answered
//	command    body                                          tenant, thread, kind, request id
//	run        error text                                    tenant, thread, status
//	cached     body                                          tenant, key; not until when, so an older body may be put back
//
// Content that is not what was written there is a [*RowError], and so is a row that is not sealed. Nothing else is
// encrypted: ids, names of tenants, threads, owners, graphs, nodes' namespaces and people, metadata, statuses, times and the
// names of branches stay readable, because the database finds rows by them. Keep secrets out of them.
//
// # Threats
//
//	somebody with the database can                                   Encrypt      Sign         Encrypt(Sign)
//	read content, or test a guess of a prompt by its hash            no           yes          no
//	edit content, or what a row is bound to                          seen         seen         seen
//	move or swap rows, also between threads and tenants              seen         seen         seen
//	remove records in the middle of a chain                          seen         seen         seen
//	put a record of a deleted thread among those of its namesake     unseen       seen         seen
//	replace all from the last snapshot on by those of a deleted      unseen       by Verify    by Verify
//	  namesake; also where nothing below it is left                  unseen       by Anchor    by Anchor
//	forge answers, questions, commands or error texts                seen         seen         seen
//	remove the end of a chain, or put back an older copy of it       unseen       by Anchor    by Anchor
//	remove the beginning of a chain, as retention does               unseen       by Verify    by Verify
//	remove a whole question, answer, command, run or error text      unseen       unseen       unseen
//	put back a row that was there: an old command, an old answer     unseen       unseen       unseen
//	  to the same question, the error of another run of the thread
//	change the order of commands that wait                           unseen       unseen       unseen
//	change statuses, times, owner, metadata, leases, branches        unseen       unseen       unseen
//
// Seen means: the call that would use the row fails. A change to who must not answer a question, or to its deadline, does
// not stop the answer, which the database takes; it is seen when the question is read. An answer that named the hash of
// what was shown counts for that text only. [Signed.Verify] reads a whole thread; with an [Anchor] that was kept elsewhere
// it also sees what is missing at the end. While retention removes records of the thread it may report a gap that is none:
// verify again. Whoever has a key can do everything.
//
// # How
//
// Each thread has keys of its own, derived from the current key by HKDF (RFC 5869). Encryption is AES-256-GCM with nonces
// of 96 bits: random ones, and for records the first 96 bits of an HMAC under a key of its own over place and content, so
// that an append that is repeated has the same bytes, as the contract of stores wants. Two different records then share a
// nonce as rarely as with random ones. NIST SP 800-38D, section 8.3, allows 2^32 messages under one key with such nonces:
// here 2^32 rows of one thread. The program must not run under GODEBUG=fips140=only, which refuses nonces that are not its
// own; Encrypt then returns ErrKeyring. MACs are HMAC-SHA-256 under one key derived for all threads.
//
// Sign puts into each record the MAC of the one before it. Encrypt over Sign signs the encrypted bytes, so that a chain can
// be verified without the key to read it. Sign over Encrypt is of no use.
//
// # Changing keys
//
// Make the new key current and move the old one to Keyring.Older, in all processes; give it to all as an older one first if
// they are not replaced at once. New rows use the current key, old ones keep theirs, for ever: records are immutable.
// KeysInUse counts rows by key. A key may go when nothing is left under it, as after retention.
//
// # Turning it on over old data
//
// Rows that were written before are not sealed, and refused. With Keyring.Adopt they are accepted: records below all sealed
// ones of their chain, other rows anywhere. New records are sealed, so an attacker cannot append a plain one behind them;
// for that check, reading a plain record reads its chain from the beginning. Meanwhile whoever can write to the database
// can edit plain rows, forge questions, answers and commands, and forge a chain whole after removing its sealed records.
// With Sign, the first signed record also covers the plain one before it. Leave this state soon: run each thread once more,
// let retention remove what is older than the first sealed snapshot, delete threads that nobody needs, and turn Adopt off
// when KeysInUse counts no row under "".
package secure
