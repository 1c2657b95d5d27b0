// Package jwtverify verifies third-party JSON Web Tokens (RFC 7519): the assertions of clients
// and the ID tokens of identity providers.
//
//	the token  [Parse] parses it. Its header selects one of the signer's keys and
//	           nothing else: a key or an address in the header is ignored.
//	the key    [Keys] fetches the keys that a signer publishes at an address (RFC
//	           7517 §5), rarely, whatever tokens arrive; [Pick] selects from a list.
//	           [KeyFault] describes what is wrong with a key.
//
// All algorithms are asymmetric. HMAC would make a public key as good as a secret, and none
// needs no key at all (RFC 8725 §3.1).
package jwtverify
