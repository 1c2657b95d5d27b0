// Package directory is what may be done with the resources: applications, users
// and their types, organization units, groups, roles, resource servers and
// flows. It fills in defaults, checks every rule, keeps references whole,
// decides who may hand out what, and writes the audit log. The HTTP API, the
// tools, bootstrapping and declarative files all go through it, so that none of
// them can forget a rule.
//
// Each noun is a Resource. A write is judged and made in one serial transaction:
//
//	decode strictly → complete → check every rule → write → record the event
//
// Everything that is wrong is reported at once, with its path and, where the
// text had lines, its place. Nothing half-done remains.
//
// What the directory does not decide is whether a caller may use it at all: who
// calls it checks the permission (Noun.Read, Noun.Write) first. What it does
// decide is that nobody hands out, through a role, a group, a client or somebody
// else's password, what they do not have themselves.
package directory
