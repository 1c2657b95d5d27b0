package schemas

import (
	"time"
	"unicode"
	"unicode/utf8"
)

// MaxProofAge is how old a sign-in may be that counts as fresh: one by which users change
// their own account, or give permissions to a client that nobody vouches for.
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

// clientName is what is kept of a User-Agent: anybody may send anything in it,
// and it is shown to the user, and to administrators.
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
