package token

import (
	"cmp"
	"context"
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

// Access returns a signed access token (RFC 9068). Subject, ClientID and Audience are required.
func (i *Issuer) Access(ctx context.Context, c Claims) (string, error) {
	if c.Subject == "" || c.ClientID == "" || len(c.Audience) == 0 {
		return "", errors.New("token: an access token needs a subject, a client and an audience")
	}
	c.ID = cmp.Or(c.ID, schemas.NewID())
	return i.issue(ctx, ES256, AccessType, &c)
}

// Assert returns the assertion as a signed JWT. Profile attributes named like reserved
// claims are left out.
func (i *Issuer) Assert(ctx context.Context, a schemas.Assertion) (string, error) {
	if a.Subject == "" || len(a.Audience) == 0 {
		return "", errors.New("token: an assertion needs a subject and an audience")
	}
	return i.issue(ctx, ES256, AssertionType, &Claims{
		Subject: a.Subject, Audience: a.Audience, ID: schemas.NewID(), Scope: a.Permissions, Validity: a.Validity,
		AuthTime: a.AuthTime, AMR: a.AMR, ACR: a.ACR, UserType: a.UserType, OUID: a.OUID, Profile: a.Profile, Declared: a.Declared,
		Session: a.Session, Generation: a.Generation, AuthRequest: a.AuthRequest,
	})
}

// IDToken returns a signed ID token (OpenID Connect Core §2). Subject and ClientID are required.
func (i *Issuer) IDToken(ctx context.Context, c Claims) (string, error) {
	if c.Subject == "" || c.ClientID == "" {
		return "", errors.New("token: an ID token needs a subject and a client")
	}
	c.Audience, c.ClientID = []string{c.ClientID}, ""
	return i.issue(ctx, cmp.Or(c.Algorithm, RS256), idType, &c)
}

// ClaimsType is the typ of a document of distributed claims. It has no audience, so that nothing takes it for an ID token or
// an access token. This server accepts none.
const ClaimsType = "claims+jwt"

// claimsTTL is the validity of distributed claims, which are computed when they are read.
const claimsTTL = 5 * time.Minute

// ClaimsDocument returns distributed claims about the subject as a signed JWT: OpenID Connect Core §5.6.2.
func (i *Issuer) ClaimsDocument(ctx context.Context, c Claims) (string, error) {
	if c.Subject == "" {
		return "", errors.New("token: distributed claims need a subject")
	}
	return i.issue(ctx, cmp.Or(c.Algorithm, RS256), ClaimsType, &Claims{Subject: c.Subject, Declared: c.Declared, Validity: claimsTTL})
}

// LogoutToken returns a signed logout token with a new id: a session of the subject has ended.
// Subject, Session and ClientID are required. A nonce is forbidden (§2.4): it would make the token
// an ID token.
func (i *Issuer) LogoutToken(ctx context.Context, c Claims) (string, error) {
	if c.Subject == "" || c.Session == "" || c.ClientID == "" {
		return "", errors.New("token: a logout token needs a subject, a session and a client")
	}
	return i.issue(ctx, cmp.Or(c.Algorithm, RS256), LogoutType, &Claims{
		Subject: c.Subject, Audience: []string{c.ClientID}, Session: c.Session, ID: schemas.NewID(),
	})
}

// issue returns a signed token of a type. It sets the issuer and the times.
func (i *Issuer) issue(ctx context.Context, algorithm, typ string, content *Claims) (string, error) {
	if err := i.Ready(); err != nil {
		return "", err
	}
	if algorithm != RS256 && algorithm != ES256 {
		return "", fmt.Errorf("token: expected the algorithm %s or %s, got %q", RS256, ES256, algorithm)
	}
	c, err := encodeClaims(content)
	if err != nil {
		return "", err
	}
	c.distribute(content.Distributed)
	now, validity := i.now(), cmp.Or(content.Validity, i.validity[typ])
	c.Issuer, c.IssuedAt, c.Expires = i.issuer, now.Unix(), now.Add(validity).Unix()
	if typ == LogoutType {
		c.Events = map[string]struct{}{logoutEvent: {}}
	}
	payload, err := join(&c, content.Profile, content.Declared)
	if err != nil {
		return "", fmt.Errorf("token: writing the claims: %w", err)
	}
	if typ == idType {
		validity += hintTTL
	}
	return i.sign(ctx, algorithm, typ, payload, now.Add(validity).Unix())
}
