package oauth

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/postern-id/postern/internal/jwtverify"
	"github.com/postern-id/postern/schemas"
)

// Client assertions
//
// A client registered for private_key_jwt authenticates with a short-lived JWT that it signs for
// this server (RFC 7523 §3, OpenID Connect Core §9). The requirements:
//
//   - iss and sub are the client id.
//   - aud is this server alone: its issuer, or the URL of its token endpoint, which older clients
//     send. An assertion for several servers is rejected, because any of the others could send it
//     here (RFC 9700 §4.16 describes the attack on several servers).
//   - exp is present and near: the use of the assertion is stored until then.
//   - jti is present, and the client has not used it before.
//   - the algorithm is asymmetric and that of the registered key; no header contains or names another
//     key, and none is critical.

const (
	assertionTypeJWT = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
	// assertionJWTType is the explicit typ of an assertion. Others have JWT or none.
	assertionJWTType = "client-authentication+jwt"
	maxJTILength     = 512              // bytes
	assertionTTL     = 10 * time.Minute // maximum time from now to exp
	clockSkew        = time.Minute      // tolerated clock difference
)

// authenticateByKey authenticates a client with its assertion.
func (p *Provider) authenticateByKey(ctx context.Context, sent *credentials) (*client, error) {
	a, id, err := parseAssertion(sent.assertion)
	if err != nil {
		return nil, err
	}
	if sent.id != "" && sent.id != id {
		return nil, errClient(false, "the client_id is not the sub of the client_assertion").refusing("client_id", sent.id)
	}
	if err := p.refreshClient(ctx, id, false); err != nil {
		return nil, asInvalidClient(err)
	}
	c, err := p.findClient(ctx, id)
	if err != nil {
		return nil, asInvalidClient(err)
	}
	if registered := c.oauth.TokenEndpointAuthMethod; registered != schemas.AuthMethodPrivateKeyJWT {
		return nil, errMethod(false, schemas.AuthMethodPrivateKeyJWT, cmp.Or(registered, "a client secret"))
	}
	if registered := c.oauth.TokenEndpointAuthSigningAlg; registered != "" && a.Algorithm != registered {
		return nil, errClient(false, "the client_assertion is signed with %.20s, but the tokenEndpointAuthSigningAlg (token_endpoint_auth_signing_alg) of the client is %s", a.Algorithm, registered).
			refusing("client_assertion alg", a.Algorithm)
	}
	claims, err := p.verifyAssertion(ctx, c, a)
	if err != nil {
		return nil, err
	}
	return c, p.useAssertion(ctx, c, claims)
}

// parseAssertion parses an assertion without verifying it, and returns its subject.
func parseAssertion(raw string) (a *jwtverify.Token, clientID string, err error) {
	a, err = jwtverify.Parse(raw, assertionJWTType)
	if err != nil {
		return nil, "", errClient(false, "the client_assertion is not a valid JWT: %v", err)
	}
	var named struct {
		Subject string `json:"sub"`
	}
	if err := a.Unverified(&named); err != nil || named.Subject == "" {
		return nil, "", errClient(false, "the sub of the client_assertion must be the client_id")
	}
	return a, named.Subject, nil
}

// assertionKey returns the client's key that the assertion names.
func (p *Provider) assertionKey(ctx context.Context, c *client, a *jwtverify.Token) (any, error) {
	if c.oauth.JWKS != nil {
		if key, ok := jwtverify.Pick(c.oauth.JWKS, a); ok {
			return key, nil
		}
	} else if c.oauth.JWKSURI != "" {
		keys := &p.publicKeys
		private, err := p.addresses().mayBePrivate(ctx, c.Application, c.oauth.JWKSURI)
		if err != nil {
			return nil, err
		}
		if private {
			keys = &p.keys
		}
		key, ok, err := keys.Key(ctx, c.oauth.JWKSURI, a, p.Now())
		if err != nil {
			// The reason is only for the audit log: it would reveal which hosts reply in our network.
			e := errClient(false, "the client's keys cannot be read from its jwksUri: expected a JWK Set (RFC 7517 section 5) there")
			if !private && refusesAddress(err) {
				e.reason = privateKeysReason
			}
			return nil, e
		}
		if ok {
			return key, nil
		}
	}
	return nil, errClient(false, "the client has no key with the id %.100s for %.20s", a.KeyID, a.Algorithm).refusing("client_assertion kid", a.KeyID)
}

// verifyAssertion returns the claims of an assertion after checking its signature by a key of
// the client, its audience and its lifetime.
func (p *Provider) verifyAssertion(ctx context.Context, c *client, a *jwtverify.Token) (*jwt.Claims, error) {
	key, err := p.assertionKey(ctx, c, a)
	if err != nil {
		return nil, err
	}
	var claims jwt.Claims
	if err := a.Claims(key, &claims); err != nil {
		return nil, errClient(false, "the client_assertion was not signed with the registered key, or its claims are malformed")
	}
	now, soon := p.Now(), p.Now().Add(clockSkew)
	switch {
	case claims.Issuer != c.ClientID || claims.Subject != c.ClientID:
		return nil, errClient(false, "the iss and sub of the client_assertion must be the client_id").refusing("client_assertion iss", claims.Issuer)
	case len(claims.Audience) != 1 || !slices.Contains([]string{p.Issuer, p.Issuer + TokenPath}, claims.Audience[0]):
		return nil, errClient(false, "the aud of the client_assertion must be %s or %s, and nothing else", p.Issuer, p.Issuer+TokenPath).refusing("client_assertion aud", strings.Join(claims.Audience, " "))
	case claims.Expiry == nil || !now.Add(-clockSkew).Before(claims.Expiry.Time()):
		return nil, errClient(false, "the client_assertion has expired, or has no exp")
	case claims.Expiry.Time().After(soon.Add(assertionTTL)):
		return nil, errClient(false, "the exp of the client_assertion must be within %d seconds", int(assertionTTL.Seconds()))
	case claims.NotBefore != nil && soon.Before(claims.NotBefore.Time()), claims.IssuedAt != nil && soon.Before(claims.IssuedAt.Time()):
		return nil, errClient(false, "the client_assertion is not valid yet: compare the clocks")
	case claims.ID == "" || len(claims.ID) > maxJTILength:
		return nil, errClient(false, "the client_assertion must have a jti of at most %d bytes", maxJTILength)
	}
	return &claims, nil
}

// useAssertion ensures that an assertion is used once: otherwise anyone who has seen it could use
// it.
func (p *Provider) useAssertion(ctx context.Context, c *client, claims *jwt.Claims) error {
	hash := schemas.HashSecret(c.ClientID + "\x00" + claims.ID)
	first, err := p.UseAssertion(ctx, hash, claims.Expiry.Time().Add(clockSkew).UTC())
	if err == nil && !first {
		return errClient(false, "the client_assertion has been used already: sign a new one for each request, with a jti of its own")
	}
	return err
}
