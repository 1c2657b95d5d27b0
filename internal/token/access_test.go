package token

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/schemas"
)

func newAccess() Claims {
	return Claims{
		Subject: "0198c0de-0000-7000-8000-000000000002", ClientID: "console", Audience: []string{app, base},
		Scope: []string{"openid", "system"}, Session: "0198c0de-0000-7000-8000-000000000003",
		AuthTime: noon().Add(-time.Minute), ACR: "phr", AMR: []string{"swk", "user"},
	}
}

// issueAccess issues an access token.
func issueAccess(t testing.TB, i *Issuer, c Claims) string {
	t.Helper()
	raw, err := i.Access(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestAccess(t *testing.T) {
	keys := &ring{}
	i := newIssuer(t, keys)
	raw := issueAccess(t, i, newAccess())
	head, claims := decode(t, raw)
	if want := map[string]any{"alg": "ES256", "typ": "at+jwt", "kid": keys.keys[0].ID}; !reflect.DeepEqual(head, want) {
		t.Errorf("the header is %v, expected %v", head, want)
	}
	id, _ := claims["jti"].(string)
	delete(claims, "jti")
	want := map[string]any{
		"iss": base, "sub": newAccess().Subject, "aud": []any{app, base}, "client_id": "console", "iat": float64(noon().Unix()),
		"exp": float64(noon().Add(time.Hour).Unix()), "scope": "openid system", "sid": newAccess().Session,
		"auth_time": float64(noon().Add(-time.Minute).Unix()), "amr": []any{"swk", "user"}, "acr": "phr",
	}
	if id == "" || !reflect.DeepEqual(claims, want) {
		t.Errorf("the claims are %v with jti %q, expected %v", claims, id, want)
	}
	got, err := i.Verify(t.Context(), raw, base)
	if err != nil {
		t.Fatal(err)
	}
	expected := &Claims{
		Type: AccessType, Subject: newAccess().Subject, ID: id, ClientID: "console", Session: newAccess().Session,
		Audience: []string{app, base}, Scope: []string{"openid", "system"},
		IssuedAt: noon().Truncate(time.Second), Expires: noon().Truncate(time.Second).Add(time.Hour),
		AuthTime: noon().Truncate(time.Second).Add(-time.Minute), AMR: []string{"swk", "user"}, ACR: "phr",
	}
	if !reflect.DeepEqual(got, expected) {
		t.Errorf("verifying gives %+v, expected %+v", got, expected)
	}
}

// A client's own token has no claims about a sign-in.
func TestAccessOfAClient(t *testing.T) {
	i := newIssuer(t, &ring{})
	raw := issueAccess(t, i, Claims{Subject: "m2m", ClientID: "m2m", Audience: []string{base}, Validity: time.Second})
	_, claims := decode(t, raw)
	delete(claims, "jti")
	want := map[string]any{"iss": base, "sub": "m2m", "aud": base, "client_id": "m2m", "iat": float64(noon().Unix()), "exp": float64(noon().Unix() + 1)}
	if !reflect.DeepEqual(claims, want) {
		t.Errorf("the claims are %v, expected %v", claims, want)
	}
}

func TestAccessRefuses(t *testing.T) {
	i := newIssuer(t, &ring{})
	for name, spoil := range map[string]func(*Claims){
		"no subject":         func(a *Claims) { a.Subject = "" },
		"no client":          func(a *Claims) { a.ClientID = "" },
		"no audience":        func(a *Claims) { a.Audience = nil },
		"a scope of two":     func(a *Claims) { a.Scope = []string{"audit system"} },
		"an empty scope":     func(a *Claims) { a.Scope = []string{""} },
		"a scope in unicode": func(a *Claims) { a.Scope = []string{"systèm"} },
	} {
		a := newAccess()
		spoil(&a)
		if raw, err := i.Access(t.Context(), a); err == nil {
			t.Errorf("%s: issued %s", name, raw)
		}
	}
	if _, err := (&Issuer{}).Access(t.Context(), newAccess()); err == nil {
		t.Error("an issuer without a key issues")
	}
}

// TestJWKS verifies a token with nothing but the published keys, and checks that they
// contain no private part.
func TestJWKS(t *testing.T) {
	keys := &ring{}
	newIssuer(t, keys)
	keys.keys[0].Status = schemas.KeyRetired
	i := newIssuer(t, keys)
	var set jose.JSONWebKeySet
	datatest.Unmarshal(t, i.JWKS(), &set)
	if len(set.Keys) != 2 || bytes.Contains(i.JWKS(), []byte(`"d"`)) {
		t.Fatalf("published %s, expected both public keys", i.JWKS())
	}
	for _, k := range set.Keys {
		if _, public := k.Key.(*ecdsa.PublicKey); !public || k.Use != "sig" || k.Algorithm != "ES256" || !k.Valid() {
			t.Errorf("published %+v", k)
		}
	}
	raw := issueAccess(t, i, newAccess())
	parsed, err := jwt.ParseSigned(raw, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		t.Fatal(err)
	}
	found := set.Key(parsed.Headers[0].KeyID)
	var claims jwt.Claims
	if len(found) != 1 || parsed.Claims(found[0], &claims) != nil || claims.Subject != newAccess().Subject {
		t.Errorf("the key %q verifies nothing: %+v", parsed.Headers[0].KeyID, claims)
	}
}

func TestLifetimes(t *testing.T) {
	i := newIssuerWith(t, &ring{}, Options{AccessTTL: time.Minute, Now: noon})
	raw := issueAccess(t, i, newAccess())
	c, err := i.Verify(t.Context(), raw, base)
	if err != nil || c.Expires.Sub(c.IssuedAt) != time.Minute || i.AccessTTL() != time.Minute || i.AssertionTTL() != time.Hour {
		t.Errorf("%+v, %v", c, err)
	}
}

var errLookup = errors.New("the store is away")

func codeOf(err error) string {
	if err == nil {
		return ""
	}
	return schemas.AsError(err).Code
}

// A revoked token is rejected. If revocation cannot be looked up, the error does not call
// the token invalid.
func TestLive(t *testing.T) {
	for _, test := range []struct {
		live bool
		err  error
		code string
	}{{true, nil, ""}, {false, nil, "invalid_token"}, {false, errLookup, "internal_error"}} {
		var asked schemas.TokenRef
		i := newIssuerWith(t, &ring{}, Options{Now: noon, Live: func(_ context.Context, r schemas.TokenRef, _ string, scope []string) (bool, []string, error) {
			asked = r
			return test.live, scope, test.err
		}})
		raw := issueAccess(t, i, newAccess())
		_, err := i.Verify(t.Context(), raw, base)
		if code := codeOf(err); code != test.code {
			t.Errorf("live %v, %v: %v, expected %q", test.live, test.err, err, test.code)
		}
		if asked.Session != newAccess().Session || asked.Client != "console" || asked.ID == "" {
			t.Errorf("asked about %+v", asked)
		}
	}
}
