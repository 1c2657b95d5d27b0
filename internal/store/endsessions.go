package store

import (
	"fmt"
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
)

// SetActor sets the actor of the transaction's further writes. The session "" means none; only
// the actor and request data of the event are used.
func (t *Tx) SetActor(session string, event schemas.Event) {
	t.tx.actor = actor{event: event}
	if session != "" {
		t.tx.actor.sessions = []string{session}
	}
}

// EndSessionsOn ends the user's sessions that rest on a removed credential, or on any of its
// kind if Of is "".
func EndSessionsOn(t *Tx, userID string, gone schemas.Proof, at time.Time) error {
	if _, err := t.tx.lockUser(userID); err != nil {
		return err
	}
	return t.tx.endSessionsOn(userID, gone, at)
}

// endRuns ends the unfinished runs of a user except the acting one.
func (t *tx) endRuns(userID string) error {
	if _, err := t.exec(deleteOtherRuns, userID, t.actor.run); err != nil {
		return fmt.Errorf("store: ending the runs of a user: %w", err)
	}
	return nil
}

// endSessionsOn ends the sessions that rest on a removed credential. The acting session
// continues without that proof.
func (t *tx) endSessionsOn(userID string, gone schemas.Proof, at time.Time) error {
	all, err := t.ownSessions(userID)
	if err != nil {
		return err
	}
	for _, s := range all {
		if !usesProof(&s, gone) {
			continue
		}
		if !t.isActing(s.ID) {
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

// endOtherSessions ends all sessions of a user except the acting ones.
func (t *tx) endOtherSessions(userID string, why endReason, at time.Time) error {
	all, err := t.ownSessions(userID)
	if err != nil {
		return err
	}
	for _, s := range all {
		if t.isActing(s.ID) {
			continue
		}
		if err := t.endOwnSession(&s, why, at); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) isActing(session string) bool { return slices.Contains(t.actor.sessions, session) }

// usesProof reports whether a session rests on a credential. A session without stored proofs
// is evaluated by its methods.
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
func (t *tx) ownSessions(userID string) (all []schemas.Session, err error) {
	err = t.each(selectOwnSessions, func(row scanner) error {
		all = append(all, schemas.Session{})
		return scanSession(row, &all[len(all)-1])
	}, userID)
	if err != nil {
		return nil, fmt.Errorf("store: reading the sessions of a user: %w", err)
	}
	return all, nil
}

// endAccess ends all sessions and runs of a user. Unlike setting a password it also ends the
// acting session, because the user may do nothing more with it.
func (t *tx) endAccess(c schemas.EndAccess) error {
	if _, err := t.lockUser(c.UserID); err != nil {
		return err
	}
	if err := t.endRuns(c.UserID); err != nil {
		return err
	}
	all, err := t.ownSessions(c.UserID)
	if err != nil {
		return err
	}
	for _, s := range all {
		if err := t.endOwnSession(&s, endReason(c.Reason), c.At); err != nil {
			return err
		}
	}
	return nil
}

// endOwnSession ends a session and records the event.
func (t *tx) endOwnSession(s *schemas.Session, why endReason, at time.Time) error {
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
func (t *tx) forgetProof(s *schemas.Session, gone schemas.Proof) error {
	left, err := marshalJSON(slices.DeleteFunc(s.Proofs, proofMatcher(gone)))
	if err != nil {
		return err
	}
	if _, err := t.exec(updateSessionProofs, left, s.ID); err != nil {
		return fmt.Errorf("store: changing what a session rests on: %w", err)
	}
	return nil
}
