// Package signed reads what others sign: JSON Web Tokens (RFC 7519) by which clients
// say who they are, and identity providers who a person is.
//
//	the token  [Parse] takes it apart. Its header says by which of the signer's keys
//	           it is signed, and nothing else that is obeyed: no key in it, nor where
//	           one is.
//	the key    [Keys] has those that a signer publishes at an address (RFC 7517 §5),
//	           fetched seldom, whatever tokens come. A list of them is as good.
//	           [KeyFault] says what is wrong with a key.
//
// Algorithms are asymmetric alone. With HMAC a public key would be as good as a
// secret, and with none no key at all is needed (RFC 8725 §3.1).
package signed
