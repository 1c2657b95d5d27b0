// Package federationtest is an OpenID provider in memory, for tests and for scenarios
// of flows. It asks of its client all that the specifications let a provider ask:
// PKCE, its redirect URI, its secret, and each code once. It misbehaves where it is
// told to: [Catalogue] lists in what ways.
//
// A [Provider] answers what package federation asks, and its SignIn is the person and
// the browser between. Several make an [Internet].
package federationtest
