// Package federationtest is an OpenID provider in memory, for tests and for flow scenarios.
// It enforces everything that the specifications let a provider enforce: PKCE, the redirect
// URI, the client secret, and single use of codes. Tests can select a fault; [Catalog]
// lists them.
//
// A [Provider] answers the requests of package federation, and its SignIn plays the user
// and the browser. Several make an [Internet].
package federationtest
