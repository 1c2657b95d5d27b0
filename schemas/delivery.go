package schemas

import "time"

// The kinds of deliveries.
const (
	// LogoutDelivery notifies a client of an ended session: OpenID Connect Back-Channel Logout 1.0.
	// Its target is the id of the application, its body a SessionEnd as JSON.
	LogoutDelivery = "backchannel-logout"
	// MailDelivery is an e-mail. Its body is sealed, because it may contain a code.
	MailDelivery = "mail"
	// CallDelivery sends a notification of a flow to a service: a Call as JSON, sealed. Its target
	// is the name of the service.
	CallDelivery = "http-request"
)

// DeliveryKinds returns the kinds of deliveries.
func DeliveryKinds() []string {
	return []string{MailDelivery, NoticeDelivery, CallDelivery, LogoutDelivery}
}

// Delivery is an outgoing message, which is retried until it arrives or expires. It can arrive more
// than once: if the program dies between sending and recording that, it is sent again.
type Delivery struct {
	ID   string
	Kind string
	// Target identifies the recipient, without personal data: it is logged. Few deliveries to one
	// target run at a time. "" has no such limit.
	Target string
	// Body is the content, in the format of the kind, sealed if it is secret.
	Body []byte
	// Attempts counts how often it has been sent, this time included.
	Attempts int
	// NotBefore is the time of the next attempt; the zero time means at once. There are no attempts
	// after ExpiresAt.
	NotBefore, ExpiresAt, CreatedAt time.Time
}

// SessionEnd identifies an ended session and its user.
type SessionEnd struct {
	SessionID string `json:"sessionId"`
	UserID    string `json:"userId"`
}

// QueueDelivery queues a delivery in the transaction of the change that causes it.
type QueueDelivery struct{ Delivery Delivery }

func (QueueDelivery) change() lock { return noLock() }
