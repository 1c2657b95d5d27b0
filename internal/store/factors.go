package store

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/postern-id/postern/schemas"
)

const (
	totpColumns = `user_id, secret, last_step, created_at, last_used_at, added_by`

	selectTOTP = `SELECT ` + totpColumns + ` FROM totp WHERE user_id = ?`

	insertTOTP = `INSERT INTO totp (` + totpColumns + `) VALUES (?, ?, ?, ?, ?, ?)`

	// The condition makes a code single-use (RFC 6238 §5.2): of two concurrent uses the second
	// waits and finds the step used.
	updateTOTPUse = `UPDATE totp SET last_step = ?, last_used_at = ? WHERE user_id = ? AND last_step < ?`

	deleteTOTP = `DELETE FROM totp WHERE user_id = ?`

	selectRecoveryCode = `SELECT added_by, used_at IS NOT NULL FROM recovery_codes WHERE user_id = ? AND hash = ?`

	selectRecoveryCodes = `SELECT count(*), count(*) - count(used_at), coalesce(max(created_at), 0), coalesce(max(added_by), '') FROM recovery_codes WHERE user_id = ?`

	insertRecoveryCode = `INSERT INTO recovery_codes (user_id, hash, created_at, added_by) VALUES (?, ?, ?, ?)`

	updateRecoveryCodeUse = `UPDATE recovery_codes SET used_at = ? WHERE user_id = ? AND hash = ? AND used_at IS NULL`

	deleteRecoveryCodes = `DELETE FROM recovery_codes WHERE user_id = ?`
)

// TOTP returns the user's authenticator app, nil if they have none.
func (s *Store) TOTP(ctx context.Context, userID string) (*schemas.TOTP, error) {
	return TOTPOf(ctx, s, userID)
}

// TOTPOf is TOTP for a Reader.
func TOTPOf(ctx context.Context, r Reader, userID string) (*schemas.TOTP, error) {
	found, err := readAll(ctx, r, func(row scanner, app *schemas.TOTP) error {
		return row.Scan(&app.UserID, &app.Secret, &app.LastStep, (*microTime)(&app.CreatedAt), optionalTime{&app.LastUsedAt}, provenance{&app.AddedBy})
	}, selectTOTP, userID)
	return firstOf(found), err
}

// RecoveryCode returns the user's recovery code with the hash, nil if there is no such code.
func (s *Store) RecoveryCode(ctx context.Context, userID string, hash []byte) (*schemas.RecoveryCode, error) {
	found, err := readAll(ctx, s, func(row scanner, code *schemas.RecoveryCode) error {
		return row.Scan(provenance{&code.AddedBy}, &code.Used)
	}, selectRecoveryCode, userID, nonNilBytes(hash))
	return firstOf(found), err
}

// RecoveryCodes returns the number of the user's recovery codes, nil if the user never received
// any.
func (s *Store) RecoveryCodes(ctx context.Context, userID string) (*schemas.RecoveryCodes, error) {
	return RecoveryCodesOf(ctx, s, userID)
}

// RecoveryCodesOf is RecoveryCodes for a Reader.
func RecoveryCodesOf(ctx context.Context, r Reader, userID string) (*schemas.RecoveryCodes, error) {
	found, err := readAll(ctx, r, func(row scanner, codes *schemas.RecoveryCodes) error {
		return row.Scan(&codes.Total, &codes.Left, (*microTime)(&codes.CreatedAt), provenance{&codes.AddedBy})
	}, selectRecoveryCodes, userID)
	if len(found) == 0 || found[0].Total == 0 {
		return nil, err
	}
	return &found[0], err
}

// setTOTP ends the sessions that started with a replaced app.
func (t *Tx) setTOTP(app schemas.TOTP) (err error) {
	if app.AddedBy, err = t.inherited(app.UserID, schemas.Proof{Kind: schemas.TOTPProof}, app.AddedBy); err != nil {
		return err
	}
	if err := t.deleteTOTP(schemas.DeleteTOTP{UserID: app.UserID, At: app.CreatedAt}); err != nil {
		return err
	}
	_, err = t.exec(insertTOTP, app.UserID, nonNilBytes(app.Secret), app.LastStep, toMicros(app.CreatedAt), optionalTime{&app.LastUsedAt}, provenance{&app.AddedBy})
	if isForeignKeyViolation(err) {
		return errNoUser()
	}
	return err
}

func (t *Tx) useTOTP(c schemas.UseTOTP) error {
	return t.useProof(schemas.Proof{Kind: schemas.TOTPProof, Of: c.UserID}, errCodeUsed, updateTOTPUse, c.Step, toMicros(c.At), c.UserID, c.Step)
}

func (t *Tx) deleteTOTP(c schemas.DeleteTOTP) error {
	if _, err := t.removeProof(c.UserID, schemas.Proof{Kind: schemas.TOTPProof}, c.At, deleteTOTP, c.UserID); err != nil {
		return err
	}
	return t.replaceSecret(c.UserID, schemas.TOTPSecret)
}

// setRecoveryCodes replaces the codes. It locks the user, so that of two concurrent sets the
// later replaces the earlier.
func (t *Tx) setRecoveryCodes(c schemas.SetRecoveryCodes) (err error) {
	if c.AddedBy, err = t.inherited(c.UserID, schemas.Proof{Kind: schemas.RecoveryProof}, c.AddedBy); err != nil {
		return err
	}
	if err := t.deleteRecoveryCodes(schemas.DeleteRecoveryCodes{UserID: c.UserID, At: c.At}); err != nil {
		return err
	}
	for _, hash := range slices.SortedFunc(slices.Values(c.Hashes), bytes.Compare) {
		if _, err := t.exec(insertRecoveryCode, c.UserID, hash, toMicros(c.At), provenance{&c.AddedBy}); err != nil {
			return err
		}
	}
	return nil
}

func (t *Tx) useRecoveryCode(c schemas.UseRecoveryCode) error {
	return t.useProof(schemas.ProofOfRecoveryCode(c.Hash), errCodeUsed, updateRecoveryCodeUse, toMicros(c.At), c.UserID, nonNilBytes(c.Hash))
}

func (t *Tx) deleteRecoveryCodes(c schemas.DeleteRecoveryCodes) error {
	if _, err := t.removeProof(c.UserID, schemas.Proof{Kind: schemas.RecoveryProof}, c.At, deleteRecoveryCodes, c.UserID); err != nil {
		return err
	}
	return t.replaceSecret(c.UserID, schemas.RecoverySecret)
}

// notBefore returns the later of at and the time of the row's last change: optimistic writers
// compare the times.
func notBefore(at, was time.Time) time.Time {
	if at.After(was) {
		return at
	}
	return was.Add(time.Microsecond)
}

func errCodeUsed() error {
	return schemas.Errorf(schemas.Conflict, schemas.CodeUsed, "this code has been used already; enter the next one")
}
