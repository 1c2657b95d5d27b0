package token

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/postern-id/postern/schemas"
)

const (
	// longestValidity is the size of the longest token that is looked at, in bytes.
	longestValidity = 16 << 10
	// leeway is how far the clocks of two instances may differ.
	leeway = time.Minute
)

// Claims are what a verified token says.
type Claims struct {
	Type                        string // AssertionType or AccessType
	Subject, ID                 string
	ClientID, Session           string // "" where there is none
	Application                 string // that an assertion is of; "" for none, and for an access token
	Generation                  string // of the application that it was issued to; "" for none
	Audience                    []string
	Scope                       []string
	IssuedAt, Expires, AuthTime time.Time // AuthTime is zero when not told
	UserType, OUID              string
	AMR                         []string
	ACR                         string
	AuthRequest                 string // that an assertion answers; "" for none
}

// Ref names the token by what may be revoked of it.
func (c *Claims) Ref() schemas.TokenRef {
	return schemas.TokenRef{ID: c.ID, Session: c.Session, Client: c.ClientID, Application: c.Application, Generation: c.Generation}
}

// Permits reports whether the scope covers a permission: it has the permission
// itself or one above it, as "system" is above "system:users:read".
func (c *Claims) Permits(permission string) bool {
	for _, scope := range c.Scope {
		if schemas.CoversPermission(scope, permission) {
			return true
		}
	}
	return false
}

// Verify checks a token of this issuer that is meant for the audience, and
// returns what it says. Whatever is wrong with it, the error is invalid_token,
// Class Unauthenticated (RFC 6750 §3.1). That a token was revoked, and what its
// subject still has of its scope, is looked up last; if it cannot be, the error is
// internal.
//
// Both types of tokens pass. That they do is by contract: an assertion is good
// for calling the API, as an access token is.
//
// A token's header must be, byte for byte, one that this issuer writes. So no
// header is obeyed that an attacker chose: not another algorithm or none, not a
// key that comes with the token (jwk, jku, x5c) or is only named alike, and no
// extension (crit). A header that is of a key not known yet is looked up once
// more: another instance may have begun to use it.
func (i *Issuer) Verify(ctx context.Context, raw, audience string) (*Claims, error) {
	claims, err := i.open(ctx, raw)
	if err != nil {
		return nil, err
	}
	if err := i.check(claims, audience); err != nil {
		return nil, err
	}
	c := &Claims{
		Type: claims.typ, Subject: claims.Subject, ID: claims.ID, ClientID: claims.ClientID, Session: claims.Session,
		Audience: claims.Audience, Scope: strings.Fields(claims.Scope),
		IssuedAt: claims.IssuedAt.Time().UTC(), Expires: claims.Expiry.Time().UTC(),
		UserType: claims.UserType, OUID: claims.OUID, Generation: claims.Generation, AMR: claims.AMR, ACR: claims.ACR,
		AuthRequest: claims.AuthRequest,
	}
	if claims.AuthTime != nil {
		c.AuthTime = claims.AuthTime.Time().UTC()
	}
	c.Application = i.applicationOf(c)
	if err := i.checkLive(ctx, c); err != nil {
		return nil, err
	}
	return c, i.reduceScope(ctx, c)
}

// reduceScope leaves in the scope what the subject still has. Else whoever was an
// administrator would go on being one for as long as a token lasts.
func (i *Issuer) reduceScope(ctx context.Context, c *Claims) (err error) {
	if i.granted == nil || len(c.Scope) == 0 {
		return nil
	}
	c.Scope, err = i.granted(ctx, c.Subject, c.ClientID, c.Scope)
	if err != nil {
		return fmt.Errorf("token: looking what its subject has: %w", err)
	}
	return nil
}

// checkLive looks whether the token has been revoked.
func (i *Issuer) checkLive(ctx context.Context, c *Claims) error {
	if i.live == nil {
		return nil
	}
	live, err := i.live(ctx, c.Ref())
	if err != nil {
		return fmt.Errorf("token: looking whether it was revoked: %w", err)
	}
	if !live {
		return errInvalid("The token was revoked, or its session has ended, or the application is gone. Sign in again.")
	}
	return nil
}

// applicationOf is the application that an assertion is of: what it is meant for
// besides us. "" for none, and for an access token.
func (i *Issuer) applicationOf(c *Claims) string {
	for _, audience := range c.Audience {
		if c.Type == AssertionType && audience != i.issuer {
			return audience
		}
	}
	return ""
}

// receivedClaims are the claims of a token as it came.
type receivedClaims struct {
	jwt.Claims
	Scope      string           `json:"scope"`
	AuthTime   *jwt.NumericDate `json:"auth_time"`
	AMR        []string         `json:"amr"`
	ACR        string           `json:"acr"`
	UserType   string           `json:"userType"`
	OUID       string           `json:"ouId"`
	ClientID   string           `json:"client_id"`
	Session    string           `json:"sid"`
	Generation string           `json:"tgen"`
	Nonce      string           `json:"nonce"`
	// AuthRequest is what an assertion answers.
	AuthRequest string `json:"authId"`

	typ string
}

// open returns the claims of a token that one of the keys has signed.
func (i *Issuer) open(ctx context.Context, raw string) (*receivedClaims, error) {
	if len(raw) > longestValidity {
		return nil, errInvalid("The token has %d bytes, expected at most %d.", len(raw), longestValidity)
	}
	// The decoder below passes over line ends.
	if strings.ContainsAny(raw, "\r\n") {
		return nil, errInvalid("The token has a line end in it.")
	}
	header, _, _ := strings.Cut(raw, ".")
	key, err := i.keyForHeader(ctx, header)
	if err != nil {
		return nil, err
	}
	token, err := jwt.ParseSigned(raw, []jose.SignatureAlgorithm{jose.SignatureAlgorithm(key.algorithm)})
	if err != nil {
		return nil, errInvalid("The token is not a signed JWT.")
	}
	var claims receivedClaims
	if err := token.Claims(key.public, &claims); err != nil {
		return nil, errInvalid("The token's signature or claims are not valid.")
	}
	claims.typ = key.typ
	return &claims, nil
}

// check judges the claims of a token whose signature is good.
func (i *Issuer) check(c *receivedClaims, audience string) error {
	now := i.now()
	switch {
	case c.typ == idType:
		return errInvalid("An ID token tells a client who signed in, and gives access to nothing. Send the access token.")
	case c.Issuer != i.issuer:
		return errInvalid("The token is of another issuer, expected %s.", i.issuer)
	case audience == "" || !c.Audience.Contains(audience):
		return errInvalid("The token is meant for another audience, expected %s: a client asks for that with resource=%s.", audience, audience)
	case c.Subject == "" || c.Expiry == nil || c.IssuedAt == nil:
		return errInvalid("The token lacks sub, exp or iat.")
	case c.ID == "" || (c.typ == AccessType) != (c.ClientID != ""):
		return errInvalid("The token lacks jti, or its client_id and its type do not go together.")
	case !now.Before(c.Expiry.Time()):
		return errInvalid("The token has expired. Sign in again.")
	case c.NotBefore != nil && now.Add(leeway).Before(c.NotBefore.Time()):
		return errInvalid("The token is not valid yet.")
	case now.Add(leeway).Before(c.IssuedAt.Time()):
		return errInvalid("The token was issued in the future: the clocks of the servers differ.")
	}
	return nil
}

func errInvalid(format string, args ...any) error {
	return schemas.Errorf(schemas.Unauthenticated, "invalid_token", format, args...)
}
