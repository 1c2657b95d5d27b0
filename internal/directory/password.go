package directory

import (
	"context"
	"maps"

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
func (d *Directory) preparePassword(ctx context.Context, _ Call, _ *target, u *schemas.User) (any, error) {
	chosen := u.Text(passwordAttribute)
	if chosen == "" {
		return nil, nil
	}
	others := *u
	others.Attributes = maps.Clone(u.Attributes)
	delete(others.Attributes, passwordAttribute)
	if fault := d.Passwords.Check(password.Choice{Password: chosen, User: &others}); fault != "" {
		return checkedPassword{fault: fault}, nil
	}
	hash, err := d.Hasher.Hash(ctx, chosen)
	return checkedPassword{hash: hash}, err
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
	if err := store.RecordAddressChange(w.tx, old, u, w.now); err != nil {
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
