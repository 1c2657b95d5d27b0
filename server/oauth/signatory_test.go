package oauth_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/schemas"
)

const assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

// testSigner is a client with keys of its own, in the world of a test.
type testSigner struct {
	*fixture
	id  string
	key *ecdsa.PrivateKey
	kid string
	// made counts the assertions: each has another jti.
	made int
}

// newTestSigner registers a client with an ES256 key.
func newTestSigner(w *fixture, id string) *testSigner {
	w.t.Helper()
	s := &testSigner{fixture: w, id: id, key: newKey(w.t, elliptic.P256()), kid: "first"}
	app := client(id, schemas.AuthMethodPrivateKeyJWT, "shop:orders")
	app.OAuth().SecretHash = nil
	app.OAuth().JWKS = keySet(w.t, jose.JSONWebKey{Key: &s.key.PublicKey, KeyID: s.kid})
	w.list[id] = app
	return s
}

func newKey(t testing.TB, curve elliptic.Curve) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func keySet(t testing.TB, keys ...jose.JSONWebKey) *schemas.JSONWebKeys {
	t.Helper()
	text := datatest.Marshal(t, jose.JSONWebKeySet{Keys: keys})
	var set schemas.JSONWebKeys
	datatest.Unmarshal(t, text, &set)
	return &set
}

// changed are members with others in their place; nil takes one away.
func changed(members, change map[string]any) map[string]any {
	members = maps.Clone(members)
	maps.Copy(members, change)
	maps.DeleteFunc(members, func(_ string, v any) bool { return v == nil })
	return members
}

func (s *testSigner) claims(change map[string]any) map[string]any {
	s.made++
	return changed(map[string]any{"iss": s.id, "sub": s.id, "aud": base, "exp": s.now.Add(time.Minute).Unix(), "iat": s.now.Unix(),
		"jti": fmt.Sprint(s.id, s.made)}, change)
}

func (s *testSigner) header(change map[string]any) map[string]any {
	return changed(map[string]any{"alg": "ES256", "kid": s.kid, "typ": "client-authentication+jwt"}, change)
}

func encode(v any) string {
	text, ok := v.(string)
	if !ok {
		raw, err := json.Marshal(v)
		if err != nil {
			panic(err) // maps of texts and numbers
		}
		text = string(raw)
	}
	return base64.RawURLEncoding.EncodeToString([]byte(text))
}

// join signs any header and any claims: JSON texts, or what becomes one.
func (s *testSigner) join(header, claims any) string {
	input := encode(header) + "." + encode(claims)
	return input + "." + base64.RawURLEncoding.EncodeToString(signES256(s.t, s.key, input))
}

// signES256 signs as RFC 7518 §3.4 has it: both numbers, each in 32 bytes.
func signES256(t testing.TB, key *ecdsa.PrivateKey, input string) []byte {
	t.Helper()
	sum := sha256.Sum256([]byte(input))
	r, s, err := ecdsa.Sign(rand.Reader, key, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	size := (key.Params().BitSize + 7) / 8
	return append(r.FillBytes(make([]byte, size)), s.FillBytes(make([]byte, size))...)
}

// with is an assertion with changed claims, headed one with a changed header.
func (s *testSigner) with(change map[string]any) string {
	return s.join(s.header(nil), s.claims(change))
}
func (s *testSigner) headed(change map[string]any) string {
	return s.join(s.header(change), s.claims(nil))
}

// signed is one as go-jose makes it, with any key.
func (s *testSigner) signed(alg jose.SignatureAlgorithm, key any, kid string) string {
	s.t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: jose.JSONWebKey{Key: key, KeyID: kid}}, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	made, err := signer.Sign([]byte(must(json.Marshal(s.claims(nil)))))
	if err != nil {
		s.t.Fatal(err)
	}
	return must(made.CompactSerialize())
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// present is a token request by an assertion.
func present(assertion string, more ...string) *http.Request {
	return request(grantType + "&client_assertion=" + url.QueryEscape(assertion) + "&client_assertion_type=" + url.QueryEscape(assertionType) + strings.Join(more, ""))
}

// mirrored is a token with the other signature that ECDSA has for it.
func mirrored(raw string) string {
	parts := strings.Split(raw, ".")
	signature := must(base64.RawURLEncoding.DecodeString(parts[2]))
	s := new(big.Int).Sub(elliptic.P256().Params().N, new(big.Int).SetBytes(signature[32:]))
	s.FillBytes(signature[32:])
	return parts[0] + "." + parts[1] + "." + base64.RawURLEncoding.EncodeToString(signature)
}

func accessOf(clientID string) token.Claims {
	return token.Claims{Subject: clientID, ClientID: clientID, Audience: []string{base}}
}
