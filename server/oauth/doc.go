// Package oauth is Postern as an OAuth 2.1 authorization server: what stands
// between the HTTP server and the protocol library, github.com/zitadel/oidc.
//
// A request takes this way:
//
//	server: route, method, origin
//	  form.go:        the body is read strictly, and nothing of the query
//	  credentials.go: the client authenticates in one way only
//	    op (zitadel/oidc): which grant it is, and its parameters
//	      provider.go: who the client is; one file for each grant
//	  reply.go:       what op says of an error is taken back
//	server: the one place that answers with errors
//
// People are signed in before that. Each hop is bound to the browser that the
// request came from, by a cookie of which the store has the hash:
//
//	authorize.go: who asks, and where the answer goes; then all else that is
//	    asked. The request is kept, and a run of the application's flow begun.
//	/gate/signin: the person goes through the flow. Its end grants the request,
//	    in the transaction that ends the run.
//	callback.go:  the granted request is answered with a code, once.
//	authorization_code.go, refresh_token.go: tokens for it (issue.go says which).
//	logout.go: the session ends, and backchannel.go tells the clients of it.
//
// Clients are made by an administrator, or make themselves: at the registration
// endpoint (register.go), or by a document that they publish (metadata_document.go).
// Nobody knows those, so people are asked before they get anything (consent.go), and
// they are kept only for as long as somebody uses them (lease.go).
//
// Access tokens that come of one request have ids that begin with its own, and so
// can be revoked together: when a code or a refresh token is used twice.
//
// The library carries the protocol; what of it is missing or too lenient for
// Postern is added around it, not patched into it. It would take parameters from
// the query, the first of several of one name, and more than one way to
// authenticate; it logs by itself, tells clients what went wrong inside, and
// answers invalid_client with 400. None of that is reached here.
//
// Handlers return errors: an [*Error] as it is, anything else as the server words
// it. They have written nothing then.
package oauth
