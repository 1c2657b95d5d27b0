package store

import (
	"context"
	"time"

	"github.com/postern-id/postern/schemas"
)

const (
	selectClientExpiry = `SELECT application_id, expires_at, fetched_at, fresh_until FROM client_leases
		WHERE application_id = (SELECT id FROM applications WHERE client_id = ?)`

	extendClientExpiry = `UPDATE client_leases SET expires_at = ? WHERE application_id = ? AND expires_at < ?`

	// A client that an administrator verified or gave a role stays.
	withoutOwner = `NOT verified AND NOT EXISTS (SELECT 1 FROM role_assignments r WHERE r.application_id = applications.id)`

	// PostgreSQL evaluates the expiry again on the row it deletes, in case it was extended
	// concurrently, but not which clients are the oldest.
	deleteExpiredClients = `DELETE FROM applications WHERE ` + withoutOwner + `
		AND EXISTS (SELECT 1 FROM client_leases l WHERE l.application_id = applications.id AND l.expires_at <= ?) AND id IN
		(SELECT application_id FROM client_leases JOIN applications ON id = application_id
			WHERE expires_at <= ? AND ` + withoutOwner + ` ORDER BY expires_at LIMIT ?)`

	deleteFirstClients = `DELETE FROM applications WHERE id IN (SELECT application_id FROM client_leases JOIN applications ON id = application_id
		WHERE ` + withoutOwner + ` ORDER BY expires_at LIMIT ?)`
)

// ClientExpiry returns the expiry of the client; nil if it has none, as a client that an
// administrator created.
func (s *Store) ClientExpiry(ctx context.Context, clientID string) (*schemas.ClientExpiry, error) {
	return readOne(s.row(ctx, selectClientExpiry, clientID), func(row scanner, l *schemas.ClientExpiry) error {
		return row.Scan(&l.ApplicationID, (*microTime)(&l.ExpiresAt), (*microTime)(&l.FetchedAt), (*microTime)(&l.FreshUntil))
	}, nil)
}

// ExtendClientExpiry sets the expiry of the application, unless it is later already.
func (s *Store) ExtendClientExpiry(ctx context.Context, applicationID string, until time.Time) error {
	return s.writer.single(ctx, func(t *Tx) error {
		_, err := t.exec(extendClientExpiry, toMicros(until), applicationID, toMicros(until))
		return err
	})
}

// PutClientExpiry sets or replaces the expiry of an application.
func PutClientExpiry(t *Tx, l schemas.ClientExpiry) error {
	_, err := t.exec(`INSERT INTO client_leases (application_id, expires_at, fetched_at, fresh_until) VALUES (?, ?, ?, ?)
		ON CONFLICT (application_id) DO UPDATE SET expires_at = excluded.expires_at, fetched_at = excluded.fetched_at, fresh_until = excluded.fresh_until`,
		l.ApplicationID, toMicros(l.ExpiresAt), toMicros(l.FetchedAt), toMicros(l.FreshUntil))
	return err
}

// RemoveUnusedClients removes the oldest clients that expire before the given time until one
// more fits into most, and records the removals.
func RemoveUnusedClients(t *Tx, most int, before, now time.Time) error {
	n, err := readValue[int](t.ctx, t, "SELECT COUNT(*) FROM client_leases WHERE expires_at < ?", toMicros(before))
	if err == nil && n >= most {
		_, err = removeClients(t, now, deleteFirstClients, n-most+1)
	}
	return err
}

// sweepClients removes expired clients and records the removals.
func (s *Store) sweepClients(ctx context.Context, now time.Time) (removed int, err error) {
	for {
		var n int
		err := s.Update(ctx, func(t *Tx) (err error) {
			n, err = removeClients(t, now, deleteExpiredClients, toMicros(now), toMicros(now), sweepBatch)
			return err
		})
		if err != nil {
			return removed, err
		}
		removed += n
		if n < sweepBatch {
			return removed, nil
		}
	}
}

// removeClients deletes clients by a statement and records an event for each.
func removeClients(t *Tx, now time.Time, statement string, args ...any) (n int, err error) {
	var gone []schemas.Change
	err = rows(t.ctx, t, func(row scanner) error {
		e := schemas.Event{ID: schemas.NewID(), At: now, Action: "application.deleted", Actor: schemas.Actor{Type: schemas.SystemActor}}
		e.Resource.Type = "application"
		var clientID string
		err := row.Scan(&e.Resource.ID, &clientID)
		e.Detail = map[string]string{"clientId": clientID, "unused": "true"}
		gone = append(gone, schemas.RecordEvent{Event: e})
		return err
	}, statement+" RETURNING id, client_id", args...)
	if err != nil {
		return 0, err
	}
	return len(gone), t.Apply(gone)
}
