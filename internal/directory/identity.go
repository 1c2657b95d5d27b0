package directory

import (
	"context"
	"slices"
	"strconv"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// IdentityProvider returns the identity provider with the handle, with its client secret in
// clear: it is for requests to the provider and must not be shown. For an unknown handle
// the error is identity_provider_not_found, Class NotFound.
func (d *Directory) IdentityProvider(ctx context.Context, handle string) (*schemas.IdentityProvider, error) {
	p, err := d.store.IdentityProvider(ctx, handle)
	if err != nil {
		return nil, err
	}
	return p, d.openSecret(p)
}

// Identity returns the identity of the subject at the provider, nil if it is not linked.
func (d *Directory) Identity(ctx context.Context, providerID, subject string) (*schemas.Identity, error) {
	return d.store.Identity(ctx, providerID, subject)
}

// UserIdentities returns the identities of a user in the order in which they were linked.
func (d *Directory) UserIdentities(ctx context.Context, userID string) ([]schemas.Identity, error) {
	return d.store.UserIdentities(ctx, userID)
}

// LinkedIdentity is an external identity of a user with its provider.
type LinkedIdentity struct {
	schemas.Identity
	Provider *schemas.IdentityProvider // without its secret
}

// Identities returns the linked identities of a user in the order in which they were
// linked. For an unknown user the error is user_not_found, Class NotFound.
func (d *Directory) Identities(ctx context.Context, c Call, userID string) ([]LinkedIdentity, error) {
	found, err := readAccount(ctx, d, c, userID, store.IdentitiesOf)
	if err != nil {
		return nil, err
	}
	list := make([]LinkedIdentity, 0, len(found))
	for _, i := range found {
		p, err := store.IdentityProviders().Get(ctx, d.reader(c), i.ProviderID)
		if schemas.HasClass(err, schemas.NotFound) {
			continue // deleted meanwhile
		}
		if err != nil {
			return nil, err
		}
		p.SealedSecret = nil
		list = append(list, LinkedIdentity{i, p})
	}
	return list, nil
}

// DeleteIdentity unlinks an identity from a user, who can no longer sign in with it. An
// identity of another user is reported like a missing one: identity_not_found, Class
// NotFound. Users cannot remove their last sign-in method: the error has Class Conflict,
// code last_credential. Administrators can.
func (d *Directory) DeleteIdentity(ctx context.Context, c Call, userID, id string) error {
	return d.changeAccount(ctx, c, userID, func(w *writeContext) error {
		all, err := store.IdentitiesOf(w.ctx, w.tx, userID)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(all, func(i schemas.Identity) bool { return i.ID == id }) {
			return schemas.Errorf(schemas.NotFound, schemas.CodeIdentityNotFound, "this user has no identity with the id %.64q; it may have been unlinked", id)
		}
		if err := w.hasLoginMethod(userID, "identity", schemas.Proof{Kind: schemas.IdentityProof, Of: id}); err != nil {
			return err
		}
		w.recordUserEvent(userID, "identity.unlinked", schemas.ResourceRef{Type: "identity", ID: id})
		return w.apply(schemas.UnlinkIdentity{UserID: userID, ID: id, At: w.now})
	})
}

// UnlinkProvider unlinks all identities of a provider, which can be deleted then, and
// returns how many there were. The caller needs the permissions of all linked users. Users
// without another sign-in method lose access.
func (d *Directory) UnlinkProvider(ctx context.Context, c Call, providerID string) (n int, err error) {
	err = d.transact(ctx, c, func(w *writeContext) error {
		p, err := store.IdentityProviders().Get(w.ctx, w.tx, providerID)
		if err != nil {
			return err
		}
		w.requireLinked(p)
		noun := d.IdentityProviders.Noun()
		if err := w.err(noun); err != nil {
			return err
		}
		w.setActor()
		if n, err = store.UnlinkIdentities(w.tx, providerID, w.now); err != nil || n == 0 {
			return err
		}
		w.detail = map[string]string{"identities": strconv.Itoa(n)}
		w.recordEvent(noun, "unlinked", providerID, "", "")
		return nil
	})
	return n, err
}
