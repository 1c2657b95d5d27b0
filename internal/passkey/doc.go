// Package passkey performs the two WebAuthn ceremonies (Web Authentication
// Level 3, §7.1 registration and §7.2 authentication) for the nodes of a flow
// and for the atomic endpoints alike.
//
// It is pure: it keeps nothing, asks no database but the FindCredential it is
// given, and speaks no HTTP. A ceremony has two halves. Begin returns the
// options for the browser and a session; whoever calls keeps the session where
// the client cannot touch it, for exactly one Finish. Finish verifies the
// browser's answer against the session and returns what shall be stored.
//
//	options, session, err := ceremonies.BeginAuthentication(request)
//	// options → navigator.credentials.get() → response
//	verified, err := ceremonies.FinishAuthentication(ctx, session, response, find, now)
//
// Options are the bare dictionaries that parseCreationOptionsFromJSON and
// parseRequestOptionsFromJSON take (§5.1.8, §5.1.9): bytes are base64url
// without padding, and there is no publicKey member around them.
//
// # What is checked where
//
// go-webauthn's protocol package parses what came and verifies attestation
// statements and signatures. Every other step is taken here first, each by
// itself, so that an error can say which step failed, and because the library
// leaves some of them to its caller: that the origin lies under the relying
// party id, exact origins, expiry, the owner of the credential, the backup
// flags, the signature counter, whether the key is one that can ever verify,
// and the operator's Policy. The library then repeats those it knows.
//
// # Errors
//
// A ceremony that was answered wrongly is a *schemas.Error of class Invalid
// and code passkey_verification_failed; FailedStep tells which step refused
// it. Origins and relying party ids that do not fit together are code
// passkey_configuration. Anything else (the store failed, a session is not
// one of ours) is internal.
//
// # Users who do not exist
//
// A start for a name nobody has, answered with decoys (see Decoys), looks like one for a
// user with passkeys: as many credentials as people have, with ids of the usual lengths
// and the usual transports, sorted by id. The finish goes through the same steps, a
// signature verification included, and refuses in the same words. What remains visible
// is that decoys never change, while the passkeys of a user do now and then.
package passkey
