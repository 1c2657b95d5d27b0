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
