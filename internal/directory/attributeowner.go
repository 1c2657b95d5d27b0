package directory

import (
	"context"
	"slices"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// AttributeOwners returns the owners of the attributes of a user; attributes without an owner are not listed. For an
// unknown user the error is user_not_found, Class NotFound.
func (d *Directory) AttributeOwners(ctx context.Context, c Call, userID string) ([]schemas.AttributeOwner, error) {
	return readAccount(ctx, d, c, userID, store.OwnersOf)
}

// SetAttributeOwner makes an owner that of an attribute of a user, in place of any other. The caller needs the
// permissions of the user if the attribute identifies, reaches or recovers the account. An identity provider can own
// attributes of its own users only.
func (d *Directory) SetAttributeOwner(ctx context.Context, c Call, userID string, o schemas.AttributeOwner) (*schemas.AttributeOwner, error) {
	var set *schemas.AttributeOwner
	err := d.changeOwner(ctx, c, userID, o.Attribute, func(w *writeContext) error {
		if err := w.checkOwner(userID, &o); err != nil {
			return err
		}
		o.Since = w.now
		if err := store.SetOwner(w.tx, userID, o); err != nil {
			return err
		}
		w.recordOwner(userID, "attribute.adopted", map[string]string{"attribute": o.Attribute, "owner": o.Owner, "providerId": o.ProviderID})
		all, err := store.OwnersOf(w.ctx, w.tx, userID)
		i := slices.IndexFunc(all, func(is schemas.AttributeOwner) bool { return is.Attribute == o.Attribute })
		if err == nil && i >= 0 {
			set = &all[i]
		}
		return err
	})
	return set, err
}

// ReleaseAttribute removes the owner of an attribute of a user. If it has none, it does nothing.
func (d *Directory) ReleaseAttribute(ctx context.Context, c Call, userID, attribute string) error {
	return d.changeOwner(ctx, c, userID, attribute, func(w *writeContext) error {
		had, err := store.ReleaseOwner(w.tx, userID, attribute)
		if err == nil && had {
			w.recordOwner(userID, "attribute.released", map[string]string{"attribute": attribute})
		}
		return err
	})
}

func (w *writeContext) recordOwner(userID, action string, detail map[string]string) {
	w.record(schemas.Event{Action: action, UserID: userID, Resource: schemas.ResourceRef{Type: "user", ID: userID}, Detail: detail})
}

// changeOwner runs do in a transaction if the caller may change an attribute of a user, for any owner.
func (d *Directory) changeOwner(ctx context.Context, c Call, userID, attribute string, do func(*writeContext) error) error {
	return d.transact(ctx, c, func(w *writeContext) error {
		u, err := store.UserOf(w.ctx, w.tx, userID)
		if err != nil {
			return err
		}
		t := w.userType(u)
		if names, open := t.AttributeNames(); !open && !slices.Contains(names, attribute) || attribute == t.CredentialAttribute() || schemas.VerificationAttributes()[attribute] != "" {
			w.addInvalid("attribute", "expected an attribute of the user type %q, got %.64q%s", t.Name, attribute, schemas.Hint(attribute, names))
		}
		if len(t.AccountAttributes([]string{attribute})) > 0 {
			w.requireOf("attribute", "this user", principalOf(u))
			w.requireAuthority(u.ID)
		}
		if err := w.err(d.Users.Noun()); err != nil {
			return err
		}
		return do(w)
	})
}

// checkOwner checks a new owner.
func (w *writeContext) checkOwner(userID string, o *schemas.AttributeOwner) error {
	switch {
	case !slices.Contains(schemas.OwnerKinds(), o.Owner):
		return schemas.Errorf(schemas.Invalid, schemas.CodeInvalidRequest, "expected as owner %s, got %.64q", quoted(schemas.OwnerKinds()), o.Owner)
	case o.Owner != schemas.OwnerProvider && o.ProviderID == "":
		return nil
	case o.Owner != schemas.OwnerProvider:
		return schemas.Errorf(schemas.Invalid, schemas.CodeInvalidRequest, "providerId is for the owner %q only; leave it out", schemas.OwnerProvider)
	}
	resolve(w, store.IdentityProviders(), "handle", &o.ProviderID)
	linked, err := store.IdentitiesOf(w.ctx, w.tx, userID)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(linked, func(i schemas.Identity) bool { return i.ProviderID == o.ProviderID }) {
		return schemas.Errorf(schemas.Invalid, schemas.CodeInvalidRequest,
			"the user has no identity at an identity provider with the id or handle %.64q, which would never refresh the attribute; choose one of the user's providers", o.ProviderID)
	}
	return nil
}

// checkOwners refuses changes of attributes that belong to another than the caller: users change their own
// account, and every other caller is an administrator.
func (w *writeContext) checkOwners(old, u *schemas.User) {
	by := schemas.Writer{Kind: schemas.OwnerAdministrator}
	if w.call.own {
		by.Kind = schemas.OwnerUser
	}
	owners, err := store.OwnersOf(w.ctx, w.tx, old.ID)
	w.fail(err)
	for _, p := range schemas.CheckOwners(owners, changedAttributes(old, u), by) {
		w.owned = append(w.owned, schemas.Problem{Path: schemas.JoinPath("attributes", p.Path), Message: p.Message})
	}
}
