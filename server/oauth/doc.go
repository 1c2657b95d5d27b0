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
// The library carries the protocol; what of it is missing or too lenient for
// Postern is added around it, not patched into it. It would take parameters from
// the query, the first of several of one name, and more than one way to
// authenticate; it logs by itself, tells clients what went wrong inside, and
// answers invalid_client with 400. None of that is reached here.
//
// Handlers return errors: an [*Error] as it is, anything else as the server words
// it. They have written nothing then.
package oauth
