// Package server is the HTTP face of Postern: routes, handlers that return
// errors, and the one place that turns errors into replies.
//
// [New] makes the handler and [Serve] runs it on a listener; [Certificate]
// gives it a TLS certificate. What the handlers need of the rest of the program
// they say as small interfaces in [Options].
//
// # Errors
//
// Every error reply has the one shape of schemas.Error, 404 and 405 among them,
// and carries the trace id under which the log knows the request. An error that
// is not a *schemas.Error is our fault: the client learns the trace id and
// nothing else. 404 speaks of the path alone; what a body or query names and
// does not exist is a 400. Whatever is wrong with a body by itself is told at
// once, and before what it names is looked for.
//
// # Who may call what
//
// The table of endpoints says for each what a request must bring: nothing, any
// token, a user's own token, or a permission. The router checks that before the
// handler runs, and nothing else does; testdata/routes.txt has the whole table.
// What a caller may hand out or take away is for the directory to decide.
//
// # Resources
//
// All kinds of resources have the same five endpoints, made from what the
// directory says of each. Lists have pages, with links to the others, and one
// filter by equality (RFC 7644 §3.4.2.2); a parameter that is not known is an
// error, never ignored. A single resource has an entity tag (RFC 9110 §8.8.3),
// and comes in YAML to whoever would rather have that.
//
// # Passkey sessions
//
// A start of the atomic passkey endpoints gives out a session token: 256 random
// bits, of which only the SHA-256 is kept. A finish burns the token that it
// names whatever comes of it, so that no answer can be tried twice. A newer
// start for the same user and ceremony voids the older one. A start for no user
// in particular is a session of its own: strangers have nothing in common by
// which one of them could void another's, and no cookie is set to tell them
// apart. A client that begins such a one anew may name the session it leaves.
//
// # What is trusted
//
// Client addresses in the log are those of the connection: X-Forwarded-For is
// whatever a client says. The scheme, host and audience of the server are those
// of Options.PublicURL, never of the Host header.
package server
