// Package oauth is the OAuth 2.1 authorization server and OpenID provider, on the library
// github.com/zitadel/oidc.
//
// A token request passes through:
//
//	server: route, method, origin
//	  form.go:     reads the body strictly, and nothing from the query
//	  client_authentication.go: authenticates the client in exactly one way, by its secret or
//	               by an assertion (client_authentication_assertion.go)
//	  token.go:    the grant, which the library dispatches (library.go):
//	               authorization_code.go, refresh_token.go, client_credentials.go.
//	               issue.go has the contents of tokens.
//	server: the one place that writes errors
//
// Users sign in before that. A cookie, whose hash is stored, binds each request to the browser in
// which it started:
//
//	authorize.go: the stages of an authorization request. It is stored, and starts a run of the
//	    application's flow.
//	/gate/signin: the user goes through the flow. Its end grants the request,
//	    in the transaction that ends the run.
//	callback.go:  answers the granted request with a code, once.
//	token.go:     tokens for the code.
//	logout.go:    ends the session, and backchannel.go notifies the clients.
//
// An administrator creates clients, or they register themselves: at the registration endpoint
// (register.go) or with a document that they publish (metadata_document.go). These are untrusted,
// so users are asked for consent, and unused ones expire.
//
// Access tokens of one request have ids with a common prefix, and so can be revoked together, when
// a code or a refresh token is used twice.
//
// Handlers return errors: an [*Error] unchanged, any other in the server's form. They have written
// nothing then.
package oauth
