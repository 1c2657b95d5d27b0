package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/postern-id/postern/schemas"
)

const (
	identityColumns = `id, user_id, provider_id, subject, name, created_at, last_used_at`

	selectIdentity   query = `SELECT ` + identityColumns + ` FROM identities WHERE provider_id = ? AND subject = ?`
	selectIdentities query = `SELECT ` + identityColumns + ` FROM identities WHERE user_id = ? ORDER BY created_at, id`

	// Of two users who link the same identity concurrently, the second waits and finds that it
	// belongs to the first.
	upsertIdentity query = `INSERT INTO identities (` + identityColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (provider_id, subject) DO UPDATE SET name = excluded.name WHERE identities.user_id = excluded.user_id`

	updateIdentityUse query = `UPDATE identities SET
		last_used_at = CASE WHEN last_used_at IS NULL OR last_used_at < ? THEN ? ELSE last_used_at END WHERE id = ?`

	selectIssuer query = `SELECT issuer FROM identity_providers WHERE id = ?`

	deleteIdentity query = `DELETE FROM identities WHERE id = ?`

	selectIdentityOwner query = `SELECT user_id FROM identities WHERE id = ?`

	// Locks like lockUser, for all users with an identity at a provider.
	lockLinked = `UPDATE users SET updated_at = updated_at WHERE id IN (SELECT user_id FROM identities WHERE provider_id = ?)`

	selectLinkedSessions = `SELECT i.id, s.user_id FROM identities i CROSS JOIN sessions s WHERE i.provider_id = ? AND s.user_id = i.user_id ORDER BY i.id`
)

// Identity returns the identity of the subject at the provider, nil if no user has linked it.
// Subjects are compared byte by byte.
func (s *Store) Identity(ctx context.Context, providerID, subject string) (*schemas.Identity, error) {
	if !isStorable(providerID) || !isStorable(subject) {
		return nil, nil
	}
	var found []schemas.Identity
	if err := s.each(ctx, selectIdentity, intoIdentities(&found), providerID, subject); err != nil {
		return nil, fmt.Errorf("store: reading an identity: %w", err)
	}
	return firstOf(found), nil
}

// UserIdentities returns the identities of a user, in the order in which they were linked.
func (s *Store) UserIdentities(ctx context.Context, userID string) (found []schemas.Identity, err error) {
	if !isStorable(userID) {
		return nil, nil
	}
	if err := s.each(ctx, selectIdentities, intoIdentities(&found), userID); err != nil {
		return nil, fmt.Errorf("store: reading identities: %w", err)
	}
	return found, nil
}

// IdentitiesOf is UserIdentities for a Reader.
func IdentitiesOf(ctx context.Context, r Reader, userID string) (found []schemas.Identity, err error) {
	if !isStorable(userID) {
		return nil, nil
	}
	if err := rows(ctx, r, intoIdentities(&found), string(selectIdentities), userID); err != nil {
		return nil, fmt.Errorf("reading identities: %w", err)
	}
	return found, nil
}

// CountIdentities returns how many identities users have at a provider.
func CountIdentities(ctx context.Context, r Reader, providerID string) (n int, err error) {
	err = rows(ctx, r, func(row scanner) error { return row.Scan(&n) }, "SELECT count(*) FROM identities WHERE provider_id = ?", providerID)
	if err != nil {
		return 0, fmt.Errorf("counting identities: %w", err)
	}
	return n, nil
}

// UnlinkIdentities removes all identities at a provider, ends the sessions that rest on them,
// and returns the number of identities.
func UnlinkIdentities(t *Tx, providerID string, at time.Time) (n int, err error) {
	if _, err := t.exec(lockLinked, providerID); err != nil {
		return 0, fmt.Errorf("store: locking the users of an identity provider: %w", err)
	}
	signedIn := map[string]string{} // users with sessions, by their identities
	err = rows(t.tx.ctx, t, func(row scanner) error {
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
		return 0, fmt.Errorf("store: unlinking identities: %w", err)
	}
	for _, identity := range slices.Sorted(maps.Keys(signedIn)) {
		gone := schemas.Proof{Kind: schemas.IdentityProof, Of: identity}
		if err := t.tx.endSessionsOn(signedIn[identity], gone, at); err != nil {
			return 0, err
		}
	}
	return int(unlinked), nil
}

func intoIdentities(found *[]schemas.Identity) func(scanner) error {
	return func(row scanner) error {
		var i schemas.Identity
		var used sql.NullInt64
		if err := row.Scan(&i.ID, &i.UserID, &i.ProviderID, &i.Subject, &i.Name, (*microTime)(&i.CreatedAt), &used); err != nil {
			return err
		}
		if used.Valid {
			at := fromMicros(used.Int64)
			i.LastUsedAt = &at
		}
		*found = append(*found, i)
		return nil
	}
}

// linkIdentity locks the user, so that of the two rows it references only the provider can be
// missing later.
func (t *tx) linkIdentity(c schemas.LinkIdentity) error {
	i := c.Identity
	if !isStorable(i.Subject) || !isStorable(i.Name) {
		return schemas.Errorf(schemas.Invalid, schemas.CodeInvalidRequest,
			"This identity cannot be kept: its subject or name has characters that are no text.")
	}
	if _, err := t.lockUser(i.UserID); err != nil {
		return err
	}
	used := sql.NullInt64{}
	if i.LastUsedAt != nil {
		used = sql.NullInt64{Int64: toMicros(*i.LastUsedAt), Valid: true}
	}
	n, err := t.exec(upsertIdentity, i.ID, i.UserID, i.ProviderID, i.Subject, i.Name, toMicros(i.CreatedAt), used)
	switch {
	case isForeignKeyViolation(err):
		return errNoProvider(i.ProviderID)
	case err != nil:
		return fmt.Errorf("store: linking an identity: %w", err)
	case n == 0:
		return schemas.Errorf(schemas.Conflict, schemas.CodeIdentityTaken,
			"Another user has linked this identity. Sign in with it to use that account, or link another one.")
	case c.Issuer != "":
		return t.checkIssuer(i.ProviderID, c.Issuer)
	}
	return nil
}

// checkIssuer checks the issuer of a provider. The identity references it already, so it can
// no longer be deleted.
func (t *tx) checkIssuer(providerID, issuer string) error {
	var is string
	switch err := t.row(selectIssuer, providerID).Scan(&is); {
	case err != nil:
		return fmt.Errorf("store: reading an identity provider: %w", err)
	case is != issuer:
		return errNoProvider(providerID)
	}
	return nil
}

func errNoProvider(id string) error {
	return schemas.Errorf(schemas.NotFound, schemas.CodeProviderNotFound, "There is no identity provider with the id %.64q, or not the one any more.", id)
}

func (t *tx) useIdentity(c schemas.UseIdentity) error {
	n, err := t.exec(updateIdentityUse, toMicros(c.At), toMicros(c.At), c.ID)
	if err != nil {
		return fmt.Errorf("store: using an identity: %w", err)
	}
	if n == 0 {
		return schemas.Errorf(schemas.NotFound, schemas.CodeIdentityNotFound, "This identity is linked to no account; it may have been unlinked.")
	}
	return nil
}

func (t *tx) unlinkIdentity(c schemas.UnlinkIdentity) error {
	userID, err := t.owner(selectIdentityOwner, c.ID)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := t.lockUser(userID); err != nil {
		return err
	}
	if _, err := t.exec(deleteIdentity, c.ID); err != nil {
		return fmt.Errorf("store: unlinking an identity: %w", err)
	}
	return t.endSessionsOn(userID, schemas.Proof{Kind: schemas.IdentityProof, Of: c.ID}, c.At)
}
