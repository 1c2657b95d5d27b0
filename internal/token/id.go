package token

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"time"
)

// ID is the content of an ID token. Subject and ClientID are required.
type ID struct {
	Subject string
	// ClientID is the client that the token is issued to, its only audience. So it needs no
	// azp, which distinguishes several audiences (Core §2).
	ClientID string
	Nonce    string    // of the authorization request, "" for none
	Session  string    // "" for none
	AuthTime time.Time // when the user authenticated
	ACR      string
	AMR      []string
	// Profile are the claims about the user that the scopes of the request release.
	// Attributes named like reserved claims are left out.
	Profile map[string]any
	// AccessToken and Code are issued with the ID token, "" for none: at_hash (§3.1.3.6)
	// and c_hash (§3.3.2.11) bind them to it.
	AccessToken, Code string
	Validity          time.Duration // 0: the issuer's default
	Algorithm         string        // ES256 or RS256; "" is RS256
}

// hintTTL is how long the key of an expired ID token is kept, because a client can send the
// token as a hint, to sign in again or to sign out.
const hintTTL = 7 * 24 * time.Hour

// IDToken returns a signed ID token (OpenID Connect Core §2).
func (i *Issuer) IDToken(ctx context.Context, t ID) (string, error) {
	if t.Subject == "" || t.ClientID == "" {
		return "", errors.New("token: an ID token needs a subject and a client")
	}
	return i.issue(ctx, cmp.Or(t.Algorithm, RS256), idType, t.Validity, t.Profile, claims{
		Subject: t.Subject, Audience: audience{t.ClientID}, Nonce: t.Nonce, Session: t.Session,
		AuthTime: unixSeconds(t.AuthTime), ACR: t.ACR, AMR: t.AMR,
		AccessHash: halfHash(t.AccessToken), CodeHash: halfHash(t.Code),
	})
}

// halfHash returns the left half of the SHA-256 of a text, the value of at_hash and c_hash;
// "" for "". Both algorithms use SHA-256.
func halfHash(text string) string {
	if text == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(text))
	return base64.RawURLEncoding.EncodeToString(sum[:len(sum)/2])
}

// VerifyIDToken verifies an ID token of this issuer that a client returns as id_token_hint
// (OpenID Connect Core §3.1.2.1). It may have expired: it identifies who once signed in and
// proves nothing about the present. Any other fault is the error invalid_token.
func (i *Issuer) VerifyIDToken(ctx context.Context, raw string) (*Claims, error) {
	c, err := i.open(ctx, raw)
	if err != nil {
		return nil, err
	}
	switch {
	case c.typ != idType:
		return nil, errInvalid("Expected an ID token, got a token of the type %s.", c.typ)
	case c.Issuer != i.issuer:
		return nil, errInvalid("The ID token is from another issuer, expected %s.", i.issuer)
	case c.Subject == "" || len(c.Audience) != 1 || c.Audience[0] == "" || c.Expires == 0 || c.IssuedAt == 0:
		return nil, errInvalid("The ID token lacks sub, exp or iat, or does not have exactly one audience.")
	case i.now().Add(leeway).Before(time.Unix(c.IssuedAt, 0)):
		return nil, errInvalid("The ID token was issued in the future: the clocks of the servers differ.")
	}
	c.ClientID = c.Audience[0]
	return c.verified(), nil
}
