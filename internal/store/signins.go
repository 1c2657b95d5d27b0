package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postern-id/postern/schemas"
)

const (
	sessionColumns = `id, user_id, application_id, amr, acr, client, created_at, expires_at, proofs`

	selectSessions = `SELECT ` + sessionColumns + ` FROM sessions WHERE user_id = ? AND expires_at > ?
		ORDER BY created_at DESC, id DESC`

	insertSession query = `INSERT INTO sessions (` + sessionColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`

	insertRevokedToken query = `INSERT INTO revoked_tokens (id, expires_at) VALUES (?, ?) ON CONFLICT (id) DO NOTHING`

	selectTokenLive query = `SELECT NOT EXISTS (SELECT 1 FROM revoked_tokens WHERE id IN (?, ?))
		AND (? = '' OR EXISTS (SELECT 1 FROM sessions WHERE id = ?))
		AND (? = '' OR EXISTS (SELECT 1 FROM applications WHERE client_id = ? AND token_generation = ?))
		AND (? = '' OR EXISTS (SELECT 1 FROM applications WHERE id = ? AND token_generation = ?))`

	// See shareUser.
	shareSession query = `SELECT id FROM sessions WHERE id = ?` + forShare

	selectSessionByToken query = `SELECT ` + sessionColumns + ` FROM sessions WHERE token_hash = ? AND token_expires_at > ?`

	selectSession query = `SELECT ` + sessionColumns + ` FROM sessions WHERE id = ?`

	bindSession query = `UPDATE sessions SET token_hash = ?, token_expires_at = expires_at WHERE id = ? AND token_hash IS NULL`
)

// TokenLive reports whether a valid token is still accepted: it was not revoked, its session
// has not ended, and its client and application exist and have the token's generation. Tokens
// that are revoked together share an ID prefix that ends with a dot.
func (s *Store) TokenLive(ctx context.Context, t schemas.TokenRef) (live bool, err error) {
	key := tokenKey(t)
	if slices.ContainsFunc(key, isUnstorable) {
		return false, nil
	}
	if err := s.row(ctx, selectTokenLive, key...).Scan(&live); err != nil {
		return false, fmt.Errorf("store: looking whether a token counts: %w", err)
	}
	return live, nil
}

// HoldToken is TokenLive in a transaction. It locks the session and the user of the token
// until the transaction ends; userID is "" for a client's token. A transaction that ends the
// session or the user waits, and then sees what this one wrote.
func HoldToken(t *Tx, ref schemas.TokenRef, userID string) (live bool, err error) {
	key := tokenKey(ref)
	if slices.ContainsFunc(append(key, userID), isUnstorable) {
		return false, nil
	}
	if userID != "" {
		if _, err := t.tx.shareUser(userID); schemas.HasCode(err, schemas.CodeUserNotFound) {
			return false, nil
		} else if err != nil {
			return false, err
		}
	}
	var held string
	err = t.tx.row(shareSession, ref.Session).Scan(&held)
	if err != nil && !errors.Is(err, sql.ErrNoRows) { // the statement below reports a missing session
		return false, fmt.Errorf("store: locking the session of a token: %w", err)
	}
	if err := t.tx.row(selectTokenLive, key...).Scan(&live); err != nil {
		return false, fmt.Errorf("store: looking whether a token counts: %w", err)
	}
	return live, nil
}

// tokenKey returns the parameters of selectTokenLive.
func tokenKey(t schemas.TokenRef) []any {
	together, _, _ := strings.Cut(t.ID, ".")
	return []any{t.ID, together, t.Session, t.Session,
		t.Client, t.Client, t.Generation, t.Application, t.Application, t.Generation}
}

// SessionByToken returns the session with the browser token of a hash; nil if there is none at
// now.
func (s *Store) SessionByToken(ctx context.Context, hash []byte, now time.Time) (*schemas.Session, error) {
	return oneSession(s.row(ctx, selectSessionByToken, nonNilBytes(hash), toMicros(now)))
}

// Session returns the session with the ID; nil if there is none.
func (s *Store) Session(ctx context.Context, id string) (*schemas.Session, error) {
	if !isStorable(id) {
		return nil, nil
	}
	return oneSession(s.row(ctx, selectSession, id))
}

func oneSession(row scanner) (*schemas.Session, error) {
	var found schemas.Session
	err := scanSession(row, &found)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("store: reading a session: %w", err)
	}
	return &found, nil
}

// BindSession gives a session the browser token of a hash and renews its lifetime. It returns
// false if the session has ended or has a token: a second browser must not join it.
func (s *Store) BindSession(ctx context.Context, id string, hash []byte) (bound bool, err error) {
	err = s.writer.single(ctx, func(t *tx) error {
		n, err := t.exec(bindSession, nonNilBytes(hash), id)
		if err != nil {
			return fmt.Errorf("store: binding a session: %w", err)
		}
		bound = n == 1
		return nil
	})
	return bound, err
}

func scanSession(row scanner, s *schemas.Session) error {
	var amr sql.NullString
	var proofs []byte
	err := row.Scan(&s.ID, &s.UserID, &s.ApplicationID, &amr, &s.ACR, &s.Client, (*microTime)(&s.CreatedAt), (*microTime)(&s.ExpiresAt), &proofs)
	if err != nil {
		return err
	}
	s.AMR = list(amr)
	return parse(proofs, &s.Proofs)
}

// startSession rejects a user who may not sign in, regardless of the method.
func (t *tx) startSession(s schemas.Session) error {
	if err := t.requireActive(s.UserID, s.CreatedAt); err != nil {
		return err
	}
	amr, err := joinLines(s.AMR)
	if err != nil {
		return err
	}
	proofs, err := marshalJSON(s.Proofs)
	if err != nil {
		return err
	}
	_, err = t.exec(insertSession, s.ID, s.UserID, s.ApplicationID, amr, s.ACR, s.Client, toMicros(s.CreatedAt), toMicros(s.ExpiresAt), proofs)
	if isForeignKeyViolation(err) {
		return errNoUser()
	}
	if err != nil {
		return fmt.Errorf("store: starting a session: %w", err)
	}
	return t.forgetFailedGuesses(&s)
}

func (t *tx) revokeToken(c schemas.RevokeToken) error {
	if _, err := t.exec(insertRevokedToken, c.ID, toMicros(c.ExpiresAt)); err != nil {
		return fmt.Errorf("store: revoking a token: %w", err)
	}
	return nil
}
