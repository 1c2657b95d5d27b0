package directory

import (
	"context"
	"maps"
	"slices"

	"github.com/postern-id/postern/internal/password"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// passwordAttribute is the attribute that contains a new password.
const passwordAttribute = "password"

// checkedPassword is a new password after the policy check: its hash or its fault.
type checkedPassword struct{ hash, fault string }

// preparePassword checks the password of a user against the policy and hashes it. It
// returns nil without a password.
func (d *Directory) preparePassword(ctx context.Context, c Call, at *target, u *schemas.User) (any, error) {
	chosen := u.Text(passwordAttribute)
	if chosen == "" {
		return nil, nil
	}
	others := *u
	others.Attributes = maps.Clone(u.Attributes)
	delete(others.Attributes, passwordAttribute)
	choice := password.Choice{Password: chosen, User: &others}
	if at != nil && c.is(at.id) {
		current, err := d.store.Password(ctx, at.id)
		if err != nil {
			return nil, err
		}
		choice.Replaces = current.Hash
	}
	hash, fault, err := d.Passwords.Accept(ctx, d.Hasher, choice)
	return checkedPassword{hash, fault}, err
}

// hash returns the hash of the user's new password; "" for none.
func (w *writeContext) hash() string {
	checked, _ := w.prepared.(checkedPassword)
	return checked.hash
}

// checkPassword reports a password that the user type accepts and the policy refuses.
func (w *writeContext) checkPassword() []schemas.Problem {
	if !w.secret || w.hash() != "" {
		return nil
	}
	fault := "the password is empty; leave it out to keep the current one"
	if checked, ok := w.prepared.(checkedPassword); ok {
		fault = checked.fault
	}
	return []schemas.Problem{{Path: passwordAttribute, Message: fault}}
}

// userChanged applies the consequences of a user's change.
func (d *Directory) userChanged(w *writeContext, old, u *schemas.User) error {
	if err := w.forgetAddress(old, u); err != nil {
		return err
	}
	if err := w.applyStatus(old, u); err != nil {
		return err
	}
	if !w.secret {
		return d.dropPassword(w, old, u)
	}
	w.recordUserEvent(u.ID, "password.set", schemas.ResourceRef{})
	if old != nil && !w.call.is(u.ID) {
		// The failed guesses were for the old password.
		if err := w.forgetFailedGuesses(u.ID); err != nil {
			return err
		}
	}
	var by schemas.Provenance
	if old != nil {
		var err error
		if by, err = w.provenance(u.ID); err != nil {
			return err
		}
		if err := requireUsefulPassword(w.ctx, w.tx, u.ID, by); err != nil {
			return err
		}
	}
	return w.apply(schemas.SetPassword{UserID: u.ID, Hash: w.hash(), At: w.now, AddedBy: by, Confirmed: by.Proofs})
}

// forgetAddress ends the sessions that started with a code sent to an address that the user
// no longer has, and has that address notified.
func (w *writeContext) forgetAddress(old, u *schemas.User) error {
	if old == nil || schemas.IdentifierKey(old.Text("email")) == schemas.IdentifierKey(u.Text("email")) {
		return nil
	}
	w.setActor()
	by, err := w.provenance(u.ID)
	if err != nil {
		return err
	}
	if err := store.RecordAddressChange(w.tx, old, u, by, w.now); err != nil {
		return err
	}
	return store.EndSessionsOn(w.tx, u.ID, schemas.ProofOfEmail(old.Text("email")), w.now)
}

// dropPassword removes the password of a user whose new type has none: it could not be
// changed any more but would still open the account.
func (d *Directory) dropPassword(w *writeContext, old, u *schemas.User) error {
	if old == nil || old.Type == u.Type {
		return nil
	}
	t, err := store.UserTypes().Find(w.ctx, w.tx, "name", u.Type)
	if err != nil || t == nil || t.CredentialAttribute() != "" {
		return err
	}
	had, err := store.HasPassword(w.ctx, w.tx, u.ID)
	if err != nil || !had {
		return err
	}
	w.recordUserEvent(u.ID, "password.removed", schemas.ResourceRef{})
	return w.apply(schemas.RemovePassword{UserID: u.ID, At: w.now})
}

// requireUsefulPassword returns an error if a password that is set with a sign-in would be worth less than a
// password, and its user could sign in with a passkey first: flows that guarantee a password reject such a
// one. So it is after an invitation, with which the user has added a passkey.
func requireUsefulPassword(ctx context.Context, r store.Reader, userID string, by schemas.Provenance) error {
	if isWorthPassword(by) {
		return nil
	}
	keys, err := store.CredentialsOf(ctx, r, userID)
	if err != nil || !slices.ContainsFunc(keys, func(k schemas.Credential) bool { return isWorthPassword(k.AddedBy) }) {
		return err
	}
	return &schemas.ProofRequired{ACR: schemas.ACRPassword, MaxAge: MaxProofAge, Err: schemas.Errorf(schemas.Unauthenticated, schemas.CodeStaleProof,
		"a password that is set after this sign-in would be worth less than a password, and most applications would reject it: sign in with the passkey first")}
}

// isWorthPassword reports whether a credential that is added with a sign-in is worth as much as a password.
func isWorthPassword(by schemas.Provenance) bool {
	return by.IsZero() || schemas.Satisfies(by.ACR, schemas.ACRPassword)
}
