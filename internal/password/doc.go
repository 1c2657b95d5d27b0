// Package password decides which passwords users may set ([Policy]), turns passwords into argon2id
// hashes (RFC 9106) and checks them, in a pool of bounded size.
//
// Hashing takes tens of milliseconds and megabytes by design. A [Pool] therefore runs only a few
// hashes at once and lets only a few more wait. Networks take turns, and when all places are taken
// the network with the most waiting callers loses one: a flood of passwords from a few networks
// delays other networks by one turn each, and fails itself with an error that contains a retry
// time.
//
// Hashes are stored as PHC strings, which contain their parameters:
//
//	$argon2id$v=19$m=19456,t=2,p=1$<salt>$<key>
//
// Stronger parameters can be introduced while old hashes still verify; [Pool.Verify] reports when a
// hash should be replaced. Only generated secrets of full entropy can use a cheaper hash,
// elsewhere.
//
// Hashes that other products made are accepted too ([Imported]) and reported as outdated, so that
// they are replaced at the next sign-in. Their costs differ, so once one of them was verified, a
// wrong password of any user takes as long as the most expensive one, at most ten seconds.
//
// Passwords are first normalized to Unicode NFC (NIST SP 800-63B §3.1.1.2), so that one password
// typed on two keyboards is one password.
package password
