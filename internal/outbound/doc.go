// Package outbound is the HTTP client for untrusted URLs: the metadata document of a
// client, its keys, its back-channel logout address, an identity provider, the services of
// flows. A server that fetches arbitrary URLs can be made to reach what only it can reach
// (SSRF): the database next to it, the metadata service of its cloud, itself. So there is
// one [Client] for all of them, which checks three things:
//
//	the URL    https, a name or an address in its plain spelling, no user, a port
//	           that is used for HTTP (check in url.go)
//	the dial   the address that the name resolved to is on the public internet
//	           (address.go). It is checked when the socket exists and is not yet
//	           connected, on every connection, so a name that later resolves to
//	           another address is checked again.
//	the reply  its size and the time until its end are bounded
//
// Redirects are returned like other replies and never followed. There are no cookies, and
// proxies from the environment are ignored: a proxy would resolve names itself and reach its
// own network.
//
// [Rules] lists the hosts and networks of the organization that may be private. Plain http
// is allowed for those of them that are this machine.
package outbound
