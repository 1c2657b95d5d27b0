package store

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/postern-id/postern/schemas"
)

const (
	// A client that gets tokens while the session ends must be notified or get none, so both
	// transactions wait for each other here.
	lockSession query = `UPDATE sessions SET expires_at = expires_at WHERE id = ? RETURNING user_id`

	insertSessionClient query = `INSERT INTO session_clients (session_id, application_id) VALUES (?, ?) ON CONFLICT DO NOTHING`

	// Includes whether the client is self-registered and untrusted.
	selectSessionClients query = `SELECT s.application_id, EXISTS (SELECT 1 FROM client_leases l JOIN applications a ON a.id = l.application_id
			WHERE a.id = s.application_id AND NOT a.verified)
		FROM session_clients s JOIN oauth_profiles p ON p.application_id = s.application_id
		WHERE s.session_id = ? AND p.backchannel_logout_uri <> ''`

	deleteSession query = `DELETE FROM sessions WHERE id = ?`
)

// logoutTTL is how long the server tries to notify a client of the end of a session.
const logoutTTL = 24 * time.Hour

// untrustedClientTTL is logoutTTL for untrusted clients. An attacker could register some that
// never answer and delay the notifications of others.
const untrustedClientTTL = time.Minute

// joinSession records that a client gets tokens in the session of a grant, given as JSON.
func (t *tx) joinSession(granted []byte, application string) error {
	var grant schemas.Grant
	if err := parse(granted, &grant); err != nil {
		return err
	}
	if _, err := t.lockSession(grant.SessionID); errors.Is(err, sql.ErrNoRows) {
		return errNoCode()
	} else if err != nil {
		return err
	}
	_, err := t.exec(insertSessionClient, grant.SessionID, application)
	if isForeignKeyViolation(err) {
		return errNoCode() // the application has just been deleted
	}
	if err != nil {
		return fmt.Errorf("store: noting who has tokens in a session: %w", err)
	}
	return nil
}

// lockSession returns the session's user and blocks other callers until the transaction ends.
// If the session has ended the error is sql.ErrNoRows.
func (t *tx) lockSession(id string) (userID string, err error) {
	if err := t.row(lockSession, id).Scan(&userID); err != nil {
		return "", fmt.Errorf("store: locking a session: %w", err)
	}
	return userID, nil
}

func (t *tx) endSession(s schemas.EndSession) error {
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
	if _, err := t.exec(deleteSession, s.ID); err != nil {
		return fmt.Errorf("store: ending a session: %w", err)
	}
	return nil
}

// queueLogouts queues the notifications to the clients of a session that ends.
func (t *tx) queueLogouts(s schemas.EndSession, userID string) error {
	type reported struct {
		application     string
		untrustedClient bool
	}
	var clients []reported
	err := t.each(selectSessionClients, func(row scanner) error {
		clients = append(clients, reported{})
		c := &clients[len(clients)-1]
		return row.Scan(&c.application, &c.untrustedClient)
	}, s.ID)
	if err != nil {
		return fmt.Errorf("store: looking who has tokens in a session: %w", err)
	}
	body, err := json.Marshal(schemas.SessionEnd{SessionID: s.ID, UserID: userID})
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	for _, c := range clients {
		lasts := logoutTTL
		if c.untrustedClient {
			lasts = untrustedClientTTL
		}
		err := t.queueDelivery(schemas.Delivery{ID: schemas.NewID(), Kind: schemas.LogoutDelivery, Target: c.application, Body: body,
			CreatedAt: s.At, ExpiresAt: s.At.Add(lasts)})
		if err != nil {
			return err
		}
	}
	return nil
}
