package token

import (
	"context"
	"crypto/sha256"
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
		return nil, errInvalid("The token has the wrong audience; this endpoint expects %s. Request the token with resource=%s.", audience, audience)
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
	return v, i.admit(ctx, v)
}

// admit rejects a revoked token. It removes the permissions that the subject no longer has: a
// former administrator would otherwise keep them until the token expires.
func (i *Issuer) admit(ctx context.Context, c *Claims) error {
	if i.live == nil {
		return nil
	}
	live, scope, err := i.live(ctx, c.Ref(), c.Subject, c.Scope)
	if err != nil {
		return fmt.Errorf("token: looking up its revocation and the permissions of its subject: %w", err)
	}
	if !live {
		return errInvalid("The token was revoked, its session has ended, or its application was deleted. Sign in again.")
	}
	c.Scope = scope
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
	keys, key, err := i.keyForHeader(ctx, header)
	if err != nil {
		return nil, err
	}
	hash := sha256.Sum256([]byte(raw))
	if c := keys.opened.find(hash); c != nil {
		return c, nil
	}
	token, err := jwt.ParseSigned(raw, []jose.SignatureAlgorithm{jose.SignatureAlgorithm(key.algorithm)})
	if err != nil {
		return nil, errInvalid("The token is not a signed JWT.")
	}
	c := &claims{}
	if err := token.Claims(key.private.Public(), c); err != nil {
		return nil, errInvalid("The token's signature or claims are not valid.")
	}
	c.Type = key.typ
	keys.opened.add(hash, *c)
	return c, nil
}

// check validates the claims of a token with a valid signature, except its audience.
func (i *Issuer) check(c *claims) error {
	now := i.now()
	switch {
	case c.Type == idType:
		return errInvalid("An ID token identifies the user to the client and gives no access. Send the access token.")
	case c.Issuer != i.issuer:
		return errInvalid("The token is from another issuer, expected %s.", i.issuer)
	case c.Subject == "" || len(c.Audience) == 0 || c.Expires == 0 || c.IssuedAt == 0:
		return errInvalid("The token lacks sub, aud, exp or iat.")
	case c.ID == "" || (c.Type == AccessType) != (c.ClientID != ""):
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

// VerifyIDToken verifies an ID token of this issuer that a client returns as id_token_hint
// (OpenID Connect Core §3.1.2.1). It may have expired: it identifies who once signed in and
// proves nothing about the present. Any other fault is the error invalid_token.
func (i *Issuer) VerifyIDToken(ctx context.Context, raw string) (*Claims, error) {
	c, err := i.open(ctx, raw)
	if err != nil {
		return nil, err
	}
	switch {
	case c.Type != idType:
		return nil, errInvalid("Expected an ID token, got a token of the type %s.", c.Type)
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
