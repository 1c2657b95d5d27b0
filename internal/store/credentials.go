package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"

	"github.com/postern-id/postern/schemas"
)

const (
	credentialColumns = `id, user_id, name, rp_id, public_key, algorithm, attestation_format, attested, aaguid, attachment,
		transports, sign_count, user_verified, backup_eligible, backup_state, created_at, last_used_at`

	selectCredential  query = `SELECT ` + credentialColumns + ` FROM credentials WHERE id = ?`
	selectCredentials query = `SELECT ` + credentialColumns + ` FROM credentials WHERE user_id = ?
		ORDER BY created_at, id`

	insertCredential query = `INSERT INTO credentials (` + credentialColumns + `)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`

	// If two assertions are verified concurrently, the later one may be recorded first. The
	// earlier must not overwrite it: a counter that decreases would hide a cloned
	// authenticator.
	updateCredentialUse query = `UPDATE credentials SET
		sign_count = CASE WHEN sign_count < ? THEN ? ELSE sign_count END,
		backup_state = CASE WHEN last_used_at IS NULL OR last_used_at <= ? THEN ? ELSE backup_state END,
		last_used_at = CASE WHEN last_used_at IS NULL OR last_used_at < ? THEN ? ELSE last_used_at END
		WHERE id = ? AND sign_count < ?`

	selectCredentialOwner query = `SELECT user_id FROM credentials WHERE id = ?`

	updateCredentialName query = `UPDATE credentials SET name = ? WHERE id = ?`
	deleteCredential     query = `DELETE FROM credentials WHERE id = ?`
)

// Credentials returns the user's passkeys, oldest first.
func (s *Store) Credentials(ctx context.Context, userID string) (credentials []schemas.Credential, err error) {
	if !isStorable(userID) {
		return nil, nil
	}
	err = s.each(ctx, selectCredentials, func(row scanner) error {
		var c schemas.Credential
		err := scanCredential(row, &c)
		credentials = append(credentials, c)
		return err
	}, userID)
	if err != nil {
		return nil, fmt.Errorf("store: reading passkeys: %w", err)
	}
	return credentials, nil
}

// Credential returns the passkey with the ID, of any user. An unknown one is
// credential_not_found, Class NotFound.
func (s *Store) Credential(ctx context.Context, id schemas.Bytes) (*schemas.Credential, error) {
	var c schemas.Credential
	err := scanCredential(s.row(ctx, selectCredential, nonNilBytes(id)), &c)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, errNoCredential()
	}
	if err != nil {
		return nil, fmt.Errorf("store: reading a passkey: %w", err)
	}
	return &c, nil
}

func scanCredential(row scanner, c *schemas.Credential) error {
	var transports sql.NullString
	var created int64
	var used sql.NullInt64
	err := row.Scan((*[]byte)(&c.ID), &c.UserID, &c.Name, &c.RPID, (*[]byte)(&c.PublicKey), &c.Algorithm,
		&c.AttestationFormat, &c.Attested, &c.AAGUID, &c.Attachment, &transports, &c.SignCount, &c.UserVerified,
		&c.BackupEligible, &c.BackupState, &created, &used)
	if err != nil {
		return err
	}
	c.Transports, c.CreatedAt = list(transports), fromMicros(created)
	if used.Valid {
		at := fromMicros(used.Int64)
		c.LastUsedAt = &at
	}
	return nil
}

func errNoCredential() error {
	return schemas.Errorf(schemas.NotFound, schemas.CodeCredentialNotFound, "There is no such passkey; it may have been deleted.")
}

func (t *tx) createCredential(c schemas.Credential) error {
	transports, err := joinLines(c.Transports)
	if err != nil {
		return err
	}
	var used sql.NullInt64
	if c.LastUsedAt != nil {
		used = sql.NullInt64{Int64: toMicros(*c.LastUsedAt), Valid: true}
	}
	n, err := t.exec(insertCredential, nonNilBytes(c.ID), c.UserID, c.Name, c.RPID, nonNilBytes(c.PublicKey), c.Algorithm,
		c.AttestationFormat, c.Attested, c.AAGUID, c.Attachment, transports, int64(c.SignCount), c.UserVerified,
		c.BackupEligible, c.BackupState, toMicros(c.CreatedAt), used)
	if isForeignKeyViolation(err) {
		return errNoUser()
	}
	if err != nil {
		return fmt.Errorf("store: creating a passkey: %w", err)
	}
	if n == 0 {
		return schemas.Errorf(schemas.Conflict, schemas.CodeCredentialExists,
			"This passkey is registered already. Sign in with it, or create another.")
	}
	return nil
}

func (t *tx) useCredential(c schemas.UseCredential) error {
	count, at := int64(c.SignCount), toMicros(c.At)
	below := int64(math.MaxInt64) // any count will do
	if c.MustGrow {
		below = max(count, 1) // an authenticator without a counter shows 0 each time
	}
	err := t.changeCredential(updateCredentialUse, count, count, at, c.BackupState, at, at, nonNilBytes(c.ID), below)
	if !c.MustGrow || !schemas.HasCode(err, schemas.CodeCredentialNotFound) {
		return err
	}
	if _, unknown := t.owner(selectCredentialOwner, nonNilBytes(c.ID)); unknown != nil {
		return err
	}
	return schemas.Errorf(schemas.Invalid, schemas.CodePasskeyFailed,
		"This passkey was used at the same moment with a signature counter that is not lower, as by a copied authenticator. Try again.")
}

// owner returns the owner of a credential, by a query for the user's ID. If there is no such
// credential the error is sql.ErrNoRows.
func (t *tx) owner(q query, id any) (userID string, err error) {
	if err := t.row(q, id).Scan(&userID); err != nil {
		return "", fmt.Errorf("store: looking whose a credential is: %w", err)
	}
	return userID, nil
}

func (t *tx) renameCredential(c schemas.RenameCredential) error {
	return t.changeCredential(updateCredentialName, c.Name, nonNilBytes(c.ID))
}

func (t *tx) deleteCredential(c schemas.DeleteCredential) error {
	userID, err := t.owner(selectCredentialOwner, nonNilBytes(c.ID))
	if errors.Is(err, sql.ErrNoRows) {
		return errNoCredential()
	}
	if err != nil {
		return err
	}
	if _, err := t.lockUser(userID); err != nil {
		return err
	}
	if err := t.changeCredential(deleteCredential, nonNilBytes(c.ID)); err != nil {
		return err
	}
	return t.endSessionsOn(userID, schemas.Proof{Kind: schemas.PasskeyProof, Of: c.ID.String()}, c.At)
}

// changeCredential runs a statement that changes one passkey.
func (t *tx) changeCredential(q query, args ...any) error {
	n, err := t.exec(q, args...)
	if err != nil {
		return fmt.Errorf("store: changing a passkey: %w", err)
	}
	if n == 0 {
		return errNoCredential()
	}
	return nil
}
