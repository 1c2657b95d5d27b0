package schemas

import (
	"time"
	"unicode"
	"unicode/utf8"
)

// MaxProofAge is the maximum age of a fresh sign-in: one with which users change their own account,
// or grant permissions to an untrusted client.
const MaxProofAge = 5 * time.Minute

// StartSession returns the session of an assertion, and sets the session of the assertion.
// UserAgent is the header as received. The assertion's Validity must be set: the session lasts as
// long.
func (a *Assertion) StartSession(applicationID, userAgent string, now time.Time) Session {
	s := Session{
		ID: NewID(), UserID: a.Subject, ApplicationID: applicationID, AMR: a.AMR, ACR: a.ACR,
		Client: clientName(userAgent), CreatedAt: now, ExpiresAt: now.Add(a.Validity),
	}
	a.Session = s.ID
	return s
}

// clientName returns the stored part of a User-Agent: clients can send anything in it, and users
// and administrators see it.
func clientName(userAgent string) string {
	const longest = 200
	var kept []byte
	for _, c := range userAgent {
		if c == utf8.RuneError || !unicode.IsPrint(c) {
			continue
		}
		if len(kept)+utf8.RuneLen(c) > longest {
			break
		}
		kept = utf8.AppendRune(kept, c)
	}
	return string(kept)
}

// Session is one sign-in of a user, from the authentication until it is ended, or until everything
// that was issued in it has expired. Ending it revokes its tokens.
type Session struct {
	ID            string    `json:"id"`
	UserID        string    `json:"userId"`
	ApplicationID string    `json:"applicationId,omitempty"`
	AMR           []string  `json:"amr"` // RFC 8176
	ACR           string    `json:"acr,omitempty"`
	Client        string    `json:"client,omitempty"` // the User-Agent it began with, cut to 200 bytes
	CreatedAt     time.Time `json:"createdAt"`
	ExpiresAt     time.Time `json:"expiresAt"`
	// Browser identifies the browser of the session: all sessions of a browser have the same value.
	// It is "" for a session outside a browser.
	Browser string `json:"browser,omitempty"`
	// LastSeenAt is when that browser last used the session, to ten minutes.
	LastSeenAt time.Time `json:"lastSeenAt,omitzero"`
	// OfflineOf is the id of the session in which a client received tokens with the scope
	// offline_access. The session holds these tokens, for the client of ApplicationID, and continues
	// after a sign-out. It is "" for other sessions.
	OfflineOf string `json:"offlineOf,omitempty"`
	// Proofs are the proofs of the sign-in: see Evidence. They are nil for sessions from before
	// proofs were recorded, and for sessions that the command line started.
	Proofs []Proof `json:"-"`
}

// TokenRef identifies a token and everything with which it can be revoked.
type TokenRef struct {
	ID      string // jti
	Session string // sid; "" for a token of no session
	Client  string // the OAuth client it was issued to; "" for an assertion
	// Application is the application of an assertion; "" for an access token, and for an assertion
	// without an application.
	Application string
	// Generation is the TokenGeneration that the application had when the token was
	// issued.
	Generation string
}

// AcceptsSession reports whether the application accepts a sign-in at now without a new one. signedIn is when the
// user proved what the session is worth, and used when the application last used the session; zero if it has not.
func (a *Application) AcceptsSession(signedIn, used, now time.Time) bool {
	return isWithin(signedIn, now, a.SessionLifetime) && isWithin(later(signedIn, used), now, a.SessionIdleTimeout)
}

// AcceptsRefresh reports whether the application gets tokens at now for a sign-in without offline_access. issued is
// when it last got tokens, which it could use for access; serverIdle is the idle timeout of the server, 0 for none.
func (a *Application) AcceptsRefresh(signedIn, issued, now time.Time, access, serverIdle time.Duration) bool {
	unused := issued.Add(access)
	return isWithin(signedIn, now, a.SessionLifetime) && isWithin(unused, now, a.SessionIdleTimeout) && (serverIdle == 0 || now.Sub(unused) < serverIdle)
}

// isWithin reports whether at most so many seconds have passed since a time; 0 sets no limit.
func isWithin(since, now time.Time, seconds int) bool {
	return seconds == 0 || now.Sub(since) < time.Duration(seconds)*time.Second
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// IsIdle reports whether the browser of a session has not used it for a time; 0 sets no limit.
func (s *Session) IsIdle(timeout time.Duration, now time.Time) bool {
	return timeout > 0 && now.Sub(later(s.LastSeenAt, s.CreatedAt)) >= timeout
}
