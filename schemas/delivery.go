package schemas

import "time"

// The kinds of deliveries.
const (
	// LogoutDelivery tells a client that a session has ended: OpenID Connect
	// Back-Channel Logout 1.0. Its target is the id of the application, its body a
	// SessionEnd as JSON.
	LogoutDelivery = "backchannel-logout"
	// MailDelivery is an e-mail. Its body is sealed: it may have a code in it.
	MailDelivery = "mail"
	// CallDelivery tells a service something that a flow has it told: a Call as JSON,
	// sealed. Its target is the name of the service.
	CallDelivery = "http-request"
)

// Delivery is something to be sent to somebody outside, until they have it or it
// has expired. It may arrive more than once: if this program dies between sending
// it and noting that, it is sent again.
type Delivery struct {
	ID   string
	Kind string
	// Target says who gets it, by a name that is no personal data: it is logged.
	// Few deliveries to one target are under way at a time. "" is nobody in
	// particular, and has no such bound.
	Target string
	// Body is what the sender of the kind makes of it, sealed if it is secret.
	Body []byte
	// Attempts counts how often it has been sent, this time included.
	Attempts int
	// NotBefore is when it is sent next; the zero time means at once. After ExpiresAt
	// it is given up.
	NotBefore, ExpiresAt, CreatedAt time.Time
}

// SessionEnd says which session of whom has ended.
type SessionEnd struct {
	SessionID string `json:"sessionId"`
	UserID    string `json:"userId"`
}

// QueueDelivery has something delivered, if what causes it is committed.
type QueueDelivery struct{ Delivery Delivery }

func (QueueDelivery) change() {}
