package store

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/postern-id/postern/schemas"
)

const (
	sessionColumns = `id, user_id, application_id, amr, acr, client, created_at, expires_at, proofs, browser, seen_at, offline_of`

	selectSessions = `SELECT ` + sessionColumns + ` FROM sessions WHERE user_id = ? AND expires_at > ?
		ORDER BY created_at DESC, id DESC`

	insertSession = `INSERT INTO sessions (` + sessionColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

	insertRevokedToken = `INSERT INTO revoked_tokens (id, expires_at) VALUES (?, ?) ON CONFLICT (id) DO NOTHING`

	tokenLive = `NOT EXISTS (SELECT 1 FROM revoked_tokens WHERE id IN (?, ?))
		AND (? = '' OR EXISTS (SELECT 1 FROM sessions WHERE id = ?))
		AND (? = '' OR EXISTS (SELECT 1 FROM applications WHERE client_id = ? AND token_generation = ?))
		AND (? = '' OR EXISTS (SELECT 1 FROM applications WHERE id = ? AND token_generation = ?))`

	selectTokenLive = `SELECT ` + tokenLive

	// The row '' means that the token is live; the others are permissions.
	selectTokenPermissions = withUserRoles + `SELECT '' WHERE ` + tokenLive + `
		UNION ALL SELECT p.permission FROM has h CROSS JOIN role_permissions p WHERE p.role_id = h.role_id`

	// See shareUser.
	shareSession = `SELECT id FROM sessions WHERE id = ?` + forShare

	selectSessionByToken = `SELECT ` + sessionColumns + ` FROM sessions WHERE token_hash = ? AND token_expires_at > ?`

	selectSession = `SELECT ` + sessionColumns + ` FROM sessions WHERE id = ?`

	// The session of the browser's cookie, also if the cookie has expired, or else the newest one of the browser.
	selectBrowserSession = `SELECT ` + sessionColumns + ` FROM sessions WHERE token_hash = ?`
	selectNewestSession  = `SELECT ` + sessionColumns + ` FROM sessions WHERE browser = ? AND browser <> '' ORDER BY created_at DESC, id DESC LIMIT 1`

	bindSession = `UPDATE sessions SET token_hash = ?, token_expires_at = expires_at, browser = ? WHERE id = ? AND token_hash IS NULL`

	nameBrowser = `UPDATE sessions SET browser = ? WHERE id = ? AND token_hash IS NULL`

	unbindSession = `UPDATE sessions SET token_hash = NULL, token_expires_at = NULL WHERE id = ? AND token_hash = ?`

	// upsertSessionUse does nothing if the session or the application is gone.
	upsertSessionUse = `INSERT INTO session_uses (session_id, application_id, used_at)
		SELECT s.id, a.id, CAST(? AS BIGINT) FROM sessions s JOIN applications a ON s.id = ? AND a.id = ?
		WHERE 1 = 1 ON CONFLICT (session_id, application_id) DO UPDATE SET used_at = excluded.used_at WHERE session_uses.used_at < excluded.used_at`

	selectSessionUse = `SELECT used_at FROM session_uses WHERE session_id = ? AND application_id = ?`

	touchSession = `UPDATE sessions SET seen_at = ? WHERE id = ? AND seen_at < ?`
)

// TokenLive reports whether a valid token is still accepted: it was not revoked, its session
// has not ended, and its client and application exist and have the token's generation. Tokens
// that are revoked together share an ID prefix that ends with a dot.
func (s *Store) TokenLive(ctx context.Context, t schemas.TokenRef) (bool, error) {
	if kept := aheadOf(ctx); kept != nil && kept.accounts && t.Session != "" {
		return s.readTokenAccount(ctx, kept, t)
	}
	return readValue[bool](ctx, s, selectTokenLive, tokenKey(t)...)
}

// TokenPermissions is TokenLive and Permissions of the user in one query; no permissions if the
// token is not live.
func (s *Store) TokenPermissions(ctx context.Context, t schemas.TokenRef, userID string) (live bool, permissions []string, err error) {
	found, err := readAll(ctx, s, scanValue[string], selectTokenPermissions, append([]any{userID, userID}, tokenKey(t)...)...)
	slices.Sort(found)
	if err != nil || len(found) == 0 || found[0] != "" {
		return false, nil, err
	}
	return true, slices.Compact(found)[1:], nil
}

// HoldToken is TokenLive in a transaction. It locks the session and the user of the token
// until the transaction ends; userID is "" for a client's token. A transaction that ends the
// session or the user waits, and then sees what this one wrote.
func HoldToken(t *Tx, ref schemas.TokenRef, userID string) (live bool, err error) {
	if !isStorable(userID) {
		return false, nil
	}
	if userID != "" {
		if _, err := t.shareUser(userID); schemas.HasCode(err, schemas.CodeUserNotFound) {
			return false, nil
		} else if err != nil {
			return false, err
		}
	}
	if _, err := exists(t.ctx, t, shareSession, ref.Session); err != nil { // the next statement reports a missing session
		return false, err
	}
	return readValue[bool](t.ctx, t, selectTokenLive, tokenKey(ref)...)
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
	return readOne(s.row(ctx, selectSessionByToken, nonNilBytes(hash), toMicros(now)), scanSession, nil)
}

// Session returns the session with the ID; nil if there is none.
func (s *Store) Session(ctx context.Context, id string) (*schemas.Session, error) {
	return readOne(s.row(ctx, selectSession, id), scanSession, nil)
}

// BrowserSession returns the session with the browser token of a hash, also if the token has expired while refresh
// tokens of the session are valid. If there is none, it returns the newest session of the browser; nil if there is
// none either.
func (s *Store) BrowserSession(ctx context.Context, hash []byte, browser string) (*schemas.Session, error) {
	found, err := readOne(s.row(ctx, selectBrowserSession, nonNilBytes(hash)), scanSession, nil)
	if found != nil || err != nil {
		return found, err
	}
	return readOne(s.row(ctx, selectNewestSession, browser), scanSession, nil)
}

// BindSession binds a session to the token and the name of a browser, and renews its lifetime. It
// returns false if the session has ended or has a token: a second browser must not join it.
func (s *Store) BindSession(ctx context.Context, token schemas.SessionToken) (bound bool, err error) {
	err = s.writer.single(ctx, func(t *Tx) (err error) {
		bound, err = t.bindSession(token)
		return err
	})
	return bound && err == nil, err
}

func (t *Tx) bindSession(token schemas.SessionToken) (bound bool, err error) {
	n, err := t.exec(bindSession, nonNilBytes(token.Hash), token.Browser, token.SessionID)
	return n == 1, err
}

// UnbindSession takes a token from its session, so that another browser can receive one.
func (s *Store) UnbindSession(ctx context.Context, token schemas.SessionToken) error {
	return s.writer.single(ctx, func(t *Tx) error {
		_, err := t.exec(unbindSession, token.SessionID, nonNilBytes(token.Hash))
		return err
	})
}

// TouchSession records that the browser of a session was seen.
func (s *Store) TouchSession(ctx context.Context, id string, at time.Time) error {
	return s.writer.single(ctx, func(t *Tx) error {
		_, err := t.exec(touchSession, toMicros(at), id, toMicros(at))
		return err
	})
}

// SessionUsed returns when an application with an idle timeout last used a session; zero if it has not.
func (s *Store) SessionUsed(ctx context.Context, sessionID, applicationID string) (time.Time, error) {
	found, err := readAll(ctx, s, scanValue[microTime], selectSessionUse, sessionID, applicationID)
	if err != nil || len(found) == 0 {
		return time.Time{}, err
	}
	return time.Time(found[0]), nil
}

func scanSession(row scanner, s *schemas.Session) error {
	return row.Scan(&s.ID, &s.UserID, &s.ApplicationID, (*lines)(&s.AMR), &s.ACR, &s.Client,
		(*microTime)(&s.CreatedAt), (*microTime)(&s.ExpiresAt), asJSON(&s.Proofs), &s.Browser, (*microTime)(&s.LastSeenAt), &s.OfflineOf)
}

// startSession rejects a user who may not sign in, regardless of the method.
func (t *Tx) startSession(c schemas.StartSession) error {
	s := c.Session
	if err := t.requireActive(s.UserID, c.Time()); err != nil {
		return err
	}
	err := t.later(insertSession, s.ID, s.UserID, s.ApplicationID, (*lines)(&s.AMR), s.ACR, s.Client,
		toMicros(s.CreatedAt), toMicros(s.ExpiresAt), asJSON(s.Proofs), s.Browser, toMicros(c.Time()), s.OfflineOf)
	if isForeignKeyViolation(err) {
		return errNoUser()
	}
	if err != nil {
		return err
	}
	t.actor.known.session = s.ID // requireActive has locked its user
	return t.resetFailedGuesses(&s)
}

func (t *Tx) revokeToken(c schemas.RevokeToken) error {
	return t.later(insertRevokedToken, c.ID, toMicros(c.ExpiresAt))
}

// SessionsOf returns the user's sessions that have not expired at now, newest
// first.
func SessionsOf(ctx context.Context, r Reader, userID string, now time.Time) ([]schemas.Session, error) {
	return readAll(ctx, r, scanSession, selectSessions, userID, toMicros(now))
}
