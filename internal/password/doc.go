// Package password decides which passwords users may set ([Policy]), turns
// passwords into argon2id hashes (RFC 9106) and checks them, in a pool of bounded
// size.
//
// Hashing is dear on purpose: one takes tens of milliseconds and megabytes. A
// [Pool] therefore lets only a few hashes run at once and only a few more wait;
// what comes beyond that is refused at once, with an error that says when to
// try again, so that a flood of passwords cannot starve everything else the
// process does.
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
