package oauth

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/zitadel/oidc/v3/pkg/op"

	"github.com/postern-id/postern/schemas"
)

// Clients that sign
//
// A client that is registered for private_key_jwt sends no secret: it signs a
// statement that it is the client, for this server and for now (RFC 7523 §3, OpenID
// Connect Core §9). What is asked of one:
//
//   - iss and sub are the client id.
//   - aud is this server alone: its issuer, or the URL of its token endpoint, which
//     older clients send. A client can be led to name what another server tells it,
//     so one that is for several is refused: whoever else it is for could send it
//     here (RFC 9700 §4.16 has the attack on several servers).
//   - exp is there, and near: it is remembered so long that it was used.
//   - jti is there, and was not used before by the client.
//   - the algorithm is asymmetric and the registered key's; no header brings or names
//     another key, and none is critical.

// KeyAuthentication is what clients that authenticate by private_key_jwt need.
type KeyAuthentication struct {
	// Use notes that the assertion of a hash is used, until it expires. It reports
	// false if it was used before, on whichever instance.
	Use func(ctx context.Context, hash []byte, expires time.Time) (first bool, err error)
	// Fetch reads what a client publishes at its jwksUri. Nil: nothing is fetched.
	Fetch func(ctx context.Context, uri string) ([]byte, error)
}

const (
	assertionTypeJWT = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
	// assertionJWTType is the typ of an assertion that says what it is. Others say
	// JWT, or nothing.
	assertionJWTType = "client-authentication+jwt"
	longestAssertion = 16 << 10         // bytes
	longestJTI       = 512              // bytes
	assertionTTL     = 10 * time.Minute // at most, from now to exp
	clockSkew        = time.Minute      // that a client's clock may differ by
)

// assertionAlgorithms are those that clients may sign with: asymmetric ones alone.
// With HMAC a public key would be as good as a secret.
func assertionAlgorithms() []string {
	return strings.Fields("ES256 ES384 ES512 PS256 PS384 PS512 RS256 RS384 RS512 EdDSA")
}

// clientAssertion is an assertion of which nothing is verified yet.
type clientAssertion struct {
	token    *jwt.JSONWebToken
	alg, kid string
	client   string // whom it names as its subject
}

// authenticateByKey authenticates a client by its assertion.
func (p *Provider) authenticateByKey(ctx context.Context, sent *op.ClientCredentials) (*client, error) {
	a, err := readAssertion(sent.ClientAssertion)
	if err != nil {
		return nil, err
	}
	if sent.ClientID != "" && sent.ClientID != a.client {
		return nil, errClient(false, "the client_id is not the sub of the client_assertion")
	}
	if err := p.meetAgain(ctx, a.client); err != nil {
		return nil, err
	}
	c, err := p.clientNamed(ctx, a.client)
	if told, worded := err.(*Error); worded {
		return nil, errClient(false, "%s", told.Description)
	}
	if err != nil {
		return nil, err
	}
	if registered := c.oauth.TokenEndpointAuthMethod; registered != schemas.AuthMethodPrivateKeyJWT || p.KeyAuthentication == nil {
		return nil, errClient(false, "the client authenticated by %s, but is registered for %s", schemas.AuthMethodPrivateKeyJWT, registered)
	}
	claims, err := p.verifyAssertion(ctx, c, a)
	if err != nil {
		return nil, err
	}
	return c, p.useAssertion(ctx, c, claims)
}

// readAssertion takes an assertion apart. What its header says beyond the algorithm
// and the name of the key is not obeyed: not a key in it (jwk, x5c), nor where one
// is (jku, x5u).
func readAssertion(raw string) (*clientAssertion, error) {
	if len(raw) > longestAssertion || strings.ContainsAny(raw, "\r\n") {
		return nil, errClient(false, "the client_assertion is longer than %d bytes, or has line ends in it", longestAssertion)
	}
	parsed, err := jwt.ParseSigned(raw, convert[jose.SignatureAlgorithm](assertionAlgorithms()))
	if err != nil || len(parsed.Headers) != 1 {
		return nil, errClient(false, "expected as client_assertion a JWT signed by one of %s", strings.Join(assertionAlgorithms(), ", "))
	}
	if err := checkAssertionHeader(raw); err != nil {
		return nil, err
	}
	var named struct {
		Subject string `json:"sub"`
	}
	if err := parsed.UnsafeClaimsWithoutVerification(&named); err != nil || named.Subject == "" {
		return nil, errClient(false, "expected as sub of the client_assertion the client_id")
	}
	head := parsed.Headers[0]
	return &clientAssertion{token: parsed, alg: head.Algorithm, kid: head.KeyID, client: named.Subject}, nil
}

// checkAssertionHeader refuses what would make the JWT something else than it seems:
// an extension that must be understood, or a type that is for another purpose (RFC
// 8725 §3.11).
func checkAssertionHeader(raw string) error {
	encoded, _, _ := strings.Cut(raw, ".")
	text, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil {
		return errClient(false, "the header of the client_assertion is not base64url")
	}
	var header map[string]json.RawMessage
	if err := json.Unmarshal(text, &header); err != nil {
		return errClient(false, "the header of the client_assertion is not a JSON object")
	}
	for _, name := range []string{"crit", "b64", "zip"} {
		if _, has := header[name]; has {
			return errClient(false, "the header %s of a client_assertion is not supported", name)
		}
	}
	var typ string
	if raw, has := header["typ"]; has && json.Unmarshal(raw, &typ) != nil {
		return errClient(false, "expected as typ of the client_assertion a text")
	}
	if typ != "" && !strings.EqualFold(typ, "JWT") && typ != assertionJWTType {
		return errClient(false, "expected as typ of the client_assertion %s or JWT, got %.100s", assertionJWTType, typ)
	}
	return nil
}

// verifyAssertion returns the claims of an assertion that a key of the client has
// signed, and that is for this server and for now.
func (p *Provider) verifyAssertion(ctx context.Context, c *client, a *clientAssertion) (*jwt.Claims, error) {
	key, err := p.assertionKey(ctx, c, a.alg, a.kid)
	if err != nil {
		return nil, err
	}
	var claims jwt.Claims
	if err := a.token.Claims(key, &claims); err != nil {
		return nil, errClient(false, "the signature of the client_assertion is not by the registered key, or its claims are malformed")
	}
	now, soon := p.Now(), p.Now().Add(clockSkew)
	switch {
	case claims.Issuer != c.GetID() || claims.Subject != c.GetID():
		return nil, errClient(false, "expected as iss and sub of the client_assertion the client_id")
	case len(claims.Audience) != 1 || !slices.Contains([]string{p.Issuer, p.Issuer + TokenPath}, claims.Audience[0]):
		return nil, errClient(false, "expected as aud of the client_assertion %s alone", p.Issuer)
	case claims.Expiry == nil || !now.Add(-clockSkew).Before(claims.Expiry.Time()):
		return nil, errClient(false, "the client_assertion has expired, or has no exp")
	case claims.Expiry.Time().After(soon.Add(assertionTTL)):
		return nil, errClient(false, "expected an exp of the client_assertion within %d seconds", int(assertionTTL.Seconds()))
	case claims.NotBefore != nil && soon.Before(claims.NotBefore.Time()), claims.IssuedAt != nil && soon.Before(claims.IssuedAt.Time()):
		return nil, errClient(false, "the client_assertion is not valid yet: compare the clocks")
	case claims.ID == "" || len(claims.ID) > longestJTI:
		return nil, errClient(false, "expected a jti of the client_assertion, of at most %d bytes", longestJTI)
	}
	return &claims, nil
}

// useAssertion makes sure that an assertion is used once: whoever has seen it on its
// way could else be the client.
func (p *Provider) useAssertion(ctx context.Context, c *client, claims *jwt.Claims) error {
	hash := schemas.HashSecret(c.GetID() + "\x00" + claims.ID)
	first, err := p.KeyAuthentication.Use(ctx, hash, claims.Expiry.Time().Add(clockSkew).UTC())
	if err == nil && !first {
		return errClient(false, "the client_assertion has been used already: sign a new one for each request, with a jti of its own")
	}
	return err
}
