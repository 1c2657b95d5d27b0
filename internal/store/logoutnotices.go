package store

import (
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"github.com/postern-id/postern/schemas"
)

const (
	// A client that gets tokens while the session ends must be notified or get none, so both
	// transactions wait for each other here.
	lockSession    = `UPDATE sessions SET expires_at = expires_at WHERE id = ? RETURNING user_id`
	prolongSession = `UPDATE sessions SET expires_at = CASE WHEN expires_at < ? THEN ? ELSE expires_at END WHERE id = ?`

	insertSessionClient = `INSERT INTO session_clients (session_id, application_id) VALUES (?, ?) ON CONFLICT DO NOTHING`

	// Includes whether the client is self-registered and untrusted.
	selectSessionClients = `SELECT s.application_id, EXISTS (SELECT 1 FROM client_leases l JOIN applications a ON a.id = l.application_id
			WHERE a.id = s.application_id AND NOT a.verified)
		FROM session_clients s JOIN oauth_profiles p ON p.application_id = s.application_id
		WHERE s.session_id = ? AND p.backchannel_logout_uri <> ''`

	// Every transaction locks sessions in the order of their ids.
	selectSessionsWithBrowser = `SELECT s.id, s.user_id FROM sessions b JOIN sessions s ON s.user_id = b.user_id
		WHERE b.id = ? AND (s.id = b.id OR s.browser = b.browser AND b.browser <> '') ORDER BY s.id`

	deleteSession = `DELETE FROM sessions WHERE id = ?`
)

// joinSession records that a client gets tokens in a session, and prolongs the session: it lasts
// as long as the last tokens that can be obtained in it.
func (t *Tx) joinSession(id, application string, lasts time.Time) error {
	err := t.change(errNoCode, prolongSession, toMicros(lasts), toMicros(lasts), id)
	if err != nil {
		return err
	}
	err = t.later(insertSessionClient, id, application)
	if isForeignKeyViolation(err) {
		return errNoCode() // the application has just been deleted
	}
	return err
}

// lockSession returns the session's user and blocks other callers until the transaction ends.
// If the session has ended the error is sql.ErrNoRows.
func (t *Tx) lockSession(id string) (userID string, err error) {
	err = t.row(lockSession, id).Scan(&userID)
	return userID, err
}

// endBrowserSessions ends a session, and those of its user in the same browser.
func (t *Tx) endBrowserSessions(s schemas.EndSession) error {
	all, err := readAll(t.ctx, t, func(row scanner, b *schemas.Session) error { return row.Scan(&b.ID, &b.UserID) }, selectSessionsWithBrowser, s.ID)
	if err != nil {
		return err
	}
	for i := range all {
		if all[i].ID == s.ID {
			err = t.endSession(s)
		} else {
			err = t.endOwnSession(&all[i], signedOut, s.At)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *Tx) endSession(s schemas.EndSession) error {
	t.forget()
	userID, err := t.lockSession(s.ID)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := t.queueLogouts(s, userID); err != nil {
		return err
	}
	_, err = t.exec(deleteSession, s.ID)
	return err
}

// queueLogouts queues the notifications to the clients of a session that ends.
func (t *Tx) queueLogouts(s schemas.EndSession, userID string) error {
	type reported struct {
		application     string
		untrustedClient bool
	}
	clients, err := readAll(t.ctx, t, func(row scanner, c *reported) error {
		return row.Scan(&c.application, &c.untrustedClient)
	}, selectSessionClients, s.ID)
	if err != nil {
		return err
	}
	body, err := json.Marshal(schemas.SessionEnd{SessionID: s.ID, UserID: userID})
	if err != nil {
		return err
	}
	for _, c := range clients {
		lasts := logoutTTL
		if c.untrustedClient {
			lasts = untrustedLogoutTTL
		}
		err := t.queueDelivery(schemas.Delivery{ID: schemas.NewID(), Kind: schemas.LogoutDelivery, Target: c.application, Body: body,
			CreatedAt: s.At, ExpiresAt: s.At.Add(lasts)})
		if err != nil {
			return err
		}
	}
	return nil
}
