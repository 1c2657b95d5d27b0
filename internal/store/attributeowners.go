package store

import (
	"context"

	"github.com/postern-id/postern/schemas"
)

const (
	selectOwners = `SELECT o.attribute, o.owner, p.id, p.handle, p.name, o.since FROM attribute_owners o
		LEFT JOIN identity_providers p ON p.id = o.provider_id WHERE o.user_id = ? ORDER BY o.attribute`

	upsertOwner = `INSERT INTO attribute_owners (user_id, attribute, owner, provider_id, since) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (user_id, attribute) DO UPDATE SET owner = excluded.owner, provider_id = excluded.provider_id, since = excluded.since`

	deleteOwner = `DELETE FROM attribute_owners WHERE user_id = ? AND attribute = ?`

	deleteOwnerships = `DELETE FROM attribute_owners WHERE user_id = ? AND provider_id = ?`
)

// OwnersOf returns the owners of a user's attributes, sorted by attribute.
func OwnersOf(ctx context.Context, r Reader, userID string) ([]schemas.AttributeOwner, error) {
	return readAll(ctx, r, func(row scanner, o *schemas.AttributeOwner) error {
		return row.Scan(&o.Attribute, &o.Owner, (*nullText)(&o.ProviderID), (*nullText)(&o.ProviderHandle), (*nullText)(&o.ProviderName), (*microTime)(&o.Since))
	}, selectOwners, userID)
}

// AttributeOwners is OwnersOf.
func (s *Store) AttributeOwners(ctx context.Context, userID string) ([]schemas.AttributeOwner, error) {
	return OwnersOf(ctx, s, userID)
}

// SetOwner makes an owner that of the user's attribute.
func SetOwner(t *Tx, userID string, o schemas.AttributeOwner) error {
	_, err := t.exec(upsertOwner, userID, o.Attribute, o.Owner, nullable(o.ProviderID), toMicros(o.Since))
	if isForeignKeyViolation(err) {
		return errNoProvider(o.ProviderID)
	}
	return err
}

// ReleaseOwner removes the owner of a user's attribute, and reports whether there was one.
func ReleaseOwner(t *Tx, userID, attribute string) (bool, error) {
	n, err := t.exec(deleteOwner, userID, attribute)
	return n > 0, err
}

// checkOwners returns an error if a writer changes an attribute of another owner.
func (t *Tx) checkOwners(userID string, changed []string, by schemas.Writer) error {
	owners, err := OwnersOf(t.ctx, t, userID)
	if err != nil {
		return err
	}
	return schemas.ErrOwned(schemas.CheckOwners(owners, changed, by))
}
