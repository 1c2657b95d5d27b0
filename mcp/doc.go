// Package mcp is the MCP server: tools with which a program manages applications and flows and
// learns how to integrate the React SDK, over the Model Context Protocol (Streamable HTTP,
// stateless, every version up to 2026-07-28).
//
// The tools use package directory like the HTTP API, on behalf of the caller. So permissions and
// the audit log are the same. The server checks access before [Server.Serve], as for every other
// endpoint.
//
// The result of a tool is a JSON object, as structured content and as text. An update tool accepts
// the result of the get tool; secrets, which no get tool shows, are kept. An error is a result with
// isError, with all faults at once: for a flow each finding has its rule, path, message and fix.
// With dry_run everything is checked and nothing stored.
//
// There are also resources (each flow with its findings and its diagram, the schemas, the catalog
// of kinds) and a prompt that helps to write a flow.
//
// # Adding a tool
//
// The function tools lists them all, in tool.go.
//
// # Load
//
// The protocol costs about ten times as much as the work. So the number of concurrent calls is
// limited, in total and for each client; further ones fail at once with a retry time. The list of
// resources and each reply are created from the store: nothing is cached between requests.
package mcp
