package token

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/postern-id/postern/schemas"
)

const (
	// maxTokenSize is the maximum size of a token in bytes.
	maxTokenSize = 16 << 10
	// leeway is the tolerated difference between the clocks of two instances.
	leeway = time.Minute
)

// Claims are the claims of a verified token.
type Claims struct {
	Type                        string // AssertionType or AccessType
	Subject, ID                 string
	ClientID, Session           string // "" for none
	Application                 string // of an assertion; "" for none, and for an access token
	Generation                  string // of the application it was issued to; "" for none
	Audience                    []string
	Scope                       []string
	IssuedAt, Expires, AuthTime time.Time // AuthTime is zero if absent
	UserType, OUID              string
	AMR                         []string
	ACR                         string
	Nonce                       string // of an ID token; "" for none
	AuthRequest                 string // that an assertion answers; "" for none
}

// Ref returns the attributes that a revocation of the token matches.
func (c *Claims) Ref() schemas.TokenRef {
	return schemas.TokenRef{ID: c.ID, Session: c.Session, Client: c.ClientID, Application: c.Application, Generation: c.Generation}
}

// Permits reports whether the scope covers a permission: it contains the permission itself
// or one above it, as "system" is above "system:users:read".
func (c *Claims) Permits(permission string) bool {
	for _, scope := range c.Scope {
		if schemas.CoversPermission(scope, permission) {
			return true
		}
	}
	return false
}

// Verify checks that a token was issued by this issuer for the audience, and returns its
// claims. Any fault of the token is the error invalid_token of Class Unauthenticated (RFC
// 6750 §3.1). Revocation and the subject's current permissions are checked last; if they
// cannot be looked up, the error is internal.
//
// Access tokens and assertions both pass: by contract, both give access to the API.
//
// A token's header must equal, byte for byte, one that this issuer writes. So an attacker
// cannot choose a header: another algorithm or none, a key in the token (jwk, jku, x5c), a
// similar key id, or an extension (crit). If the key of a header is unknown, the keys are
// read once more, because another instance may have introduced it.
func (i *Issuer) Verify(ctx context.Context, raw, audience string) (*Claims, error) {
	c, err := i.openAccess(ctx, raw)
	if err != nil {
		return nil, err
	}
	if audience == "" || !slices.Contains(c.Audience, audience) {
		return nil, errInvalid("The token is for another audience, expected %s: request it with resource=%s.", audience, audience)
	}
	return i.accept(ctx, c)
}

// Inspect is Verify for a token of any audience: the issuer itself introspects it (RFC
// 7662), revokes it (RFC 7009), or returns claims about the user (OpenID Connect Core
// §5.3).
func (i *Issuer) Inspect(ctx context.Context, raw string) (*Claims, error) {
	c, err := i.openAccess(ctx, raw)
	if err != nil {
		return nil, err
	}
	return i.accept(ctx, c)
}

// openAccess returns the claims of a valid token that gives access.
func (i *Issuer) openAccess(ctx context.Context, raw string) (*claims, error) {
	c, err := i.open(ctx, raw)
	if err != nil {
		return nil, err
	}
	return c, i.check(c)
}

// accept returns the public claims of a valid token that is still live.
func (i *Issuer) accept(ctx context.Context, c *claims) (*Claims, error) {
	v := c.verified()
	v.Application = i.applicationOf(v)
	if err := i.checkLive(ctx, v); err != nil {
		return nil, err
	}
	return v, i.reduceScope(ctx, v)
}

// reduceScope removes the permissions that the subject no longer has. A former
// administrator would otherwise keep the permissions until the token expires.
func (i *Issuer) reduceScope(ctx context.Context, c *Claims) (err error) {
	if i.granted == nil || len(c.Scope) == 0 {
		return nil
	}
	c.Scope, err = i.granted(ctx, c.Subject, c.ClientID, c.Scope)
	if err != nil {
		return fmt.Errorf("token: reading the permissions of its subject: %w", err)
	}
	return nil
}

// checkLive rejects a revoked token.
func (i *Issuer) checkLive(ctx context.Context, c *Claims) error {
	if i.live == nil {
		return nil
	}
	live, err := i.live(ctx, c.Ref())
	if err != nil {
		return fmt.Errorf("token: looking up its revocation: %w", err)
	}
	if !live {
		return errInvalid("The token was revoked, its session has ended, or its application was deleted. Sign in again.")
	}
	return nil
}

// applicationOf returns the application of an assertion: its audience other than the issuer.
// "" for none, and for an access token.
func (i *Issuer) applicationOf(c *Claims) string {
	for _, audience := range c.Audience {
		if c.Type == AssertionType && audience != i.issuer {
			return audience
		}
	}
	return ""
}

// verified returns the claims of a token that was checked.
func (c *claims) verified() *Claims {
	v := &Claims{
		Type: c.typ, Subject: c.Subject, ID: c.ID, ClientID: c.ClientID, Session: c.Session,
		Audience: c.Audience, Scope: strings.Fields(c.Scope), Nonce: c.Nonce,
		IssuedAt: time.Unix(c.IssuedAt, 0).UTC(), Expires: time.Unix(c.Expires, 0).UTC(),
		UserType: c.UserType, OUID: c.OUID, Generation: c.Generation, AMR: c.AMR, ACR: c.ACR,
		AuthRequest: c.AuthRequest,
	}
	if c.AuthTime != 0 {
		v.AuthTime = time.Unix(c.AuthTime, 0).UTC()
	}
	return v
}

// open returns the claims of a token after verifying its signature.
func (i *Issuer) open(ctx context.Context, raw string) (*claims, error) {
	if len(raw) > maxTokenSize {
		return nil, errInvalid("The token has %d bytes, expected at most %d.", len(raw), maxTokenSize)
	}
	// The decoder below ignores line ends.
	if strings.ContainsAny(raw, "\r\n") {
		return nil, errInvalid("The token contains a line end.")
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
	c := &claims{}
	if err := token.Claims(key.private.Public(), c); err != nil {
		return nil, errInvalid("The token's signature or claims are not valid.")
	}
	c.typ = key.typ
	return c, nil
}

// check validates the claims of a token with a valid signature, except its audience.
func (i *Issuer) check(c *claims) error {
	now := i.now()
	switch {
	case c.typ == idType:
		return errInvalid("An ID token identifies the user to the client and gives no access. Send the access token.")
	case c.Issuer != i.issuer:
		return errInvalid("The token is from another issuer, expected %s.", i.issuer)
	case c.Subject == "" || len(c.Audience) == 0 || c.Expires == 0 || c.IssuedAt == 0:
		return errInvalid("The token lacks sub, aud, exp or iat.")
	case c.ID == "" || (c.typ == AccessType) != (c.ClientID != ""):
		return errInvalid("The token lacks jti, or its client_id does not match its type.")
	case !now.Before(time.Unix(c.Expires, 0)):
		return errInvalid("The token has expired. Sign in again.")
	case now.Add(leeway).Before(time.Unix(c.NotBefore, 0)):
		return errInvalid("The token is not valid yet.")
	case now.Add(leeway).Before(time.Unix(c.IssuedAt, 0)):
		return errInvalid("The token was issued in the future: the clocks of the servers differ.")
	}
	return nil
}

func errInvalid(format string, args ...any) error {
	return schemas.Errorf(schemas.Unauthenticated, "invalid_token", format, args...)
}
