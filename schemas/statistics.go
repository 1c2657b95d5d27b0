package schemas

import "time"

// EventCount is the number of events of the audit log with an action and a reason, in an interval.
type EventCount struct {
	At     time.Time
	Action string
	// Reason is the error code of a failure, SessionReason for a sign-in that only continued a
	// session, and otherwise "".
	Reason string
	Count  int
}

// SessionReason is the reason of a counted sign-in that continued a session of the browser.
const SessionReason = "session"

// CountedReason returns the reason of an event for EventCount.
func CountedReason(e *Event) string {
	switch {
	case e.Action == "user.signed_in" && e.Detail["bySession"] == "true":
		return SessionReason
	case e.Action == "attempt.failed":
		return e.Detail["error"]
	case e.Action == "user.sign_in_refused", e.Action == "delivery.given_up":
		return e.Detail["reason"]
	}
	return ""
}

// FailureActions lists the actions of events that record a failure or a refusal.
func FailureActions() []string {
	return []string{
		"attempt.failed", "authorization.refused", "client.refused", "consent.denied", "delivery.given_up", "flow.failed",
		"http_request.failed", "identity.refused", "passkey.refused", "registration.refused", "request.refused", "token.refused", "user.sign_in_refused",
	}
}

// QueuedDeliveries describes the queued deliveries of a kind.
type QueuedDeliveries struct {
	Kind   string    `json:"kind"`
	Count  int       `json:"count"`
	Tried  int       `json:"tried"`  // of them, how many failed at least once
	Oldest time.Time `json:"oldest"` // when the oldest one was queued
}

// LogVerification is the result of verifying a part of the audit log. Ends are NUMBER:HASH.
type LogVerification struct {
	Events  int    `json:"events"`  // that are unchanged
	Removed int    `json:"removed"` // that were removed after the retention time, but whose seals remain
	End     string `json:"end"`     // of the verified part; "" if nothing is sealed
	// Complete states that End is the end of the chain. Otherwise the next request continues after
	// it.
	Complete bool      `json:"complete"`
	Fault    *LogFault `json:"fault,omitempty"`
}

// LogFault is the first position at which the audit log differs from what was recorded.
type LogFault struct {
	Seal    int64     `json:"seal"`
	EventID string    `json:"eventId,omitempty"`
	At      time.Time `json:"at,omitzero"`
	Problem string    `json:"problem"`
}
