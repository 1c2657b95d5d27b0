package oauth

import (
	"net/url"
	"slices"
	"strings"
)

// DocumentPolicy restricts which clients can identify themselves with a metadata document. The zero
// value accepts all.
type DocumentPolicy struct {
	Disabled bool
	// Hosts are the accepted hosts, in lower case and without ports. Empty: all.
	Hosts []string
}

// Admits reports whether the client may use the server. Client ids that are not URLs are always
// accepted.
func (d DocumentPolicy) Admits(clientID string) bool { return d.check(clientID) == nil }

// Restricts reports whether the policy excludes any client.
func (d DocumentPolicy) Restricts() bool { return d.Disabled || len(d.Hosts) > 0 }

// check is Admits with the reason. It also applies to known clients.
func (d DocumentPolicy) check(clientID string) error {
	switch {
	case !isDocumentID(clientID), !d.Restricts():
		return nil
	case d.Disabled:
		return errorf(codeInvalidClient, "this server accepts no clients by their metadata documents: an administrator has to register the client, or enable oauth.client_metadata_documents")
	}
	u, err := url.Parse(clientID)
	if err != nil || !slices.Contains(d.Hosts, strings.ToLower(u.Hostname())) {
		return errorf(codeInvalidClient, "this server does not accept metadata documents of this host: an administrator has to register the client, or list the host in oauth.client_metadata_documents.allowed_hosts")
	}
	return nil
}
