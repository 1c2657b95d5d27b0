package token

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

// logoutClaims are the claims of a logout token (§2.4). A nonce is forbidden, because it
// would make the token an ID token.
type logoutClaims struct {
	Issuer   string              `json:"iss"`
	Subject  string              `json:"sub"`
	Audience string              `json:"aud"`
	IssuedAt int64               `json:"iat"`
	Expires  int64               `json:"exp"`
	ID       string              `json:"jti"`
	Events   map[string]struct{} `json:"events"`
	Session  string              `json:"sid"`
}

// LogoutToken returns a signed logout token with a new id.
func (i *Issuer) LogoutToken(ctx context.Context, t Logout) (string, error) {
	algorithm := cmp.Or(t.Algorithm, RS256)
	if err := checkAlgorithm(algorithm); err != nil {
		return "", err
	}
	if t.Subject == "" || t.Session == "" || t.ClientID == "" {
		return "", errors.New("token: a logout token needs a subject, a session and a client")
	}
	now := i.now()
	expires := now.Add(logoutTTL).Unix()
	payload, err := json.Marshal(logoutClaims{
		Issuer: i.issuer, Subject: t.Subject, Audience: t.ClientID, IssuedAt: now.Unix(), Expires: expires,
		ID: schemas.NewID(), Events: map[string]struct{}{logoutEvent: {}}, Session: t.Session,
	})
	if err != nil {
		return "", fmt.Errorf("token: writing the claims: %w", err)
	}
	return i.sign(ctx, algorithm, LogoutType, payload, expires)
}
