package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/postern-id/postern/schemas"
)

const (
	totpColumns = `user_id, secret, last_step, created_at, last_used_at`

	selectTOTP query = `SELECT ` + totpColumns + ` FROM totp WHERE user_id = ?`

	insertTOTP query = `INSERT INTO totp (` + totpColumns + `) VALUES (?, ?, ?, ?, ?)`

	// The condition makes a code single-use (RFC 6238 §5.2): of two concurrent uses the second
	// waits and finds the step used.
	updateTOTPUse query = `UPDATE totp SET last_step = ?, last_used_at = ? WHERE user_id = ? AND last_step < ?`

	deleteTOTP query = `DELETE FROM totp WHERE user_id = ?`

	selectRecoveryCode query = `SELECT 1 FROM recovery_codes WHERE user_id = ? AND hash = ? AND used_at IS NULL`

	selectRecoveryCodes query = `SELECT count(*), count(*) - count(used_at), coalesce(max(created_at), 0) FROM recovery_codes WHERE user_id = ?`

	insertRecoveryCode query = `INSERT INTO recovery_codes (user_id, hash, created_at) VALUES (?, ?, ?)`

	updateRecoveryCodeUse query = `UPDATE recovery_codes SET used_at = ? WHERE user_id = ? AND hash = ? AND used_at IS NULL`

	deleteRecoveryCodes query = `DELETE FROM recovery_codes WHERE user_id = ?`
)

// TOTP returns the user's authenticator app, nil if they have none.
func (s *Store) TOTP(ctx context.Context, userID string) (*schemas.TOTP, error) {
	if !isStorable(userID) {
		return nil, nil
	}
	var found []schemas.TOTP
	if err := s.each(ctx, selectTOTP, intoTOTP(&found), userID); err != nil {
		return nil, fmt.Errorf("store: reading an authenticator app: %w", err)
	}
	return firstOf(found), nil
}

// TOTPOf is TOTP for a Reader.
func TOTPOf(ctx context.Context, r Reader, userID string) (*schemas.TOTP, error) {
	if !isStorable(userID) {
		return nil, nil
	}
	var found []schemas.TOTP
	if err := rows(ctx, r, intoTOTP(&found), string(selectTOTP), userID); err != nil {
		return nil, fmt.Errorf("reading an authenticator app: %w", err)
	}
	return firstOf(found), nil
}

func intoTOTP(found *[]schemas.TOTP) func(scanner) error {
	return func(row scanner) error {
		var app schemas.TOTP
		var used sql.NullInt64
		if err := row.Scan(&app.UserID, &app.Secret, &app.LastStep, (*microTime)(&app.CreatedAt), &used); err != nil {
			return err
		}
		if used.Valid {
			at := fromMicros(used.Int64)
			app.LastUsedAt = &at
		}
		*found = append(*found, app)
		return nil
	}
}

func firstOf[T any](found []T) *T {
	if len(found) == 0 {
		return nil
	}
	return &found[0]
}

// HasRecoveryCode reports whether the user has an unused recovery code with the hash.
func (s *Store) HasRecoveryCode(ctx context.Context, userID string, hash []byte) (bool, error) {
	if !isStorable(userID) {
		return false, nil
	}
	var one int
	err := s.row(ctx, selectRecoveryCode, userID, nonNilBytes(hash)).Scan(&one)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return false, fmt.Errorf("store: looking for a recovery code: %w", err)
	}
	return err == nil, nil
}

// RecoveryCodes returns how many recovery codes the user has, nil if the user never received
// any.
func (s *Store) RecoveryCodes(ctx context.Context, userID string) (*schemas.RecoveryCodes, error) {
	if !isStorable(userID) {
		return nil, nil
	}
	var found schemas.RecoveryCodes
	if err := s.row(ctx, selectRecoveryCodes, userID).Scan(&found.Total, &found.Left, (*microTime)(&found.CreatedAt)); err != nil {
		return nil, fmt.Errorf("store: counting recovery codes: %w", err)
	}
	return orNone(found), nil
}

// RecoveryCodesOf is RecoveryCodes for a Reader.
func RecoveryCodesOf(ctx context.Context, r Reader, userID string) (*schemas.RecoveryCodes, error) {
	if !isStorable(userID) {
		return nil, nil
	}
	var found schemas.RecoveryCodes
	err := rows(ctx, r, func(row scanner) error {
		return row.Scan(&found.Total, &found.Left, (*microTime)(&found.CreatedAt))
	}, string(selectRecoveryCodes), userID)
	if err != nil {
		return nil, fmt.Errorf("counting recovery codes: %w", err)
	}
	return orNone(found), nil
}

func orNone(c schemas.RecoveryCodes) *schemas.RecoveryCodes {
	if c.Total == 0 {
		return nil
	}
	return &c
}

// setTOTP ends the sessions that rest on a replaced app.
func (t *tx) setTOTP(app schemas.TOTP) error {
	if err := t.deleteTOTP(schemas.DeleteTOTP{UserID: app.UserID, At: app.CreatedAt}); err != nil {
		return err
	}
	used := sql.NullInt64{}
	if app.LastUsedAt != nil {
		used = sql.NullInt64{Int64: toMicros(*app.LastUsedAt), Valid: true}
	}
	_, err := t.exec(insertTOTP, app.UserID, nonNilBytes(app.Secret), app.LastStep, toMicros(app.CreatedAt), used)
	return aboutUser(err, "keeping an authenticator app")
}

func (t *tx) useTOTP(c schemas.UseTOTP) error {
	n, err := t.exec(updateTOTPUse, c.Step, toMicros(c.At), c.UserID, c.Step)
	return usedOnce(n, err)
}

func (t *tx) deleteTOTP(c schemas.DeleteTOTP) error {
	return t.removeFactor(deleteTOTP, c.UserID, schemas.TOTPProof, c.At)
}

// removeFactor removes a user's factor and, if there was one, ends the sessions that rest on
// it.
func (t *tx) removeFactor(q query, userID string, kind schemas.ProofKind, at time.Time) error {
	if _, err := t.lockUser(userID); err != nil {
		return err
	}
	n, err := t.exec(q, userID)
	if err != nil {
		return fmt.Errorf("store: removing a second factor: %w", err)
	}
	if n == 0 {
		return nil
	}
	return t.endSessionsOn(userID, schemas.Proof{Kind: kind}, at)
}

// setRecoveryCodes replaces the codes. It locks the user, so that of two concurrent sets the
// later replaces the earlier.
func (t *tx) setRecoveryCodes(c schemas.SetRecoveryCodes) error {
	if err := t.removeFactor(deleteRecoveryCodes, c.UserID, schemas.RecoveryProof, c.At); err != nil {
		return err
	}
	for _, hash := range slices.SortedFunc(slices.Values(c.Hashes), bytes.Compare) {
		if _, err := t.exec(insertRecoveryCode, c.UserID, hash, toMicros(c.At)); err != nil {
			return fmt.Errorf("store: keeping a recovery code: %w", err)
		}
	}
	return nil
}

func (t *tx) useRecoveryCode(c schemas.UseRecoveryCode) error {
	n, err := t.exec(updateRecoveryCodeUse, toMicros(c.At), c.UserID, nonNilBytes(c.Hash))
	return usedOnce(n, err)
}

func (t *tx) deleteRecoveryCodes(c schemas.DeleteRecoveryCodes) error {
	return t.removeFactor(deleteRecoveryCodes, c.UserID, schemas.RecoveryProof, c.At)
}

// usedOnce returns the result of using a code; n is the number of changed rows.
func usedOnce(n int64, err error) error {
	if err != nil {
		return fmt.Errorf("store: using a code: %w", err)
	}
	if n == 0 {
		return schemas.Errorf(schemas.Conflict, schemas.CodeUsed, "This code has been used. Each is good once: enter the next one.")
	}
	return nil
}

// aboutUser wraps an error of writing a user's data. The user may have been deleted.
func aboutUser(err error, doing string) error {
	switch {
	case isForeignKeyViolation(err):
		return errNoUser()
	case err != nil:
		return fmt.Errorf("store: %s: %w", doing, err)
	}
	return nil
}

// notBefore returns at, or the time of the row's last change if that is later: optimistic
// writers compare the times.
func notBefore(at, was time.Time) time.Time {
	if at.After(was) {
		return at
	}
	return was.Add(time.Microsecond)
}
