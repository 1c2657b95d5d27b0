package store

import (
	"slices"
	"time"

	"github.com/postern-id/postern/schemas"
)

// The end of sessions and runs when a credential changes. The transaction has locked the user:
// see proofs.go.

// endReason is the reason in the audit log why a session ended.
type endReason string

const (
	newPassword       endReason = "password_changed"
	removedCredential endReason = "credential_removed"
	signedOut         endReason = "signed_out"
)

// SetActor sets the actor of the transaction's further writes. The session "" means none; only
// the actor and request data of the event are used.
func (t *Tx) SetActor(session string, event schemas.Event) {
	t.actor = actor{event: event}
	if session != "" {
		t.actor.sessions = []string{session}
	}
}

// EndSessionsOn ends the user's sessions that started with a removed credential, or with any
// credential of its kind if Of is "".
func EndSessionsOn(t *Tx, userID string, gone schemas.Proof, at time.Time) error {
	if _, err := t.lockUser(userID); err != nil {
		return err
	}
	return t.endSessionsOn(userID, gone, at)
}

// endRuns ends the unfinished runs of a user except the acting one.
func (t *Tx) endRuns(userID string) error {
	_, err := t.exec(deleteOtherRuns, userID, t.actor.run)
	return err
}

// endSessionsOn ends the sessions that started with a removed credential. The acting session
// continues without that proof.
func (t *Tx) endSessionsOn(userID string, gone schemas.Proof, at time.Time) error {
	all, err := t.ownSessions(userID)
	if err != nil {
		return err
	}
	acting := SessionsWith(all, t.actor.sessions...)
	for _, s := range all {
		if !usesProof(&s, gone) {
			continue
		}
		if !slices.Contains(acting, s.ID) {
			err = t.endOwnSession(&s, removedCredential, at)
		} else {
			err = t.forgetProof(&s, gone)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// SessionsWith returns ids of a user's sessions with those of the session that each offline one is of, and of
// their offline sessions.
func SessionsWith(all []schemas.Session, ids ...string) []string {
	ids = slices.Clone(ids)
	for _, s := range all {
		if s.OfflineOf != "" && slices.Contains(ids, s.ID) {
			ids = append(ids, s.OfflineOf)
		}
	}
	for _, s := range all {
		if s.OfflineOf != "" && slices.Contains(ids, s.OfflineOf) {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

// usesProof reports whether a session started with a credential. A session without stored proofs is
// evaluated by its methods.
func usesProof(s *schemas.Session, gone schemas.Proof) bool {
	if len(s.Proofs) == 0 {
		return slices.Contains(s.AMR, gone.Kind.Method())
	}
	return slices.ContainsFunc(s.Proofs, proofMatcher(gone))
}

// proofMatcher returns a function that reports whether a proof is of the credential, or of any
// of its kind.
func proofMatcher(gone schemas.Proof) func(schemas.Proof) bool {
	return func(p schemas.Proof) bool { return p.Kind == gone.Kind && (gone.Of == "" || p.Of == gone.Of) }
}

// ownSessions returns all sessions of a user, including those that have just expired: the
// clock of another instance may be behind.
func (t *Tx) ownSessions(userID string) ([]schemas.Session, error) {
	return readAll(t.ctx, t, scanSession, selectOwnSessions, userID)
}

// endAccess ends all sessions and runs of a user. Unlike setting a password it also ends the
// acting session, because the user may do nothing more with it.
func (t *Tx) endAccess(c schemas.EndAccess) error {
	if _, err := t.lockUser(c.UserID); err != nil {
		return err
	}
	if err := t.endRuns(c.UserID); err != nil {
		return err
	}
	return t.endSessions(c.UserID, endReason(c.Reason), c.At)
}

// endOwnSession ends a session and records the event.
func (t *Tx) endOwnSession(s *schemas.Session, why endReason, at time.Time) error {
	if err := t.endSession(schemas.EndSession{ID: s.ID, At: at}); err != nil {
		return err
	}
	e := t.actor.event
	e.ID, e.At, e.Action, e.UserID = schemas.NewID(), at, "session.ended", s.UserID
	e.Resource, e.Before, e.After = schemas.ResourceRef{Type: "session", ID: s.ID}, "", ""
	e.Detail = map[string]string{"reason": string(why)}
	return t.recordEvent(e)
}

// forgetProof removes a credential from the proofs of a session.
func (t *Tx) forgetProof(s *schemas.Session, gone schemas.Proof) error {
	_, err := t.exec(updateSessionProofs, asJSON(slices.DeleteFunc(s.Proofs, proofMatcher(gone))), s.ID)
	return err
}

// removeProof runs a statement that deletes what proves a user's identity. If it deletes a
// credential, it ends the sessions that started with it. No other transaction changes the user
// meanwhile.
func (t *Tx) removeProof(userID string, gone schemas.Proof, at time.Time, q string, args ...any) (removed bool, err error) {
	if _, err := t.lockUser(userID); err != nil {
		return false, err
	}
	if err := t.passOn(userID, gone); err != nil {
		return false, err
	}
	n, err := t.exec(q, args...)
	if err != nil || n == 0 {
		return false, err
	}
	return true, t.endSessionsOn(userID, gone, at)
}

// endSessions ends the sessions of a user, except the given ones and those of SessionsWith.
func (t *Tx) endSessions(userID string, why endReason, at time.Time, except ...string) error {
	all, err := t.ownSessions(userID)
	if err != nil {
		return err
	}
	kept := SessionsWith(all, except...)
	for _, s := range all {
		if slices.Contains(kept, s.ID) {
			continue
		}
		if err := t.endOwnSession(&s, why, at); err != nil {
			return err
		}
	}
	return nil
}
