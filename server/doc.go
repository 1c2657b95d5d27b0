// Package server is the HTTP interface of Postern: routes, handlers that return errors, and the one
// place that turns errors into replies.
//
// [New] returns the handler and [Serve] runs it on a listener; [Certificate] provides a TLS
// certificate. [Options] lists what the handlers need from the rest of the program, as small
// interfaces.
//
// # Errors
//
// Every error reply has the form of schemas.Error, 404 and 405 included, and contains the trace id
// of its log line. An error that is not a *schemas.Error is a server fault: the client gets the
// trace id and nothing else. 404 is about the path only; a missing resource that a body or query
// names is a 400. All faults of a body are reported at once, before the resources that it names are
// looked up.
//
// # Access
//
// The table of endpoints states what a request to each must contain: nothing, a user's own
// token, a permission, or what OAuth requires. The router checks all but the last, and nothing else
// does; testdata/routes.txt has the whole table. The directory decides which permissions a caller
// can grant or remove.
//
// # Resources
//
// All kinds of resources have the same endpoints, generated from the directory's description of
// each. Lists are paged with links, and have one filter by equality (RFC 7644 §3.4.2.2); an
// unknown parameter is an error. A single resource has an entity tag (RFC 9110 §8.8.3), and is
// available in YAML.
//
// # Passkey sessions
//
// A start of the passkey endpoints returns a session token: 256 random bits. Only the
// SHA-256 is stored. A finish consumes the session whatever its result, so that no answer can be
// tried twice. A newer registration for the same user invalidates the older one, and so does a newer
// authentication of the same client, which its address and User-Agent identify. An authentication
// without a user is a session of its own, because many users can be behind one client. A client
// that starts again can name the session that it abandons.
//
// # Trust
//
// Client addresses in the log are those of the connection, unless trusted proxies are configured.
// The scheme, host and audience of the server are those of Options.PublicURL, never of the Host
// header.
package server
