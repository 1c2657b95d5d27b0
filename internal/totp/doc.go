// Package totp generates and checks the codes of authenticator apps: time-based one-time passwords
// (RFC 6238), with a new code every 30 seconds.
//
// It is pure: it stores nothing. A [Key] is secret; callers seal it before storing it. Verify
// returns the time step of a code, and rejects codes that are not later than the last used step:
// callers store the steps so that each is used once (RFC 6238 §5.2), on whichever instance.
package totp
