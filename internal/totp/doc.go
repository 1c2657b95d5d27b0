// Package totp makes and checks the codes of authenticator apps: time-based
// one-time passwords (RFC 6238), of which there is a new one every 30 seconds.
//
// It is pure: it keeps nothing. A [Key] is secret for as long as it is of use;
// whoever keeps one seals it first. Verify tells which time step a code is of,
// and takes none that is not later than the last one used: whoever keeps the
// steps sees to it that each counts once (RFC 6238 §5.2), on whichever instance.
package totp
