package schemas

import (
	"slices"
	"time"
)

// NoticeDelivery composes the mail about an event of an account: a Notice as JSON. It is queued in
// the transaction of the event.
const NoticeDelivery = "notice"

// Notice is an event about which its user gets a mail (NIST SP 800-63B-4 section 4.6).
type Notice struct {
	UserID string    `json:"userId"`
	Action string    `json:"action"` // of the event
	At     time.Time `json:"at"`
	// To is the address; "" means the verified address of the user.
	To string `json:"to,omitempty"`
	// SessionID is the session of a sign-in, "" for other events.
	SessionID string `json:"sessionId,omitempty"`
	// ByAdministrator states that another user, a client or an operator caused the event.
	ByAdministrator bool `json:"byAdministrator,omitempty"`
}

// The actions and details of events with notices.
const (
	// EmailChanged is the action of an event about a verified address that the user no longer has.
	// The notice goes to that address.
	EmailChanged = "email.changed"
	// NewBrowser is the detail of a sign-in in a browser that is unknown to the account.
	NewBrowser = "newBrowser"

	signedIn = "user.signed_in"
)

// NoticeActions lists the actions of the events about which users get a mail.
func NoticeActions() []string {
	return []string{
		"passkey.registered", "passkey.deleted", "passkey.limited", "password.set", "password.removed", "totp.registered", "totp.deleted",
		"recovery.issued", "recovery.deleted", "recovery.used", "identity.linked", "identity.unlinked", "addition.marked", "addition.kept", EmailChanged, FactorDisabled, signedIn,
	}
}

// NoticeOf returns the notice of an event, nil if the user gets none. A sign-in has a notice only
// if it is in a new browser.
func NoticeOf(e Event) *Notice {
	if e.UserID == "" || !slices.Contains(NoticeActions(), e.Action) || e.Action == signedIn && e.Detail[NewBrowser] == "" {
		return nil
	}
	byUser := e.Actor.Type == "" || e.Actor.Type == UserActor && e.Actor.ID == e.UserID
	return &Notice{UserID: e.UserID, Action: e.Action, At: e.At, SessionID: e.Detail["sessionId"], ByAdministrator: !byUser}
}
