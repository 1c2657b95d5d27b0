package store

import (
	"context"
	"slices"

	"github.com/postern-id/postern/schemas"
)

// Reads of a user's data for the rules of the directory. They take a Reader, so they also work
// in the transaction that changes the data.

// CredentialsOf returns the user's passkeys, oldest first.
func CredentialsOf(ctx context.Context, r Reader, userID string) ([]schemas.Credential, error) {
	if found := aheadIn(ctx, r).takePasskeys(userID); found != nil {
		return *found, nil
	}
	return readAll(ctx, r, scanCredential, selectCredentials, userID)
}

// HasPassword reports whether the user has a password.
func HasPassword(ctx context.Context, r Reader, userID string) (bool, error) {
	return exists(ctx, r, "SELECT 1 FROM passwords WHERE user_id = ?", userID)
}

// PasswordAddedBy returns the sign-in that set the user's password, the zero value without a password.
func PasswordAddedBy(ctx context.Context, r Reader, userID string) (by schemas.Provenance, err error) {
	err = rows(ctx, r, func(row scanner) error { return row.Scan(provenance{&by}) }, "SELECT added_by FROM passwords WHERE user_id = ?", userID)
	return by, err
}

func (t *Tx) removePassword(c schemas.RemovePassword) error {
	if err := t.leavePassword(c.UserID, "", c.At, c.Confirmed); err != nil {
		return err
	}
	gone := schemas.Proof{Kind: schemas.PasswordProof}
	if _, err := t.removeProof(c.UserID, gone, c.At, "DELETE FROM passwords WHERE user_id = ?", c.UserID); err != nil {
		return err
	}
	return t.endRuns(c.UserID)
}

// TakenAttributes returns the attributes whose value belongs to another user: identifying
// attributes, under any name, and unique ones.
func TakenAttributes(ctx context.Context, r Reader, u *schemas.User, unique []string) (taken []string, err error) {
	look := func(attribute, q string, args ...any) {
		found := false
		if err == nil {
			found, err = exists(ctx, r, q, append(args, u.ID)...)
		}
		if found {
			taken = append(taken, attribute)
		}
	}
	for _, attribute := range schemas.IdentifyingAttributes() {
		if key := schemas.IdentifierKey(u.Text(attribute)); key != "" {
			look(attribute, "SELECT 1 FROM user_identifiers WHERE value = "+scopedValue+" AND user_id <> ?", u.Type, key)
		}
	}
	for _, attribute := range unique {
		if slices.Contains(schemas.IdentifyingAttributes(), attribute) {
			continue
		}
		key, wrong := uniqueKey(u.Attributes[attribute])
		if wrong != nil {
			return nil, wrong
		}
		if key != "" {
			look(attribute, "SELECT 1 FROM user_unique_values WHERE attribute = ? AND value = "+scopedValue+" AND user_id <> ?", attribute, u.Type, key)
		}
	}
	return taken, err
}
