// Package outbound makes the requests whose addresses others name: the metadata
// document of a client, its keys, the address it wants to be told of a sign-out
// at, an identity provider, what a flow calls. A server that fetches what it is
// told to can be made to speak to what only it can reach: the database beside it,
// the metadata service of the cloud it runs in, itself. So there is one [Client]
// for all of them, and it asks three questions:
//
//	the URL    https, a name or an address in their plain spelling, no user, a port
//	           that is used for HTTP (check in url.go)
//	the dial   the address that the name resolved to is one of the public internet
//	           (address.go). It is judged when the socket is there and not yet
//	           connected, each time: a name that resolves to something else the
//	           second time is judged by what it resolves to the second time.
//	the reply  its size and the time until its end are bounded
//
// Redirects are replies like others, unless [Rules] has them followed; then each
// goes the same way. There are no cookies, and no proxy is taken from the
// environment: it would resolve names itself, and reach what it can reach.
//
// What an organization has inside, it names: [Rules] has hosts and networks that
// may be private. Plain http is for those among them that are this machine.
package outbound
