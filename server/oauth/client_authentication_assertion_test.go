package oauth_test

import (
	"crypto"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/postern-id/postern/server/oauth"
)

func TestClientAssertion(t *testing.T) {
	w := newFixture(t)
	s := newTestSigner(w, "signer")
	for name, assertion := range map[string]string{
		"as it should be":                  s.with(nil),
		"for the token endpoint":           s.with(map[string]any{"aud": base + "/oauth2/token"}),
		"for one, in a list":               s.with(map[string]any{"aud": []string{base}}),
		"of the type JWT":                  s.headed(map[string]any{"typ": "JWT"}),
		"of no type":                       s.headed(map[string]any{"typ": nil}),
		"of no kid":                        s.headed(map[string]any{"kid": nil}),
		"without iat":                      s.with(map[string]any{"iat": nil}),
		"of a clock that is a little fast": s.with(map[string]any{"iat": w.now.Add(30 * time.Second).Unix(), "nbf": w.now.Add(30 * time.Second).Unix()}),
		"of ten minutes":                   s.with(map[string]any{"exp": w.now.Add(10 * time.Minute).Unix()}),
		"with claims beyond":               s.with(map[string]any{"custom": map[string]any{"a": 1}}),
		"a link to keys that is passed by": s.headed(map[string]any{"jku": "https://evil.example/keys"}),
	} {
		t.Run(name, func(t *testing.T) {
			w.t, s.t = t, t
			got, _ := w.grant(present(assertion, "&client_id=signer"))
			if got.Scope != "shop:orders" {
				t.Errorf("granted %+v", got)
			}
		})
	}
	if len(w.fetched) > 0 {
		t.Errorf("fetched %v", w.fetched)
	}
	w.t = t
	w.grant(present(s.with(nil))) // it says by itself whose it is
}

// TestClientAssertionAlgorithms has a client for each algorithm that the metadata
// names.
func TestClientAssertionAlgorithms(t *testing.T) {
	w := newFixture(t)
	small := must(rsa.GenerateKey(rand.Reader, 2048))
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for alg, key := range map[jose.SignatureAlgorithm]crypto.Signer{
		jose.ES256: newKey(t, elliptic.P256()), jose.ES384: newKey(t, elliptic.P384()), jose.ES512: newKey(t, elliptic.P521()), jose.EdDSA: edwards,
		jose.RS256: small, jose.RS384: small, jose.RS512: small, jose.PS256: small, jose.PS384: small, jose.PS512: small,
	} {
		s := newTestSigner(w, "client-"+string(alg))
		w.list[s.id].OAuth().JWKS = keySet(t, jose.JSONWebKey{Key: key.Public(), KeyID: "k", Algorithm: string(alg)})
		w.grant(present(s.signed(alg, key, "k")))
		if alg == jose.RS256 { // the key is for one of them
			reported := w.refusal(present(s.signed(jose.PS256, key, "k")))
			if reported.Code != "invalid_client" {
				t.Errorf("got %v", reported)
			}
		}
	}
}

// TestClientAssertionIsUsedOnce also has its signature in the other form that is as
// good: (r, -s).
func TestClientAssertionIsUsedOnce(t *testing.T) {
	w := newFixture(t)
	s := newTestSigner(w, "signer")
	assertion := s.with(nil)
	w.grant(present(assertion))
	for _, again := range []string{assertion, mirrored(assertion)} {
		if reported := w.refusal(present(again)); reported.Code != "invalid_client" || !strings.Contains(reported.Description, "used already") {
			t.Errorf("got %v", reported)
		}
	}
	other := newTestSigner(w, "other")
	w.grant(present(other.with(map[string]any{"jti": fmt.Sprint("signer", s.made)}))) // another client's is another
	w.full = fmt.Errorf("the store is gone")
	if err := w.provider.Token(httptest.NewRecorder(), present(s.with(nil))); err == nil {
		t.Error("accepted an assertion although its use could not be checked")
	}
}

// TestPublishedKeys has a client that publishes its keys, and changes them.
func TestPublishedKeys(t *testing.T) {
	const uri = "https://client.example/keys"
	w := newFixture(t)
	s := newTestSigner(w, "signer")
	publish := func(keys ...jose.JSONWebKey) {
		w.published[uri] = string(must(json.Marshal(jose.JSONWebKeySet{Keys: keys})))
	}
	w.list[s.id].OAuth().JWKS, w.list[s.id].OAuth().JWKSURI = nil, uri
	refused := func(says string) {
		t.Helper()
		if reported := w.refusal(present(s.with(nil))); reported.Code != "invalid_client" || !strings.Contains(reported.Description, says) || strings.Contains(reported.Description, "10.0.0.1") {
			t.Errorf("got %v", reported)
		}
	}
	fetches := func(want int) {
		t.Helper()
		if w.fetched[uri] != want {
			t.Errorf("fetched %d times, want %d", w.fetched[uri], want)
		}
	}
	refused("cannot be read")
	refused("has no key") // not tried again so soon
	fetches(1)
	w.now = w.now.Add(3 * time.Minute)
	publish(jose.JSONWebKey{Key: &s.key.PublicKey, KeyID: s.kid}, jose.JSONWebKey{Key: &newKey(t, elliptic.P256()).PublicKey, KeyID: "e", Use: "enc"})
	for range 3 {
		w.grant(present(s.with(nil)))
	}
	fetches(2)
	s.key, s.kid = newKey(t, elliptic.P256()), "next"
	publish(jose.JSONWebKey{Key: &s.key.PublicKey, KeyID: s.kid})
	w.grant(present(s.with(nil)))
	fetches(3)
	s.kid = "no such key"
	for range 20 {
		refused("has no key")
	}
	fetches(4)
	w.now = w.now.Add(time.Minute)
	s.kid = "next"
	w.grant(present(s.with(nil)))
	fetches(4)
	publish(jose.JSONWebKey{Key: s.key, KeyID: s.kid}) // the private half is published
	w.grant(present(s.with(nil)))
	w.now = w.now.Add(10 * time.Minute)
	refused("has no key")
	w.published[uri] = "<html>"
	w.now = w.now.Add(time.Minute)
	refused("cannot be read")
}

// TestAssertionsForOtherRequests has a client with a key at introspection and revocation.
func TestAssertionsForOtherRequests(t *testing.T) {
	a := newSignIns(t)
	s := newTestSigner(a.fixture, "signer")
	own := a.accessOf("conf", "signer") // meant for it
	ask := func(h func(http.ResponseWriter, *http.Request) error, assertion string) (string, error) {
		rec := httptest.NewRecorder()
		body := url.Values{"token": {own}, "client_assertion": {assertion}, "client_assertion_type": {assertionType}}
		err := h(rec, request(body.Encode()))
		return rec.Body.String(), err
	}
	assertion := s.with(nil)
	if text, err := ask(a.provider.Introspect, assertion); err != nil || !strings.HasPrefix(text, `{"active":true`) {
		t.Errorf("%s, %v", text, err)
	}
	_, err := ask(a.provider.Introspect, assertion)
	wantRefused(t, err, "invalid_client")
	_, err = ask(a.provider.Revoke, assertion)
	wantRefused(t, err, "invalid_client")
	_, err = ask(a.provider.Revoke, s.with(nil))
	wantRefused(t, err, "invalid_grant") // it authenticated, and the token is another client's
	_, err = ask(a.provider.Revoke, s.headed(map[string]any{"alg": "none"}))
	wantRefused(t, err, "invalid_client")
}

func TestKeyMetadata(t *testing.T) {
	a := newSignIns(t)
	rec := httptest.NewRecorder()
	a.must(a.provider.Server(rec, httptest.NewRequest("GET", oauth.OpenIDPath, nil)))
	var reported map[string]any
	a.must(json.Unmarshal(rec.Body.Bytes(), &reported))
	for _, endpoint := range []string{"token", "introspection", "revocation"} {
		if !strings.Contains(fmt.Sprint(reported[endpoint+"_endpoint_auth_methods_supported"]), "private_key_jwt") ||
			fmt.Sprint(reported[endpoint+"_endpoint_auth_signing_alg_values_supported"]) != "[ES256 ES384 ES512 PS256 PS384 PS512 RS256 RS384 RS512 EdDSA Ed25519]" {
			t.Errorf("%s: %v, %v", endpoint, reported[endpoint+"_endpoint_auth_methods_supported"], reported[endpoint+"_endpoint_auth_signing_alg_values_supported"])
		}
	}
}
