package directory

import (
	"context"
	"fmt"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// passwordAttribute is under which attribute passwords come.
const passwordAttribute = "password"

// longestPassword is how many bytes of a password are hashed at most, whatever
// its user type allows: hashing costs time for each.
const longestPassword = 1024

// preparePassword hashes the password of a user who is to be written; "" if
// there is none.
func (d *Directory) preparePassword(ctx context.Context, u *schemas.User) (any, error) {
	password := u.Text(passwordAttribute)
	if password == "" || len(password) > longestPassword {
		return "", nil
	}
	return d.Hasher.Hash(ctx, password)
}

// hash is that of the password of the user who is written; "" for none.
func (w *work) hash() string {
	hash, _ := w.prepared.(string)
	return hash
}

// checkPassword finds a password that the type lets pass and that was not hashed.
func (w *work) checkPassword() []schemas.Problem {
	if !w.secret || w.hash() != "" {
		return nil
	}
	return []schemas.Problem{{
		Path:    passwordAttribute,
		Message: fmt.Sprintf("expected from 1 to %d bytes; leave it out to keep what there is", longestPassword),
	}}
}

// userChanged sets the password, and ends what somebody who had the old one may
// have begun: all sessions, but when users set their own.
func (d *Directory) userChanged(w *work, old, u *schemas.User) error {
	if !w.secret {
		return d.dropPassword(w, old, u)
	}
	err := w.tx.Apply([]schemas.Change{schemas.SetPassword{UserID: u.ID, Hash: w.hash(), At: w.now}})
	if err != nil {
		return err
	}
	w.about(u.ID, "password.set", schemas.ResourceRef{})
	if old == nil || w.call.is(u.ID) {
		return nil
	}
	_, err = w.endSessions(u.ID, "")
	return err
}

// dropPassword removes the password of a user whose new type has none: nobody
// could change it any more, and it would still open the account.
func (d *Directory) dropPassword(w *work, old, u *schemas.User) error {
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
	w.about(u.ID, "password.removed", schemas.ResourceRef{})
	return store.RemovePassword(w.tx, u.ID)
}
