package directory

import (
	"cmp"
	"time"

	"github.com/postern-id/postern/schemas"
)

// Disabling and locking
//
// A user who is disabled, or locked until a time, cannot sign in: the store refuses
// every commit that rests on an authentication of the user, and every session of theirs
// (requireProofs and startSession). The write that disables or locks also ends what the
// user has, so that all tokens are worthless as soon as it commits, on every instance: a
// token of a user belongs to a session.

// completeStatus makes a missing status the default one, and the time one that the store
// can keep.
func completeStatus(u *schemas.User) {
	u.Status = cmp.Or(u.Status, schemas.UserActive)
	u.LockedUntil = u.LockedUntil.UTC().Truncate(time.Microsecond)
}

// changedStatus are the members about the status that the replacement changes.
func changedStatus(old, u *schemas.User) (members []string) {
	if old.Status != u.Status {
		members = append(members, "status")
	}
	if !old.LockedUntil.Equal(u.LockedUntil) {
		members = append(members, "lockedUntil")
	}
	return members
}

// statusActions are the actions of the events that a replacement is, as far as it
// changes whether the user may sign in. Nobody is unlocked whose lock had ended.
func statusActions(old, u *schemas.User, now time.Time) (actions []string) {
	switch {
	case u.Status == old.Status:
	case u.Status == schemas.UserDisabled:
		actions = append(actions, "user.disabled")
	default:
		actions = append(actions, "user.enabled")
	}
	switch {
	case u.LockedUntil.Equal(old.LockedUntil):
	case u.IsLocked(now):
		actions = append(actions, "user.locked")
	case old.IsLocked(now):
		actions = append(actions, "user.unlocked")
	}
	return actions
}

// applyStatus records a change of the status, and ends what a user has who may not sign
// in.
func (w *writeContext) applyStatus(old, u *schemas.User) error {
	if old == nil {
		old = &schemas.User{Status: schemas.UserActive}
	}
	for _, action := range statusActions(old, u, w.now) {
		w.recordUserEvent(u.ID, action, schemas.ResourceRef{Type: "user", ID: u.ID})
		if action == "user.locked" {
			w.events[len(w.events)-1].Detail = map[string]string{"lockedUntil": u.LockedUntil.Format(time.RFC3339)}
		}
	}
	if inactive := u.CheckActive(w.now); inactive != nil {
		return w.apply(schemas.EndAccess{UserID: u.ID, Reason: inactive.Code, At: w.now})
	}
	return nil
}
