// Package oauth is the OAuth 2.1 authorization server, between the HTTP server and the protocol
// library github.com/zitadel/oidc.
//
// A token request passes through:
//
//	server: route, method, origin
//	  form.go:        reads the body strictly, and nothing from the query
//	  credentials.go: the client authenticates in exactly one way
//	    op (zitadel/oidc): the grant and its parameters
//	      provider.go: authenticates the client; one file for each grant
//	  reply.go:       replaces op's errors
//	server: the one place that writes errors
//
// Users sign in before that. A cookie, whose hash is stored, binds each request to the browser in
// which it started:
//
//	authorize.go: resolves the client and redirect URI, validates the request,
//	    stores it and starts a run of the application's flow.
//	/gate/signin: the user goes through the flow. Its end grants the request,
//	    in the transaction that ends the run.
//	callback.go:  answers the granted request with a code, once.
//	authorization_code.go, refresh_token.go: tokens (issue.go has their contents).
//	logout.go: ends the session, and backchannel.go notifies the clients.
//
// An administrator creates clients, or they register themselves: at the registration endpoint
// (register.go) or with a document that they publish (metadata_document.go). These are untrusted,
// so users are asked for consent (consent.go), and unused ones expire (clientexpiry.go).
//
// Access tokens of one request have ids with a common prefix, and so can be revoked together, when
// a code or a refresh token is used twice.
//
// The library implements the protocol; what is missing or too lenient is added around it, not
// patched into it. It would accept parameters from the query, the first of several of one name, and
// more than one way to authenticate; it logs on its own, reveals internal errors to clients, and
// answers invalid_client with 400. None of that is reachable here.
//
// Handlers return errors: an [*Error] unchanged, any other in the server's form. They have written
// nothing then.
package oauth
