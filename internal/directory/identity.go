package directory

import (
	"context"

	"github.com/postern-id/postern/schemas"
)

// IdentityProvider returns the identity provider with the handle, with its client
// secret in the clear: it is for who asks the provider, and never for showing. An
// unknown one is identity_provider_not_found, Class NotFound.
func (d *Directory) IdentityProvider(ctx context.Context, handle string) (*schemas.IdentityProvider, error) {
	p, err := d.store.IdentityProvider(ctx, handle)
	if err != nil {
		return nil, err
	}
	return p, d.openSecret(p)
}

// Identity returns the identity of the subject at the provider, nil if nobody has
// linked it.
func (d *Directory) Identity(ctx context.Context, providerID, subject string) (*schemas.Identity, error) {
	return d.store.Identity(ctx, providerID, subject)
}

// UserIdentities returns the identities of a user, the first linked first.
func (d *Directory) UserIdentities(ctx context.Context, userID string) ([]schemas.Identity, error) {
	return d.store.UserIdentities(ctx, userID)
}
