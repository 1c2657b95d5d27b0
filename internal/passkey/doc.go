// Package passkey performs the two WebAuthn ceremonies (Web Authentication Level 3, §7.1
// registration and §7.2 authentication) for the nodes of a flow and for the passkey endpoints.
//
// It is pure: it stores nothing, reads no database except through FindCredential, and does not
// depend on HTTP. A ceremony has two halves. Begin returns the options for the browser and a
// session; the caller stores the session where the client cannot change it, for exactly one Finish.
// Finish verifies the browser's answer against the session and returns what to store.
//
//	options, session, err := ceremonies.BeginAuthentication(request)
//	// options → navigator.credentials.get() → response
//	verified, err := ceremonies.FinishAuthentication(ctx, session, response, find, now)
//
// Options are the bare dictionaries for parseCreationOptionsFromJSON and
// parseRequestOptionsFromJSON (§5.1.8, §5.1.9): bytes are base64url without padding, and there is
// no publicKey member around them.
//
// # What is checked where
//
// go-webauthn's protocol package parses the answer and verifies attestation statements and
// signatures. All other steps are taken here first, one at a time, so that an error can name the
// step that failed, and because the library leaves some of them to its caller: that the origin is
// in the domain of the relying party id, exact origins, expiry, the owner of the credential, the
// backup flags, the signature counter, whether the key can ever verify, and the operator's Policy.
// The library then repeats those it knows.
//
// # Errors
//
// A failed ceremony is a *schemas.Error of class Invalid and code passkey_verification_failed;
// FailedStep returns the step. Origins and relying party ids that do not fit together have the code
// passkey_configuration. Any other error (the store failed, a session from elsewhere) is internal.
//
// # Users who do not exist
//
// A start for an unknown name, answered with decoys (see Decoys), looks like one for a user with
// passkeys: a usual number of credentials, with usual lengths and transports, sorted by id. The
// finish takes the same steps, including a signature verification, and fails with the same text.
// One difference remains: decoys never change, while the passkeys of a user sometimes do.
package passkey
