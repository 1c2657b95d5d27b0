package schemas

import (
	"time"
	"unicode"
	"unicode/utf8"
)

// MaxProofAge is the maximum age of a fresh sign-in: one with which users change their own account,
// or grant permissions to an untrusted client.
const MaxProofAge = 5 * time.Minute

// StartSession makes the session that an assertion begins, and the assertion a
// part of it. UserAgent is the header as it came. The assertion's Validity must
// be known: the session lasts as long.
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

// Session is one sign-in of a user: from the authentication until it ends, or
// until everything that was issued for it has expired. Who ends it makes its
// tokens worthless.
type Session struct {
	ID            string    `json:"id"`
	UserID        string    `json:"userId"`
	ApplicationID string    `json:"applicationId,omitempty"`
	AMR           []string  `json:"amr"` // RFC 8176
	ACR           string    `json:"acr,omitempty"`
	Client        string    `json:"client,omitempty"` // the User-Agent it began with, cut to 200 bytes
	CreatedAt     time.Time `json:"createdAt"`
	ExpiresAt     time.Time `json:"expiresAt"`
	// Browser names the browser that has the session, the same for all of its sessions; "" for a
	// session of no browser.
	Browser string `json:"browser,omitempty"`
	// LastSeenAt is when that browser last used the session, to ten minutes.
	LastSeenAt time.Time `json:"lastSeenAt,omitzero"`
	// Proofs are what the sign-in rests on. Nil where that was not recorded: by a
	// session from before proofs were, and one that was issued on the command line.
	Proofs []Proof `json:"-"`
}

// TokenRef names a token by what may be revoked of it.
type TokenRef struct {
	ID      string // jti
	Session string // sid; "" for a token of no session
	Client  string // the OAuth client it was issued to; "" for an assertion
	// Application is that of an assertion; "" for an access token, and for the
	// assertion of a sign-in for none.
	Application string
	// Generation is the TokenGeneration that the application had when the token was
	// issued.
	Generation string
}
