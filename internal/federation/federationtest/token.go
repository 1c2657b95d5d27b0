package federationtest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/postern-id/postern/internal/outbound"
)

const accessToken = "an-access-token"

// issueTokens answers with tokens, with the fault applied.
func (p *Provider) issueTokens(g grant) (*outbound.Response, error) {
	id := p.idToken(g)
	plain := func(status int, body string) *outbound.Response {
		return &outbound.Response{Status: status, Body: []byte(body)}
	}
	if g.fault == "down" {
		return nil, unavailable()
	}
	faulty := map[Fault]*outbound.Response{
		"broken":       plain(http.StatusInternalServerError, "<html>a trace of a stack"),
		"refused-code": refuse("invalid_grant"),
		"moved":        {Status: http.StatusTemporaryRedirect, Header: http.Header{"Location": {"https://evil.example/token"}}},
		"html":         plain(http.StatusOK, "<html><body>Sign in, please</body></html>"),
		"list":         reply([]string{id}),
		"twice":        plain(http.StatusOK, `{"id_token":"`+id+`","id_token":"`+id+`"}`),
		"no-token":     reply(map[string]string{"access_token": accessToken}),
		"number-token": reply(map[string]any{"id_token": 7}),
	}[g.fault]
	if faulty != nil {
		return faulty, nil
	}
	return reply(map[string]any{"access_token": accessToken, "token_type": "Bearer", "expires_in": 60, "id_token": id}), nil
}

// idToken creates and signs the ID token of a sign-in: OpenID Connect Core §2.
func (p *Provider) idToken(g grant) string {
	now := p.Now()
	hash := sha256.Sum256([]byte(accessToken))
	claims := map[string]any{}
	maps.Copy(claims, g.person.Claims)
	maps.Copy(claims, map[string]any{
		"iss": p.Issuer, "aud": p.ClientID, "sub": g.person.Subject, "nonce": g.nonce,
		"exp": now.Add(5 * time.Minute).Unix(), "iat": now.Unix(), "auth_time": now.Unix(),
		"at_hash": base64.RawURLEncoding.EncodeToString(hash[:16]),
	})
	p.applyFault(claims, g.fault)
	text := must(json.Marshal(claims))
	if g.fault == "claim-twice" {
		text = append(text[:len(text)-1], `,"sub":"another user"}`...)
	}
	return p.sign(text, g.fault)
}

// applyFault changes the claims for the fault.
func (p *Provider) applyFault(claims map[string]any, fault Fault) {
	all := Catalog()
	i := slices.IndexFunc(all, func(d Description) bool { return d.Fault == fault })
	if i < 0 || all[i].claim.name == "" {
		return
	}
	spoilt := all[i].claim
	if of, is := spoilt.value.(func(*Provider) any); is {
		spoilt.value = of(p)
	}
	if claims[spoilt.name] = spoilt.value; spoilt.value == nil {
		delete(claims, spoilt.name)
	}
}

// sign signs the claims with the provider's key, with the fault applied.
func (p *Provider) sign(claims []byte, fault Fault) string {
	key, options := jose.SigningKey{Algorithm: jose.ES256, Key: p.key}, (&jose.SignerOptions{}).WithHeader("kid", p.kid())
	switch fault {
	case "none-alg":
		return encode([]byte(`{"alg":"none"}`)) + "." + encode(claims) + "."
	case "encoded":
		return encode(claims)
	case "secret-alg":
		secret := sha256.Sum256([]byte(p.ClientSecret))
		key = jose.SigningKey{Algorithm: jose.HS256, Key: secret[:]}
	case "public-key-alg":
		key = jose.SigningKey{Algorithm: jose.HS256, Key: must(p.key.PublicKey.Bytes())}
	case "wrong-key":
		key.Key = New(p.Issuer, p.Now).key
	case "own-key":
		other := New(p.Issuer, p.Now)
		key.Key, options = other.key, &jose.SignerOptions{EmbedJWK: true}
	case "critical":
		options.WithHeader("crit", []string{"b64"}).WithHeader("b64", true)
	case "other-type":
		options.WithType("at+jwt")
	case "huge-token":
		options.WithHeader("x-long", strings.Repeat("a", 20000))
	}
	text := must(must(must(jose.NewSigner(key, options)).Sign(claims)).CompactSerialize())
	if fault == "wrong-signature" {
		parts := strings.Split(text, ".")
		parts[2] = encode(make([]byte, 64))
		return strings.Join(parts, ".")
	}
	return text
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// must is for values created here, which cannot fail.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
