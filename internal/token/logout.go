package token

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/postern-id/postern/schemas"
)

// LogoutType is the typ of a logout token: OpenID Connect Back-Channel Logout 1.0 §2.4.
// This server accepts none.
const LogoutType = "logout+jwt"

// logoutEvent is the event that a logout token reports.
const logoutEvent = "http://schemas.openid.net/event/backchannel-logout"

// logoutTTL is the validity of a logout token, which is created when it is sent.
const logoutTTL = 2 * time.Minute

// Logout is the content of a logout token: a session of the subject has ended. All members
// but Algorithm are required.
type Logout struct {
	Subject, Session string
	ClientID         string // its only audience
	Algorithm        string // ES256 or RS256; "" is RS256
}

// LogoutToken returns a signed logout token with a new id. A nonce is forbidden (§2.4): it
// would make the token an ID token.
func (i *Issuer) LogoutToken(ctx context.Context, t Logout) (string, error) {
	if t.Subject == "" || t.Session == "" || t.ClientID == "" {
		return "", errors.New("token: a logout token needs a subject, a session and a client")
	}
	return i.issue(ctx, cmp.Or(t.Algorithm, RS256), LogoutType, 0, nil, claims{
		Subject: t.Subject, Audience: audience{t.ClientID}, Session: t.Session,
		ID: schemas.NewID(), Events: map[string]struct{}{logoutEvent: {}},
	})
}
