package store

import "time"

// How long the deliveries that the store queues are kept and retried. internal/delivery/backoff.go
// has the pauses between attempts. Other packages set the lifetimes of their own deliveries: cmd/postern/mailer.go
// for mails with codes, internal/notice for mails about accounts, and internal/target/notify.go for
// notifications of flows.
const (
	// logoutTTL is how long the server tries to notify a client of the end of a session.
	logoutTTL = 24 * time.Hour
	// untrustedLogoutTTL is logoutTTL for untrusted clients. An attacker could register some that
	// never answer and delay the notifications of others.
	untrustedLogoutTTL = time.Minute
	// noticeTTL is how long the notice of an event waits for its mail to be composed.
	noticeTTL = 24 * time.Hour
)
