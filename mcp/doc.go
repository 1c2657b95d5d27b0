// Package mcp is the tool server: twelve tools by which a program manages
// applications and flows and learns how to integrate the React SDK, over the
// Model Context Protocol (Streamable HTTP, stateless, every version up to
// 2026-07-28).
//
// The tools call what the HTTP API calls, package directory, in the name of
// whoever sent the request. So what may be done, who may hand out what, and what
// the audit log says are the same by either way. Who may call at all is decided
// before [Server.Serve], as for every other endpoint.
//
// A tool's answer is a JSON object, as structured content and as text. What a get
// tool answers the update tool accepts; a secret, which no get tool shows, is
// kept. What goes wrong is an answer as well, marked isError, with everything
// that is wrong at once: for a flow each finding has its rule, its path, what it
// is and how to mend it. With dry_run all is checked and nothing kept.
//
// Beside the tools there are resources (each flow with its findings and its
// picture, the schemas, the catalogue of kinds of nodes) and a prompt that helps to write a flow.
//
// # Load
//
// The protocol costs about ten times what the work does. So the number of calls
// at a time is bounded, in all and for each client; further ones are refused at
// once, with the time after which to try again. The list of resources and each
// reply is made from the store anew: nothing is kept between requests.
package mcp
