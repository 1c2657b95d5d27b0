// Package federation signs users in with another OpenID provider: it is the relying party
// of OpenID Connect Core 1.0 §3.1, by the code flow with PKCE.
//
//	browser          Postern                          provider
//	   |                |  discovery, once an hour ------>|
//	   |   a URL        | Begin: state, nonce, verifier   |
//	   |<---------------|                                 |
//	   |--------------------------- signs in ------------>|
//	   |<-------------------------- code, state, iss -----|
//	   |   the response |                                 |
//	   |--------------->| Finish: code and verifier ----->|
//	   |                |<------------------- ID token ---|
//
// [Client.Finish] accepts a code only with the state that [Client.Begin] stored for this
// sign-in, redeems it with the verifier of this sign-in, and accepts an ID token only with
// the nonce of this sign-in. So a code of another sign-in or another provider is useless
// here.
//
// Responses of a provider are bounded in size and time (package outbound). A provider that
// does not respond is retried only after a pause; sign-ins meanwhile fail at once.
//
// The protocol is implemented here on go-jose. Client libraries accept more than they
// should (issuers in several spellings, replies other than JSON, duplicate members), fetch
// keys whenever a token names an unknown one, and put token responses into errors.
package federation
