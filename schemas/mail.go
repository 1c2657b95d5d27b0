package schemas

import "time"

// Mail is the body of a MailDelivery as JSON, before it is sealed: a code for the reader of an
// address, a notice about an account, or an invitation.
type Mail struct {
	// To is the address (RFC 5321 addr-spec). "" means no recipient: such a mail is queued like
	// others where the existence of an address must not be revealed.
	To string `json:"to"`
	// Code is the code that the user enters, and Minutes its lifetime.
	Code    string `json:"code,omitempty"`
	Minutes int    `json:"minutes,omitempty"`
	// NewAddress states that the code confirms the address as the new one of an account.
	NewAddress bool `json:"newAddress,omitempty"`
	// Recovery states that the code gives access to an account whose user cannot sign in any more.
	Recovery bool `json:"recovery,omitempty"`
	// Notice is the action of the event that the mail is about, one of NoticeActions; "" for a code.
	// At is its time, and Link the address where the reader can lock the account.
	// For an invitation, At is when it expires, and Link leads to the flow that accepts it.
	Notice string    `json:"notice,omitempty"`
	At     time.Time `json:"at,omitzero"`
	Link   string    `json:"link,omitempty"`
	// ByAdministrator states that the user did not cause the event of Notice.
	ByAdministrator bool `json:"byAdministrator,omitempty"`
	// Invitation states that the mail invites the reader to an application, and Replaces that the link
	// of an earlier invitation no longer works.
	Invitation bool `json:"invitation,omitempty"`
	Replaces   bool `json:"replaces,omitempty"`
	// Browser is the browser of a sign-in, "" if unknown.
	Browser string `json:"browser,omitempty"`
	// Application is the name of the application, "" if it is untrusted. For a notice it is the name
	// of the service.
	Application string `json:"application,omitempty"`
	// Language is the language of the recipient (BCP 47), "" for the default.
	Language string `json:"language,omitempty"`
}

// VerifyEmail states that the user has shown the address to be theirs (email_verified,
// OpenID Connect Core §5.1). Users who have the address and have not verified it lose
// it. If the user has no such address by the time of the commit, nothing is committed:
// the code is invalid_code, Class Conflict.
type VerifyEmail struct {
	UserID string
	Email  string
	At     time.Time
}

func (c VerifyEmail) change() lock { return writes(c.UserID) }
