package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"math"
	"slices"

	"github.com/postern-id/postern/schemas"
)

const (
	credentialColumns = `id, user_id, name, rp_id, public_key, algorithm, attestation_format, attested, aaguid, attachment,
		transports, sign_count, user_verified, backup_eligible, backup_state, created_at, last_used_at, added_by`

	selectCredential  = `SELECT ` + credentialColumns + ` FROM credentials WHERE id = ?`
	selectCredentials = `SELECT ` + credentialColumns + ` FROM credentials WHERE user_id = ?
		ORDER BY created_at, id`

	insertCredential = `INSERT INTO credentials (` + credentialColumns + `)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`

	// If two assertions are verified concurrently, the later one may be recorded first. The
	// earlier must not overwrite it: a counter that decreases would hide a cloned
	// authenticator.
	updateCredentialUse = `UPDATE credentials SET
		sign_count = CASE WHEN sign_count < ? THEN ? ELSE sign_count END,
		backup_state = CASE WHEN last_used_at IS NULL OR last_used_at <= ? THEN ? ELSE backup_state END,
		last_used_at = CASE WHEN last_used_at IS NULL OR last_used_at < ? THEN ? ELSE last_used_at END
		WHERE id = ? AND sign_count < ? RETURNING user_id`

	selectCredentialOwner = `SELECT user_id FROM credentials WHERE id = ?`

	updateCredentialName = `UPDATE credentials SET name = ? WHERE id = ? AND user_id = ?`
	deleteCredential     = `DELETE FROM credentials WHERE id = ?`
)

// Credentials returns the user's passkeys, oldest first.
func (s *Store) Credentials(ctx context.Context, userID string) ([]schemas.Credential, error) {
	return CredentialsOf(ctx, s, userID)
}

// Credential returns the passkey with the ID, of any user. An unknown one is
// credential_not_found, Class NotFound.
func (s *Store) Credential(ctx context.Context, id schemas.Bytes) (*schemas.Credential, error) {
	if kept := aheadOf(ctx); kept != nil {
		return s.readWithUser(ctx, kept, id)
	}
	return readOne(s.row(ctx, selectCredential, nonNilBytes(id)), scanCredential, errNoCredential)
}

func scanCredential(row scanner, c *schemas.Credential) error {
	return row.Scan(credentialDestinations(c)...)
}

func credentialDestinations(c *schemas.Credential) []any {
	return []any{(*[]byte)(&c.ID), &c.UserID, &c.Name, &c.RPID, (*[]byte)(&c.PublicKey), &c.Algorithm,
		&c.AttestationFormat, &c.Attested, &c.AAGUID, &c.Attachment, (*lines)(&c.Transports), &c.SignCount, &c.UserVerified,
		&c.BackupEligible, &c.BackupState, (*microTime)(&c.CreatedAt), optionalTime{&c.LastUsedAt}, provenance{&c.AddedBy}}
}

func errNoCredential() error {
	return schemas.Errorf(schemas.NotFound, schemas.CodeCredentialNotFound, "there is no such passkey; it may have been deleted")
}

func (t *Tx) createCredential(c schemas.Credential) error {
	err := t.change(errCredentialExists, insertCredential, credentialValues(&c)...)
	if isForeignKeyViolation(err) {
		return errNoUser()
	}
	return err
}

// credentialValues are the values of credentialColumns.
func credentialValues(c *schemas.Credential) []any {
	return []any{nonNilBytes(c.ID), c.UserID, c.Name, c.RPID, nonNilBytes(c.PublicKey), c.Algorithm,
		c.AttestationFormat, c.Attested, c.AAGUID, c.Attachment, (*lines)(&c.Transports), int64(c.SignCount), c.UserVerified,
		c.BackupEligible, c.BackupState, toMicros(c.CreatedAt), optionalTime{&c.LastUsedAt}, provenance{&c.AddedBy}}
}

func (t *Tx) useCredential(c schemas.UseCredential) error {
	count, at := int64(c.SignCount), toMicros(c.At)
	below := int64(math.MaxInt64) // any count will do
	if c.MustGrow {
		below = max(count, 1) // an authenticator without a counter shows 0 each time
	}
	args := []any{count, count, at, c.BackupState, at, at, nonNilBytes(c.ID), below}
	if t.inBatch() {
		return t.useProof(schemas.Proof{Kind: schemas.PasskeyProof, Of: c.ID.String()}, nil, updateCredentialUse, args...)
	}
	var userID string
	err := t.row(updateCredentialUse, args...).Scan(&userID)
	if err == nil {
		t.knowCredential(userID, c.ID)
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if _, unknown := t.owner(selectCredentialOwner, nonNilBytes(c.ID)); unknown != nil || !c.MustGrow {
		return errNoCredential()
	}
	return schemas.Errorf(schemas.Invalid, schemas.CodePasskeyFailed,
		"this passkey was used at the same time with an equal or higher signature counter, which can mean that the authenticator was copied; try again")
}

// knowCredential remembers the owner of a passkey whose row was written.
func (t *Tx) knowCredential(userID string, id schemas.Bytes) {
	if u := t.actor.known.user; u != nil && u.ID == userID {
		t.actor.known.credential = id.String()
	}
}

// owner returns the owner of a credential, by a query for the user's ID. If there is no such
// credential the error is sql.ErrNoRows.
func (t *Tx) owner(q string, id any) (userID string, err error) {
	err = t.row(q, id).Scan(&userID)
	return userID, err
}

func (t *Tx) renameCredential(c schemas.RenameCredential) error {
	return t.change(errNoCredential, updateCredentialName, c.Name, nonNilBytes(c.ID), c.UserID)
}

func (t *Tx) deleteCredential(c schemas.DeleteCredential) error {
	userID, err := t.owner(selectCredentialOwner, nonNilBytes(c.ID))
	if errors.Is(err, sql.ErrNoRows) || err == nil && userID != c.UserID {
		return errNoCredential()
	}
	if err != nil {
		return err
	}
	if _, err := t.exec(insertFormerPasskey, toMicros(c.At), nonNilBytes(c.ID)); err != nil {
		return err
	}
	gone := schemas.Proof{Kind: schemas.PasskeyProof, Of: c.ID.String()}
	removed, err := t.removeProof(userID, gone, c.At, deleteCredential, nonNilBytes(c.ID))
	if err == nil && !removed {
		return errNoCredential()
	}
	return err
}

// removeCredentials ends the sessions and runs that someone with a removed passkey may have started.
func (t *Tx) removeCredentials(c schemas.RemoveCredentials) error {
	if _, err := t.lockUser(c.UserID); err != nil {
		return err
	}
	all, err := CredentialsOf(t.ctx, t, c.UserID)
	if err != nil {
		return err
	}
	for _, key := range all {
		if slices.ContainsFunc(c.Keep, func(id schemas.Bytes) bool { return bytes.Equal(id, key.ID) }) {
			continue
		}
		i := slices.IndexFunc(c.Remove, func(r schemas.CredentialRemoval) bool { return bytes.Equal(r.ID, key.ID) })
		if i < 0 {
			return schemas.Errorf(schemas.Conflict, schemas.CodeSuperseded, "another passkey was added to this account at the same time; try again")
		}
		if err := t.deleteCredential(schemas.DeleteCredential{UserID: c.UserID, ID: key.ID, At: c.At}); err != nil {
			return err
		}
		if err := t.recordEvents(c.Remove[i].Event); err != nil {
			return err
		}
	}
	if err := t.endRuns(c.UserID); err != nil {
		return err
	}
	return t.endSessions(c.UserID, removedCredential, c.At, t.actor.sessions...)
}

func errCredentialExists() error {
	return schemas.Errorf(schemas.Conflict, schemas.CodeCredentialExists,
		"this passkey is registered already; sign in with it, or create another one")
}
