package schemas

import (
	"cmp"
	"time"
)

// The values of User.Status.
const (
	UserActive   = "active"
	UserDisabled = "disabled"
)

// Error codes of users who must not sign in. Their class is Forbidden. Only a user who has
// authenticated receives them: to any other caller a disabled or locked account looks like an
// active one.
const (
	CodeAccountDisabled = "account_disabled"
	CodeAccountLocked   = "account_locked"
)

// CheckActive returns an error if the user is disabled, or locked at that time. A lock
// ends by itself: nothing is written when its time has passed.
func (u *User) CheckActive(at time.Time) *Error {
	switch {
	case cmp.Or(u.Status, UserActive) != UserActive:
		return Errorf(Forbidden, CodeAccountDisabled, "This account is disabled. Ask an administrator to enable it.")
	case u.IsLocked(at):
		return Errorf(Forbidden, CodeAccountLocked, "This account is locked until %s. Sign in after that time, or ask an administrator to unlock it.",
			u.LockedUntil.UTC().Format(time.RFC3339))
	}
	return nil
}

// IsLocked reports whether the user is locked at that time.
func (u *User) IsLocked(at time.Time) bool { return at.Before(u.LockedUntil) }

// EndAccess ends all access of a user: all sessions, with their refresh tokens, codes and tokens,
// and all unfinished runs except the one of this change. Reason is recorded with each session. The
// user can sign in again unless something else prevents that.
type EndAccess struct {
	UserID string
	Reason string
	At     time.Time
}

func (c EndAccess) change() lock { return writes(c.UserID) }
