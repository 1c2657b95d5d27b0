package token

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"maps"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/schemas"
)

func newID() Claims {
	return Claims{
		Subject: "0198c0de-0000-7000-8000-000000000002", ClientID: "console", Nonce: "n-0S6_WzA2Mj", Session: "0198c0de-0000-7000-8000-000000000003",
		AuthTime: noon().Add(-time.Minute), ACR: "phr", AMR: []string{"swk", "user"},
		Profile: map[string]any{"email": "ann@example.com", "address": map[string]any{"country": "NO"}},
	}
}

func idToken(t testing.TB, i *Issuer, change func(*Claims)) string {
	t.Helper()
	id := newID()
	if change != nil {
		change(&id)
	}
	raw, err := i.IDToken(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// TestIDToken verifies ID tokens as a relying party that has nothing but the published
// keys.
func TestIDToken(t *testing.T) {
	i := newIssuer(t, &ring{})
	for _, algorithm := range []string{"", RS256, ES256} {
		raw := idToken(t, i, func(id *Claims) { id.Algorithm = algorithm })
		var set jose.JSONWebKeySet
		datatest.Unmarshal(t, i.JWKS(), &set)
		expected := jose.RS256
		if algorithm == ES256 {
			expected = jose.ES256
		}
		parsed, err := jwt.ParseSigned(raw, []jose.SignatureAlgorithm{expected})
		if err != nil {
			t.Fatalf("%q: %v", algorithm, err)
		}
		var claims map[string]any
		if err := parsed.Claims(set, &claims); err != nil {
			t.Fatalf("%q: %v", algorithm, err)
		}
		want := map[string]any{
			"iss": base, "sub": newID().Subject, "aud": "console", "iat": float64(noon().Unix()), "exp": float64(noon().Add(time.Hour).Unix()),
			"auth_time": float64(noon().Add(-time.Minute).Unix()), "nonce": "n-0S6_WzA2Mj", "acr": "phr", "amr": []any{"swk", "user"},
			"sid": newID().Session, "email": "ann@example.com", "address": map[string]any{"country": "NO"},
		}
		if !reflect.DeepEqual(claims, want) {
			t.Errorf("%q: the claims are %v, expected %v", algorithm, claims, want)
		}
	}
}

// Unknown claims are left out.
func TestIDTokenOfLittle(t *testing.T) {
	i := newIssuer(t, &ring{})
	raw, err := i.IDToken(t.Context(), Claims{Subject: "ann", ClientID: "console", Validity: time.Second, Algorithm: ES256})
	if err != nil {
		t.Fatal(err)
	}
	head, claims := decode(t, raw)
	want := map[string]any{"iss": base, "sub": "ann", "aud": "console", "iat": float64(noon().Unix()), "exp": float64(noon().Unix() + 1)}
	if !reflect.DeepEqual(claims, want) {
		t.Errorf("the claims are %v, expected %v", claims, want)
	}
	if want := map[string]any{"alg": "ES256", "kid": i.set().signing[ES256].id}; !reflect.DeepEqual(head, want) {
		t.Errorf("the header is %v, expected %v", head, want)
	}
}

// TestHalfHash has the examples of OpenID Connect Core, Appendix A.3 and A.4.
func TestHalfHash(t *testing.T) {
	raw := idToken(t, newIssuer(t, &ring{}), func(id *Claims) {
		id.Algorithm = ES256
		id.AccessToken, id.Code = "jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y", "Qcb0Orv1zh30vL1MPRsbm-diHiMwcLyZvn1arpZv-Jxf_11jnpEX3Tgfvk"
	})
	_, claims := decode(t, raw)
	if claims["at_hash"] != "77QmUPtjPfzWtF2AnpK9RQ" || claims["c_hash"] != "LDktKdoQak3Pk0cnXxCltA" {
		t.Errorf("at_hash is %v, c_hash %v", claims["at_hash"], claims["c_hash"])
	}
}

// A user's attributes never override the issuer's claims, whether the token has the claim
// or not.
func TestIDTokenProfileOverridesNothing(t *testing.T) {
	i := newIssuer(t, &ring{})
	raw := idToken(t, i, func(id *Claims) {
		id.Algorithm, id.Session, id.Nonce, id.ACR = ES256, "", "", ""
		id.Profile = map[string]any{"given_name": "Ann"}
		for _, name := range []string{"iss", "sub", "aud", "exp", "iat", "nbf", "jti", "nonce", "sid", "azp", "acr", "amr", "auth_time",
			"at_hash", "c_hash", "s_hash", "SUB", "Nonce", "\u017fid", "roles", "client_id", "cnf"} {
			id.Profile[name] = "forged"
		}
	})
	_, claims := decode(t, raw)
	for name, value := range claims {
		if value == "forged" {
			t.Errorf("the profile says %s", name)
		}
	}
	if claims["given_name"] != "Ann" || claims["sub"] != newID().Subject {
		t.Errorf("the claims are %v", claims)
	}
}

func TestIDTokenRefuses(t *testing.T) {
	i := newIssuer(t, &ring{})
	for name, spoil := range map[string]func(*Claims){
		"no subject":       func(id *Claims) { id.Subject = "" },
		"no client":        func(id *Claims) { id.ClientID = "" },
		"no algorithm":     func(id *Claims) { id.Algorithm = "none" },
		"a shared secret":  func(id *Claims) { id.Algorithm = "HS256" },
		"what has no JSON": func(id *Claims) { id.Profile = map[string]any{"f": func() {}} },
	} {
		id := newID()
		id.Algorithm = ES256
		spoil(&id)
		if raw, err := i.IDToken(t.Context(), id); err == nil {
			t.Errorf("%s: issued %s", name, raw)
		}
	}
	if _, err := (&Issuer{}).IDToken(t.Context(), newID()); err == nil {
		t.Error("an issuer without a key issues")
	}
}

// An expired ID token is still valid as a hint.
func TestVerifyIDToken(t *testing.T) {
	for _, algorithm := range []string{RS256, ES256} {
		keys, now := &ring{}, noon()
		i := newIssuerWith(t, keys, Options{Now: func() time.Time { return now }})
		raw := idToken(t, i, func(id *Claims) { id.Algorithm = algorithm })
		now = noon().Add(1000 * time.Hour)
		got, err := i.VerifyIDToken(t.Context(), raw)
		if err != nil {
			t.Fatalf("%s: %v", algorithm, err)
		}
		at := noon().Truncate(time.Second)
		want := &Claims{Subject: newID().Subject, ClientID: "console", Audience: []string{"console"}, Scope: []string{}, Session: newID().Session, Nonce: newID().Nonce,
			IssuedAt: at, Expires: at.Add(time.Hour), AuthTime: at.Add(-time.Minute), ACR: "phr", AMR: []string{"swk", "user"}}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: verifying gives %+v, expected %+v", algorithm, got, want)
		}
	}
}

// An ID token is not accepted as an access token, although its audience may match and many
// parties may hold it. No other token is accepted as a hint.
func TestIDTokensAreNoAccessTokens(t *testing.T) {
	i := newIssuer(t, &ring{})
	for _, algorithm := range []string{RS256, ES256} {
		raw := idToken(t, i, func(id *Claims) { id.Algorithm, id.ClientID = algorithm, base })
		if claims, err := i.Verify(t.Context(), raw, base); codeOf(err) != "invalid_token" {
			t.Errorf("%s: the API is open to an ID token: %+v, %v", algorithm, claims, err)
		}
	}
	access := issueAccess(t, i, newAccess())
	assertion := issueAssertion(t, i, newAssertion())
	for _, raw := range []string{access, assertion} {
		if _, err := i.VerifyIDToken(t.Context(), raw); codeOf(err) != "invalid_token" {
			t.Errorf("taken for an ID token: %v", err)
		}
	}
}

// idForge makes ID tokens with the issuer's own keys, and forged ones.
type idForge struct {
	t      testing.TB
	i      *Issuer
	es, rs *signer
	large  *rsa.PrivateKey
}

func newIDForge(t testing.TB) *idForge {
	i := newIssuer(t, &ring{})
	idToken(t, i, nil) // creates the key for RS256
	set := i.set()
	return &idForge{t: t, i: i, es: set.signing[ES256], rs: set.signing[RS256], large: set.signing[RS256].private.(*rsa.PrivateKey)}
}

// with returns an ID token with changed claims and the header, signed by a key.
func (f *idForge) with(s *signer, head map[string]any, change map[string]any) string {
	_, claims := decode(f.t, idToken(f.t, f.i, nil))
	maps.Copy(claims, change)
	maps.DeleteFunc(claims, func(_ string, v any) bool { return v == nil })
	header, err := json.Marshal(head)
	if err != nil {
		f.t.Fatal(err)
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		f.t.Fatal(err)
	}
	forged := &signer{private: s.private, headers: map[string]string{"any": base64.RawURLEncoding.EncodeToString(header)}}
	raw, err := forged.sign("any", payload)
	if err != nil {
		f.t.Fatal(err)
	}
	return raw
}

func named(algorithm, kid string) map[string]any { return map[string]any{"alg": algorithm, "kid": kid} }

// secrets are the ways to use a public key as a shared secret.
func (f *idForge) secrets() map[string][]byte {
	der, err := x509.MarshalPKIXPublicKey(&f.large.PublicKey)
	if err != nil {
		f.t.Fatal(err)
	}
	var set jose.JSONWebKeySet
	if err := json.Unmarshal(f.i.JWKS(), &set); err != nil {
		f.t.Fatal(err)
	}
	jwk, err := json.Marshal(set.Key(f.rs.id)[0])
	if err != nil {
		f.t.Fatal(err)
	}
	return map[string][]byte{
		"DER": der, "PEM": pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), "JWK": jwk, "modulus": f.large.N.Bytes(),
		"PKCS1": x509.MarshalPKCS1PublicKey(&f.large.PublicKey),
	}
}

func TestHostileIDTokens(t *testing.T) {
	f := newIDForge(t)
	es, rs := f.es.id, f.rs.id
	mine, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*signer{f.es, f.rs} {
		if _, err := f.i.VerifyIDToken(t.Context(), f.with(s, named(s.algorithm, s.id), nil)); err != nil {
			t.Fatalf("the forge makes nothing valid: %v", err)
		}
	}
	hostile := map[string]string{
		"RS256 named, signed by the ES256 key":        f.with(f.es, named("RS256", rs), nil),
		"ES256 named, signed by the RS256 key":        f.with(f.rs, named("ES256", es), nil),
		"ES256 by the key of RS256":                   f.with(f.es, named("ES256", rs), nil),
		"RS256 by the key of ES256":                   f.with(f.rs, named("RS256", es), nil),
		"ES256 over the header of RS256":              f.with(f.rs, named("ES256", rs), nil),
		"RS256 over the header of ES256":              f.with(f.es, named("RS256", es), nil),
		"PS256 named":                                 f.with(f.rs, named("PS256", rs), nil),
		"RS512 named":                                 f.with(f.rs, named("RS512", rs), nil),
		"no algorithm":                                f.with(f.rs, named("none", rs), nil),
		"another key under our kid":                   f.with(&signer{private: mine}, named("ES256", es), nil),
		"an unknown kid":                              f.with(f.rs, named("RS256", schemas.NewID()), nil),
		"no kid":                                      f.with(f.rs, map[string]any{"alg": "RS256"}, nil),
		"the type of an access token":                 f.with(f.rs, map[string]any{"alg": "RS256", "kid": rs, "typ": AccessType}, nil),
		"the type of an assertion":                    f.with(f.es, map[string]any{"alg": "ES256", "kid": es, "typ": AssertionType}, nil),
		"RS256 with the type of an assertion":         f.with(f.rs, map[string]any{"alg": "RS256", "kid": rs, "typ": AssertionType}, nil),
		"another issuer":                              f.with(f.rs, named("RS256", rs), map[string]any{"iss": base + "/"}),
		"no issuer":                                   f.with(f.rs, named("RS256", rs), map[string]any{"iss": nil}),
		"no subject":                                  f.with(f.rs, named("RS256", rs), map[string]any{"sub": nil}),
		"no audience":                                 f.with(f.rs, named("RS256", rs), map[string]any{"aud": nil}),
		"an empty audience":                           f.with(f.rs, named("RS256", rs), map[string]any{"aud": ""}),
		"two audiences":                               f.with(f.rs, named("RS256", rs), map[string]any{"aud": []string{"console", "other"}}),
		"no expiry":                                   f.with(f.rs, named("RS256", rs), map[string]any{"exp": nil}),
		"no time of issue":                            f.with(f.rs, named("RS256", rs), map[string]any{"iat": nil}),
		"issued in the future":                        f.with(f.rs, named("RS256", rs), map[string]any{"iat": noon().Add(2 * time.Minute).Unix()}),
		"empty":                                       "",
		"its signature cut off":                       cutSignature(idToken(t, f.i, nil)),
		"the signature of another ID token, as is":    crossed(idToken(t, f.i, nil), idToken(t, f.i, func(id *Claims) { id.Subject = "admin" })),
		"longer than any":                             idToken(t, f.i, func(id *Claims) { id.Profile["filler"] = strings.Repeat("x", maxTokenSize) }),
		"a line end inside, which decoders pass over": idToken(t, f.i, nil) + "\n",
	}
	for name, secret := range f.secrets() {
		forger := &forge{t: t, i: f.i, valid: idToken(t, f.i, nil)}
		hostile["HS256 with the public key as "+name] = forger.confused(named("HS256", rs), secret)
		hostile["RS256 named, HMAC with the public key as "+name] = forger.confused(named("RS256", rs), secret)
	}
	for name, raw := range hostile {
		t.Run(name, func(t *testing.T) {
			claims, err := f.i.VerifyIDToken(t.Context(), raw)
			if err == nil {
				t.Fatalf("accepted, with the claims %+v", claims)
			}
			if e := schemas.AsError(err); e.Code != "invalid_token" || e.Class != schemas.Unauthenticated {
				t.Errorf("refused with %v, expected invalid_token", err)
			}
		})
	}
}

func cutSignature(raw string) string { return raw[:strings.LastIndexByte(raw, '.')+1] }

// crossed returns one token with the signature of another.
func crossed(raw, other string) string {
	return cutSignature(raw) + other[strings.LastIndexByte(other, '.')+1:]
}

// A key stored for an algorithm that it does not fit is not used: write access to the store
// must not turn one kind of key into another.
func TestKeyOfTheWrongAlgorithm(t *testing.T) {
	keys := &ring{}
	idToken(t, newIssuer(t, keys), nil)
	for n, wrong := range map[int]string{0: RS256, 1: ES256} {
		changed := &ring{keys: []schemas.SigningKey{keys.keys[n]}}
		changed.keys[0].Algorithm = wrong
		if _, err := New(t.Context(), changed, kek(), Options{Issuer: base}); err == nil || !strings.Contains(err.Error(), "is stored for "+wrong) {
			t.Errorf("a key of another algorithm is used for %s: %v", wrong, err)
		}
	}
}
