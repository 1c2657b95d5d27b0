package directory

import (
	"context"
	"slices"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// hasLoginMethod returns an error if a user is about to remove the last sign-in method, the one of a proof;
// what names it. What a former password added does not count as another one: it is limited, so flows reject
// it. Nor does what the removal of the password marks. Other callers may remove the last method.
func (w *writeContext) hasLoginMethod(userID, what string, removed schemas.Proof) error {
	if !w.call.is(userID) {
		return nil
	}
	all, err := store.AdditionsOf(w.ctx, w.tx, userID)
	if err != nil {
		return err
	}
	confirmed, err := w.confirmed(userID)
	if err != nil {
		return err
	}
	former := schemas.AddedWithFormer(all, schemas.Proof{}, nil)
	wasFormer := slices.ContainsFunc(former, func(a schemas.Addition) bool { return a.IsProvedBy(removed) })
	if removed.Kind == schemas.PasswordProof {
		former = schemas.AddedWithFormer(all, removed, confirmed)
	} else if has, err := store.HasPassword(w.ctx, w.tx, userID); err != nil || has {
		return err
	}
	for _, a := range all {
		isFormer := slices.ContainsFunc(former, func(f schemas.Addition) bool { return f.ID == a.ID })
		if a.OpensAccount() && !a.IsProvedBy(removed) && (wasFormer || !isFormer) {
			return nil
		}
	}
	if removed.Kind == schemas.PasswordProof && slices.ContainsFunc(former, schemas.Addition.OpensAccount) {
		return schemas.Errorf(schemas.Conflict, schemas.CodeLastCredential,
			"this password alone has added the other sign-in methods of this account: sign in with one of them, and remove the password then")
	}
	return schemas.Errorf(schemas.Conflict, schemas.CodeLastCredential,
		"this %s is the only sign-in method of this account; register a passkey or set a password first", what)
}

// confirmed returns the credentials with which the calling user signed in, none for another user's account.
func (w *writeContext) confirmed(userID string) ([]schemas.Proof, error) {
	by, err := w.provenance(userID)
	return by.Proofs, err
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
