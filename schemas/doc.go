// Package schemas holds the shapes of everything Postern keeps or speaks: the
// Go types of its nouns (flows, applications, users, credentials, runs), the
// JSON Schemas those types are published with, strict decoding of JSON and
// YAML that reports every mistake with its line and column, and the one error
// type of the whole program.
//
// The package knows no storage, no HTTP and no WebAuthn. Everything above it
// may import it; it imports nothing of Postern's.
//
// Identifiers are UUIDv7 text (RFC 9562 §5.7). Times are UTC and written as
// RFC 3339. JSON members are camelCase.
package schemas
