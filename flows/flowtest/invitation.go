package flowtest

import (
	"bytes"
	"context"
	"time"

	"github.com/postern-id/postern/schemas"
)

// invitationTTL is how long an invitation can be accepted.
const invitationTTL = 7 * 24 * time.Hour

// invitationToken returns the token of a user's invitation.
func invitationToken(name string) string { return "invitation of " + name }

// invited returns the change that invites a user of the file, if the file says so.
func (w *environment) invited(name string, g Given) []schemas.Change {
	if !g.Invited {
		return nil
	}
	return []schemas.Change{schemas.CreateLink{Link: schemas.Link{
		TokenHash: schemas.HashSecret(invitationToken(name)), UserID: userID(name), Purpose: schemas.InvitationLink, Subject: w.app.ID,
		CreatedAt: w.now, ExpiresAt: w.now.Add(invitationTTL),
	}}}
}

// Invitation returns the invitation with the hash of its token, nil if there is none that can be
// accepted at the time.
func (m *Memory) Invitation(_ context.Context, hash []byte, now time.Time) (*schemas.Link, error) {
	return m.records().invitation(hash, now), nil
}

func (r records) invitation(hash []byte, now time.Time) *schemas.Link {
	link := find(r, func(l schemas.Link) bool {
		return l.Purpose == schemas.InvitationLink && bytes.Equal(l.TokenHash, hash) && now.Before(l.ExpiresAt)
	})
	if link == nil || r.hasCredential(link.UserID) {
		return nil
	}
	return link
}

// hasCredential reports whether a user has a sign-in method.
func (r records) hasCredential(userID string) bool {
	return find(r, isPassword(userID)) != nil || find(r, func(k schemas.Credential) bool { return k.UserID == userID }) != nil ||
		find(r, func(i schemas.Identity) bool { return i.UserID == userID }) != nil
}

func (r *records) acceptInvitation(c schemas.AcceptInvitation) error {
	link := r.invitation(c.TokenHash, c.At)
	if link == nil || link.UserID != c.UserID {
		return schemas.Errorf(schemas.Conflict, schemas.CodeInvalidLink, "the invitation is no longer valid")
	}
	edit(r, func(l schemas.Link) bool { return bytes.Equal(l.TokenHash, c.TokenHash) }, func(l *schemas.Link) { l.RunID = c.RunID })
	return nil
}
