// Package federation lets people sign in with another OpenID provider: it is the
// relying party of OpenID Connect Core 1.0 §3.1, by the code flow with PKCE.
//
//	browser          Postern                          provider
//	   |                |  discovery, once an hour ------>|
//	   |   a URL        | Begin: state, nonce, verifier   |
//	   |<---------------|                                 |
//	   |--------------------------- signs in ------------>|
//	   |<-------------------------- code, state, iss -----|
//	   |   the answer   |                                 |
//	   |--------------->| Finish: code and verifier ----->|
//	   |                |<------------------- ID token ---|
//
// What [Client.Begin] keeps goes to nobody but [Client.Finish], which takes a code
// only with the state of this sign-in, redeems it with the verifier of this sign-in,
// and believes an ID token only with the nonce of this sign-in. So a code that was
// given for another sign-in, or by another provider, is good for nothing here.
//
// What a provider says is bounded in size, and so is the time it takes (package
// outbound). A provider that does not answer is asked again only after a while: those
// who want to sign in meanwhile are told at once.
//
// The protocol is written here on go-jose and not taken from a client library. Those
// take more than they should of what a provider sends (issuers spelled in several
// ways, replies that are no JSON, members given twice), fetch keys as often as a token
// asks for it, and put replies with tokens in them into errors.
package federation
