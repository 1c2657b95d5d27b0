package directory

import (
	"cmp"
	"time"

	"github.com/postern-id/postern/schemas"
)

// Disabling and locking
//
// A user who is disabled, or locked until a time, cannot sign in: the store refuses
// every commit that depends on an authentication of the user, and every session of the
// user (requireProofs and startSession). The write that disables or locks the user also
// ends the user's sessions and runs. Because each token of a user belongs to a session,
// all of them become invalid on every instance as soon as the write commits.

// completeStatus sets the default status and rounds the time to the store's precision.
func completeStatus(u *schemas.User) {
	u.Status = cmp.Or(u.Status, schemas.UserActive)
	u.LockedUntil = u.LockedUntil.UTC().Truncate(time.Microsecond)
}

// changedStatus returns the status members that the replacement changes.
func changedStatus(old, u *schemas.User) (members []string) {
	if old.Status != u.Status {
		members = append(members, "status")
	}
	if !old.LockedUntil.Equal(u.LockedUntil) {
		members = append(members, "lockedUntil")
	}
	return members
}

// statusActions returns the event actions for a change of the status. An expired lock needs
// no unlocking.
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

// applyStatus records a change of the status and ends the access of a user who may no
// longer sign in.
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
