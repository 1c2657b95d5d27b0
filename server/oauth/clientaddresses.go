package oauth

import (
	"context"

	"github.com/postern-id/postern/internal/outbound"
	"github.com/postern-id/postern/schemas"
)

// ClientAddresses decides whether outbound.allow applies to an address in the metadata of a client.
//
// Anyone can publish a metadata document and, where registration is open, register a client. Their
// addresses must be public, or the server would send requests into the internal network for them. An
// administrator approves the client by marking it as verified. For a client that registered itself,
// the list of hosts suffices.
type ClientAddresses struct {
	// Documents has the listed hosts.
	Documents DocumentPolicy
	// Expiry returns the expiry of a client: see Clients. Of the clients that were registered at the
	// endpoint, those of anonymous callers have one.
	Expiry func(ctx context.Context, clientID string) (*schemas.ClientExpiry, error)
}

// mayBePrivate reports whether an address of the client may be private.
func (a ClientAddresses) mayBePrivate(ctx context.Context, client *schemas.Application, address string) (bool, error) {
	switch {
	case client.IsTrusted():
		return true, nil
	case client.Registration == schemas.RegisteredByDocument || a.Expiry == nil:
		return false, nil
	case a.Documents.lists(address):
		return true, nil
	}
	expiry, err := a.Expiry(ctx, client.ClientID)
	return err == nil && expiry == nil, err
}

// privateKeysReason is the detail reason of client.refused if the keys of a client that registered itself
// are at a private address.
const privateKeysReason = "private_keys_address"

// approval describes to an operator what permits a private address.
const approval = "outbound.allow applies to a client that registered itself only if oauth.client_metadata_documents.allowed_hosts lists the host, or if an administrator marks the application as verified"

// checkOwnAddresses rejects private addresses of a client that registers without a token. Names are
// checked when they are resolved.
func (p *Provider) checkOwnAddresses(m *clientMetadata) error {
	for _, member := range []struct{ name, uri string }{{"jwks_uri", m.JWKSURI}, {"backchannel_logout_uri", m.BackchannelLogout}} {
		if member.uri == "" || p.CheckPublic == nil || p.Documents.lists(member.uri) {
			continue
		}
		if err := p.CheckPublic(member.uri); err != nil {
			return notPublic(member.name, err).refusing(member.name, member.uri)
		}
	}
	return nil
}

// notPublic is the error about an address of a client that registers without a token.
func notPublic(member string, err error) *Error {
	return errorf(codeInvalidMetadata, "%s: %s; its host must also be in oauth.client_metadata_documents.allowed_hosts", member, schemas.AsError(err).Description.DefaultValue)
}

// refusesAddress reports whether an error is about a private address.
func refusesAddress(err error) bool { return schemas.HasCode(err, outbound.CodeRefused) }
