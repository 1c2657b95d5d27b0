package store

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/postern-id/postern/schemas"
)

const (
	identityColumns = `id, user_id, provider_id, subject, name, created_at, last_used_at, added_by`

	selectIdentity   = `SELECT ` + identityColumns + ` FROM identities WHERE provider_id = ? AND subject = ?`
	selectIdentities = `SELECT ` + identityColumns + ` FROM identities WHERE user_id = ? ORDER BY created_at, id`

	// Of two users who link the same identity concurrently, the second waits and finds that it
	// belongs to the first.
	upsertIdentity = `INSERT INTO identities (` + identityColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (provider_id, subject) DO UPDATE SET name = excluded.name WHERE identities.user_id = excluded.user_id`

	updateIdentityUse = `UPDATE identities SET
		last_used_at = CASE WHEN last_used_at IS NULL OR last_used_at < ? THEN ? ELSE last_used_at END WHERE id = ?`

	selectIssuer = `SELECT issuer FROM identity_providers WHERE id = ?`

	deleteIdentity = `DELETE FROM identities WHERE id = ?`

	selectIdentityOwner = `SELECT user_id FROM identities WHERE id = ?`

	// Locks like lockUser, for all users with an identity at a provider.
	lockLinked = `UPDATE users SET updated_at = updated_at WHERE id IN (SELECT user_id FROM identities WHERE provider_id = ?)`

	selectLinkedSessions = `SELECT i.id, s.user_id FROM identities i CROSS JOIN sessions s WHERE i.provider_id = ? AND s.user_id = i.user_id ORDER BY i.id`
)

// Identity returns the identity of the subject at the provider, nil if no user has linked it.
// Subjects are compared byte by byte.
func (s *Store) Identity(ctx context.Context, providerID, subject string) (*schemas.Identity, error) {
	return readOne(s.row(ctx, selectIdentity, providerID, subject), scanIdentity, nil)
}

// UserIdentities returns the identities of a user, in the order in which they were linked.
func (s *Store) UserIdentities(ctx context.Context, userID string) ([]schemas.Identity, error) {
	return IdentitiesOf(ctx, s, userID)
}

// IdentitiesOf is UserIdentities for a Reader.
func IdentitiesOf(ctx context.Context, r Reader, userID string) ([]schemas.Identity, error) {
	return readAll(ctx, r, scanIdentity, selectIdentities, userID)
}

// CountIdentities returns how many identities users have at a provider.
func CountIdentities(ctx context.Context, r Reader, providerID string) (int, error) {
	return readValue[int](ctx, r, "SELECT count(*) FROM identities WHERE provider_id = ?", providerID)
}

// UnlinkIdentities removes all identities at a provider, ends the sessions that started with them,
// and returns the number of identities.
func UnlinkIdentities(t *Tx, providerID string, at time.Time) (n int, err error) {
	if _, err := t.exec(lockLinked, providerID); err != nil {
		return 0, err
	}
	signedIn := map[string]string{} // users with sessions, by their identities
	err = rows(t.ctx, t, func(row scanner) error {
		var identity, user string
		err := row.Scan(&identity, &user)
		signedIn[identity] = user
		return err
	}, selectLinkedSessions, providerID)
	if err != nil {
		return 0, err
	}
	unlinked, err := t.exec("DELETE FROM identities WHERE provider_id = ?", providerID)
	if err != nil {
		return 0, err
	}
	if err := t.leaveProviderAll(providerID, at); err != nil {
		return 0, err
	}
	for _, identity := range slices.Sorted(maps.Keys(signedIn)) {
		gone := schemas.Proof{Kind: schemas.IdentityProof, Of: identity}
		if err := t.endSessionsOn(signedIn[identity], gone, at); err != nil {
			return 0, err
		}
	}
	return int(unlinked), nil
}

// linkIdentity locks the user, so that of the two rows it references only the provider can be
// missing later.
func (t *Tx) linkIdentity(c schemas.LinkIdentity) error {
	i := c.Identity
	if !isStorable(i.Subject) || !isStorable(i.Name) {
		return schemas.Errorf(schemas.Invalid, schemas.CodeInvalidRequest,
			"the identity cannot be stored: its subject or name contains control characters or invalid UTF-8")
	}
	if _, err := t.lockUser(i.UserID); err != nil {
		return err
	}
	err := t.change(errIdentityTaken, upsertIdentity, i.ID, i.UserID, i.ProviderID, i.Subject, i.Name, toMicros(i.CreatedAt), optionalTime{&i.LastUsedAt}, provenance{&i.AddedBy})
	switch {
	case isForeignKeyViolation(err):
		return errNoProvider(i.ProviderID)
	case err == nil && c.Issuer != "":
		return t.checkIssuer(i.ProviderID, c.Issuer)
	}
	return err
}

// checkIssuer checks the issuer of a provider. The identity references it already, so it can
// no longer be deleted.
func (t *Tx) checkIssuer(providerID, issuer string) error {
	is, err := readValue[string](t.ctx, t, selectIssuer, providerID)
	if err == nil && is != issuer {
		return errNoProvider(providerID)
	}
	return err
}

func errNoProvider(id string) error {
	return schemas.Errorf(schemas.NotFound, schemas.CodeProviderNotFound, "there is no identity provider with the id %.64q, or it has been replaced", id)
}

func (t *Tx) useIdentity(c schemas.UseIdentity) error {
	return t.useProof(schemas.Proof{Kind: schemas.IdentityProof, Of: c.ID}, func() error {
		return schemas.Errorf(schemas.NotFound, schemas.CodeIdentityNotFound, "this identity is linked to no account; it may have been unlinked")
	}, updateIdentityUse, toMicros(c.At), toMicros(c.At), c.ID)
}

func (t *Tx) unlinkIdentity(c schemas.UnlinkIdentity) error {
	userID, err := t.owner(selectIdentityOwner, c.ID)
	if errors.Is(err, sql.ErrNoRows) || err == nil && userID != c.UserID {
		return nil
	}
	if err != nil {
		return err
	}
	providerID, err := readValue[string](t.ctx, t, "SELECT provider_id FROM identities WHERE id = ?", c.ID)
	if err != nil {
		return err
	}
	if _, err = t.removeProof(userID, schemas.Proof{Kind: schemas.IdentityProof, Of: c.ID}, c.At, deleteIdentity, c.ID); err != nil {
		return err
	}
	others, err := exists(t.ctx, t, "SELECT 1 FROM identities WHERE user_id = ? AND provider_id = ?", userID, providerID)
	if err != nil || others {
		return err
	}
	return t.leaveProvider(userID, providerID, c.At)
}

func scanIdentity(row scanner, i *schemas.Identity) error {
	return row.Scan(&i.ID, &i.UserID, &i.ProviderID, &i.Subject, &i.Name, (*microTime)(&i.CreatedAt), optionalTime{&i.LastUsedAt}, provenance{&i.AddedBy})
}

func errIdentityTaken() error {
	return schemas.Errorf(schemas.Conflict, schemas.CodeIdentityTaken,
		"another user has linked this identity; sign in with it to use that account, or link another one")
}
