// Package schemas contains the data types of Postern (flows, applications, users, credentials,
// runs), their JSON Schemas, strict decoding of JSON and YAML that reports every mistake with its
// line and column, and the error type of the whole program.
//
// The package is independent of storage, HTTP and WebAuthn. Every other package may import it; it
// imports no other package of Postern.
//
// Identifiers are UUIDv7 text (RFC 9562 §5.7). Times are UTC and written as
// RFC 3339. JSON members are camelCase.
package schemas
