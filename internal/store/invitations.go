package store

import (
	"context"
	"slices"
	"time"

	"github.com/postern-id/postern/schemas"
)

// An invitation is a link with which a user without a credential adds the first one. The link stays
// until it expires, because people open a link and finish later, or on another device. It belongs to
// the run that accepted it last, and cannot be accepted once the user has a credential: the change
// locks the user, as the changes that add a credential do.
//
// An enrolment link is accepted in the same way, whatever credentials its user has, until it has added a
// passkey. Then it has expired, and its row remains for the rest of the run.

const (
	hasNoCredential = `NOT EXISTS (SELECT 1 FROM passwords WHERE user_id = links.user_id)
		AND NOT EXISTS (SELECT 1 FROM credentials WHERE user_id = links.user_id)
		AND NOT EXISTS (SELECT 1 FROM identities WHERE user_id = links.user_id)`

	acceptable = `(purpose = 'enrolment' OR purpose = 'invitation' AND ` + hasNoCredential + `)`

	selectInvitation = `SELECT ` + linkColumns + ` FROM links WHERE hash = ? AND expires_at > ? AND ` + acceptable

	selectInvitationOf = `SELECT ` + linkColumns + ` FROM links WHERE user_id = ? AND purpose = 'invitation' AND expires_at > ? AND ` + hasNoCredential

	updateInvitation = `UPDATE links SET run_id = ? WHERE hash = ? AND user_id = ? AND expires_at > ? AND ` + acceptable

	selectOpenInvitation = `SELECT 1 FROM links WHERE user_id = ? AND purpose = 'invitation' AND run_id = ? AND ` + hasNoCredential

	selectProofInvitation = `SELECT 1 FROM links WHERE user_id = ? AND hash = ? AND purpose = ? AND run_id = ?`

	useEnrolment = `UPDATE links SET expires_at = ? WHERE user_id = ? AND hash = ? AND purpose = 'enrolment' AND run_id = ? AND expires_at > ?`
)

// Invitation returns the invitation or the enrolment link with the hash of its token; nil if there is
// none that can be accepted at the time.
func (s *Store) Invitation(ctx context.Context, hash []byte, now time.Time) (*schemas.Link, error) {
	found, err := readAll(ctx, s, scanLink, selectInvitation, nonNilBytes(hash), toMicros(now))
	return firstOf(found), err
}

// InvitationOf returns the invitation of a user; nil if there is none that can be accepted at the
// time.
func InvitationOf(ctx context.Context, r Reader, userID string, now time.Time) (*schemas.Link, error) {
	found, err := readAll(ctx, r, scanLink, selectInvitationOf, userID, toMicros(now))
	return firstOf(found), err
}

func (t *Tx) acceptInvitation(c schemas.AcceptInvitation) error {
	return t.change(errInvitation, updateInvitation, c.RunID, nonNilBytes(c.TokenHash), c.UserID, toMicros(c.At))
}

// isOpenInvitation reports whether the changes of a run rest on an invitation of a user who has no credential
// yet.
func (t *Tx) isOpenInvitation(changes []schemas.Change) (bool, error) {
	for _, change := range changes {
		c, is := change.(schemas.RequireProofs)
		if is && slices.ContainsFunc(c.Proofs, func(p schemas.Proof) bool { return p.Kind == schemas.InvitationProof }) {
			return exists(t.ctx, t, selectOpenInvitation, c.UserID, t.actor.run)
		}
	}
	return false, nil
}

// acceptance returns the events of changes, after that of an accepted invitation if they add a credential.
func acceptance(events []schemas.Event) []schemas.Event {
	i := slices.IndexFunc(events, func(e schemas.Event) bool {
		return slices.Contains([]string{"passkey.registered", "password.set", "identity.linked"}, e.Action)
	})
	if i < 0 {
		return events
	}
	accepted := events[i]
	accepted.ID, accepted.Action, accepted.Detail = schemas.NewID(), "invitation.accepted", nil
	return slices.Insert(events, 0, accepted)
}

func errInvitation() error {
	return schemas.Errorf(schemas.Conflict, schemas.CodeInvalidLink,
		"this invitation is no longer valid: it has been used, has expired, or was withdrawn; ask for a new one")
}

func (t *Tx) useEnrolment(c schemas.UseEnrolment) error {
	hash, err := schemas.ParseBytes(c.Proof.Of)
	if err != nil {
		return err
	}
	return t.change(errInvitation, useEnrolment, toMicros(c.At), c.UserID, nonNilBytes(hash), c.RunID, toMicros(c.At))
}
