// Package directory manages the resources: applications, users and their types,
// organization units, groups, roles, resource servers, identity providers and flows. It
// fills in defaults, checks the rules, protects references, enforces which permissions a
// caller can grant, and writes the audit log. The HTTP API, the MCP tools, bootstrap and
// declarative files all use it, so the rules hold for each of them.
//
// Each noun is a Resource. A write is checked and stored in one serial transaction:
//
//	decode strictly → complete → check every rule → write → record the event
//
// A write reports all problems at once, each with its path and, for text with lines, its
// position. A refused write changes nothing.
//
// Callers check the permission for an operation (Noun.Read, Noun.Write) first. The
// directory ensures that a caller cannot grant, through a role, a group, a client or
// another user's password, a permission that the caller lacks.
package directory
