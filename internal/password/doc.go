// Package password decides which passwords users may set ([Policy]), turns
// passwords into argon2id hashes (RFC 9106) and checks them, in a pool of bounded
// size.
//
// Hashing takes tens of milliseconds and megabytes on purpose. A [Pool] therefore
// runs only a few hashes at once and lets only a few more wait. Networks take
// turns, and when all places are taken the network that waits for most loses one:
// a flood of passwords from a few networks delays other networks by one turn each,
// and is refused itself, with an error that says when to try again.
//
// Hashes are kept as PHC strings, which carry their own parameters:
//
//	$argon2id$v=19$m=19456,t=2,p=1$<salt>$<key>
//
// so that stronger parameters can be introduced while old hashes still verify;
// [Pool.Verify] tells when a hash ought to be made anew. Only machine-made
// secrets of full entropy may be hashed by something cheaper, elsewhere.
//
// Passwords are normalised to Unicode NFC first (NIST SP 800-63B §3.1.1.2), so
// that one password typed on two keyboards is one password.
package password
