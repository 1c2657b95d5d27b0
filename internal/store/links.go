package store

import (
	"context"
	"time"

	"github.com/postern-id/postern/schemas"
)

const (
	linkColumns = `hash, user_id, purpose, subject, created_at, expires_at, run_id`

	insertLink = `INSERT INTO links (` + linkColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?)`

	// A concurrent delete of the same row returns no row, so one caller takes the link.
	takeLink = `DELETE FROM links WHERE hash = ? AND purpose = ? AND expires_at > ? RETURNING ` + linkColumns

	deleteLinks = `DELETE FROM links WHERE user_id = ? AND purpose = ?`

	countLinks = `SELECT COUNT(*) FROM links WHERE user_id = ? AND purpose = ? AND subject = ? AND created_at > ?`
)

// createLink replaces an earlier invitation or enrolment link of the user. The lock lets concurrent ones
// wait.
func (t *Tx) createLink(l schemas.Link) error {
	if l.Purpose != schemas.LockLink {
		if _, err := t.lockUser(l.UserID); err != nil {
			return err
		}
		if err := DeleteLinks(t, l.UserID, l.Purpose); err != nil {
			return err
		}
	}
	_, err := t.exec(insertLink, l.TokenHash, l.UserID, l.Purpose, l.Subject, toMicros(l.CreatedAt), toMicros(l.ExpiresAt), l.RunID)
	return err
}

// TakeLink removes and returns the link with the hash; nil if there is none with the purpose at
// now.
func TakeLink(t *Tx, hash []byte, purpose string, now time.Time) (*schemas.Link, error) {
	return readOne(t.row(takeLink, nonNilBytes(hash), purpose, toMicros(now)), scanLink, nil)
}

func scanLink(row scanner, l *schemas.Link) error {
	return row.Scan(&l.TokenHash, &l.UserID, &l.Purpose, &l.Subject, (*microTime)(&l.CreatedAt), (*microTime)(&l.ExpiresAt), &l.RunID)
}

// DeleteLinks removes the links of a user with a purpose.
func DeleteLinks(t *Tx, userID, purpose string) error {
	_, err := t.exec(deleteLinks, userID, purpose)
	return err
}

// CountLinks returns how many links for a user, a purpose and a subject exist that were created
// after the given time.
func (s *Store) CountLinks(ctx context.Context, userID, purpose, subject string, after time.Time) (int, error) {
	return readValue[int](ctx, s, countLinks, userID, purpose, subject, toMicros(after))
}

// RecordAddressChange revokes an invitation to an address that a user no longer has. If the address
// was verified, it records the change and queues the notice to that address. Call it with the states
// before and after each change of a user, and with the sign-in of the user who changes the own address.
func RecordAddressChange(t *Tx, old, u *schemas.User, by schemas.Provenance, at time.Time) error {
	former := old.Text("email")
	if schemas.IdentifierKey(former) == schemas.IdentifierKey(u.Text("email")) {
		return nil
	}
	if err := t.setAddressOrigin(old, u, by, at); err != nil {
		return err
	}
	if err := DeleteLinks(t, u.ID, schemas.InvitationLink); err != nil {
		return err
	}
	if former == "" || !old.Verified(schemas.EmailVerified) {
		return nil
	}
	e := t.actor.event
	e.ID, e.At, e.Action, e.UserID, e.Detail = schemas.NewID(), at, schemas.EmailChanged, u.ID, nil
	e.Resource, e.Before, e.After = schemas.ResourceRef{Type: "user", ID: u.ID}, "", ""
	if err := t.insertEvents(e); err != nil {
		return err
	}
	n := schemas.NoticeOf(e)
	n.To = former
	return t.queueNotice(*n)
}
