package directory

import (
	"context"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// hasLoginMethod returns an error if a user is about to remove the last sign-in method;
// what names it. Other callers may remove it.
func (w *writeContext) hasLoginMethod(userID, what string) error {
	if !w.call.is(userID) {
		return nil
	}
	n, err := countLoginMethods(w.ctx, w.tx, userID)
	if err != nil || n > 1 {
		return err
	}
	return schemas.Errorf(schemas.Conflict, schemas.CodeLastCredential,
		"this %s is the only sign-in method of this account; register a passkey or set a password first", what)
}

// HasLoginMethod reports whether a user has a password, a passkey or a linked identity.
func (d *Directory) HasLoginMethod(ctx context.Context, c Call, userID string) (bool, error) {
	return readAccount(ctx, d, c, userID, func(ctx context.Context, r store.Reader, userID string) (bool, error) {
		n, err := countLoginMethods(ctx, r, userID)
		return n > 0, err
	})
}

// countLoginMethods counts the sign-in methods of a user: password, passkeys and linked
// identities.
func countLoginMethods(ctx context.Context, r store.Reader, userID string) (n int, err error) {
	password, err := store.HasPassword(ctx, r, userID)
	if err != nil {
		return 0, err
	}
	keys, err := store.CredentialsOf(ctx, r, userID)
	if err != nil {
		return 0, err
	}
	identities, err := store.IdentitiesOf(ctx, r, userID)
	n = len(keys) + len(identities)
	if password {
		n++
	}
	return n, err
}
