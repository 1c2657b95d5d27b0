package token

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/postern-id/postern/schemas"
)

// forge makes the tokens of an attacker or of a fault.
type forge struct {
	t     testing.TB
	i     *Issuer
	kid   string
	typ   string // of the valid token
	other string // the other type
	valid string
}

// newForge makes tokens of a type.
func newForge(t testing.TB, typ string) *forge {
	keys := &ring{}
	f := &forge{t: t, i: newIssuer(t, keys), kid: keys.keys[0].ID, typ: typ, other: AccessType}
	var err error
	if typ == AccessType {
		f.other = AssertionType
		f.valid, err = f.i.Access(t.Context(), newAccess())
	} else {
		f.valid, err = f.i.Assert(t.Context(), newAssertion())
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// own is the header of the valid token.
func (f *forge) own() string { return f.i.set().signing[ES256].headers[f.typ] }

// key is the key of the valid token.
func (f *forge) key() *ecdsa.PrivateKey { return f.i.set().signing[ES256].private.(*ecdsa.PrivateKey) }

// sign makes a token with any header and payload.
func (f *forge) sign(key *ecdsa.PrivateKey, header string, payload []byte) string {
	raw, err := (&signer{private: key, headers: map[string]string{"any": header}}).sign("any", payload)
	if err != nil {
		f.t.Fatal(err)
	}
	return raw
}

// claims are those of the valid token with some changed; nil removes one.
func (f *forge) claims(change map[string]any) map[string]any {
	_, claims := decode(f.t, f.valid)
	maps.Copy(claims, change)
	maps.DeleteFunc(claims, func(_ string, v any) bool { return v == nil })
	return claims
}

// with is a correctly signed token with changed claims, as a bug or another program with
// the key could issue.
func (f *forge) with(change map[string]any) string { return f.signed(f.json(f.claims(change))) }

func (f *forge) signed(payload []byte) string { return f.sign(f.key(), f.own(), payload) }

// headed is a correctly signed token with another header.
func (f *forge) headed(header map[string]any) string {
	return f.sign(f.key(), base64.RawURLEncoding.EncodeToString(f.json(header)), f.json(f.claims(nil)))
}

func (f *forge) head(change map[string]any) map[string]any {
	header := map[string]any{"alg": "ES256", "kid": f.kid, "typ": f.typ}
	maps.Copy(header, change)
	maps.DeleteFunc(header, func(_ string, v any) bool { return v == nil })
	return header
}

func (f *forge) json(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		f.t.Fatal(err)
	}
	return text
}

// strange is a token of an attacker's key, as go-jose writes it.
func (f *forge) strange(alg jose.SignatureAlgorithm, key any, embed bool, header map[jose.HeaderKey]any) string {
	o := (&jose.SignerOptions{EmbedJWK: embed}).WithType(jose.ContentType(f.typ))
	for name, value := range header {
		o = o.WithHeader(name, value)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: key}, o)
	if err != nil {
		f.t.Fatal(err)
	}
	signed, err := signer.Sign(f.json(f.claims(nil)))
	if err != nil {
		f.t.Fatal(err)
	}
	raw, err := signed.CompactSerialize()
	if err != nil {
		f.t.Fatal(err)
	}
	return raw
}

// part replaces one of the three parts of the valid token.
func (f *forge) part(n int, text string) string {
	parts := strings.Split(f.valid, ".")
	parts[n] = text
	return strings.Join(parts, ".")
}

// confused signs with HMAC and the public key as the secret, against verifiers that let the
// token choose the algorithm.
func (f *forge) confused(header map[string]any, secret []byte) string {
	input := base64.RawURLEncoding.EncodeToString(f.json(header)) + "." + strings.Split(f.valid, ".")[1]
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(input))
	return input + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func hostile(f *forge) map[string]string {
	mine, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		f.t.Fatal(err)
	}
	large, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		f.t.Fatal(err)
	}
	public, err := f.key().PublicKey.Bytes()
	if err != nil {
		f.t.Fatal(err)
	}
	kid := map[jose.HeaderKey]any{"kid": f.kid}
	parts := strings.Split(f.valid, ".")
	zero := base64.RawURLEncoding.EncodeToString(make([]byte, ecdsaSize))
	signature, _ := base64.RawURLEncoding.DecodeString(parts[2])
	der, _ := f.key().Sign(rand.Reader, make([]byte, 32), nil)
	none := base64.RawURLEncoding.EncodeToString(f.json(f.head(map[string]any{"alg": "none"})))
	later := func(d time.Duration) int64 { return noon().Add(d).Unix() }
	return map[string]string{
		"empty":                        "",
		"no dots":                      "token",
		"two parts":                    parts[0] + "." + parts[1],
		"four parts":                   f.valid + ".e30",
		"five parts, as encrypted":     f.valid + ".e30.e30",
		"a space before":               " " + f.valid,
		"a line end after":             f.valid + "\n",
		"a line end inside":            f.part(1, parts[1][:8]+"\n"+parts[1][8:]),
		"Bearer left in":               "Bearer " + f.valid,
		"JSON serialisation":           fmt.Sprintf(`{"protected":%q,"payload":%q,"signature":%q}`, parts[0], parts[1], parts[2]),
		"standard base64":              f.part(2, base64.StdEncoding.EncodeToString(signature)),
		"too long":                     f.with(map[string]any{"filler": strings.Repeat("x", maxTokenSize)}),
		"alg none, no signature":       none + "." + parts[1] + ".",
		"alg None":                     f.headed(f.head(map[string]any{"alg": "None"})),
		"header kept, no signature":    f.part(2, ""),
		"HS256 with the public key":    f.confused(f.head(map[string]any{"alg": "HS256"}), public),
		"HS256 under the ES256 header": f.confused(f.head(nil), public),
		"RS256 with another key":       f.strange(jose.RS256, large, false, kid),
		"ES384 named":                  f.headed(f.head(map[string]any{"alg": "ES384"})),
		"alg missing":                  f.headed(f.head(map[string]any{"alg": nil})),
		"another key under our kid":    f.strange(jose.ES256, mine, false, kid),
		"another key, another kid":     f.strange(jose.ES256, mine, false, map[jose.HeaderKey]any{"kid": "mine"}),
		"another key, no kid":          f.strange(jose.ES256, mine, false, nil),
		"another key, our header":      resigned(f, mine),
		"our key, no kid":              f.headed(f.head(map[string]any{"kid": nil})),
		"our key, unknown kid":         f.headed(f.head(map[string]any{"kid": schemas.NewID()})),
		"kid as a path":                f.headed(f.head(map[string]any{"kid": "../../dev/null"})),
		"kid as a query":               f.headed(f.head(map[string]any{"kid": "' OR '1'='1"})),
		"key in the header (jwk)":      f.strange(jose.ES256, mine, true, nil),
		"jwk with our kid":             f.headed(f.head(map[string]any{"jwk": jose.JSONWebKey{Key: mine.Public()}})),
		"key by link (jku)":            f.headed(f.head(map[string]any{"jku": "https://evil.example/jwks"})),
		"key by link (x5u)":            f.headed(f.head(map[string]any{"x5u": "https://evil.example/x5u"})),
		"certificate (x5c)":            f.headed(f.head(map[string]any{"x5c": []string{"MIIB"}})),
		"critical extension":           f.headed(f.head(map[string]any{"crit": []string{"exp"}, "exp": 1})),
		"critical b64":                 f.headed(f.head(map[string]any{"crit": []string{"b64"}, "b64": false})),
		"the other type":               f.headed(f.head(map[string]any{"typ": f.other})),
		"a type of another protocol":   f.headed(f.head(map[string]any{"typ": "dpop+jwt"})),
		"the type in capitals":         f.headed(f.head(map[string]any{"typ": strings.ToUpper(f.typ) + " "})),
		"the type as a media type":     f.headed(f.head(map[string]any{"typ": "application/" + f.typ})),
		"no type":                      f.headed(f.head(map[string]any{"typ": nil})),
		"header in another order":      reordered(f),
		"zero signature":               f.part(2, zero),
		"DER signature":                f.part(2, base64.RawURLEncoding.EncodeToString(der)),
		"signature with a byte more":   f.part(2, base64.RawURLEncoding.EncodeToString(append(signature[:ecdsaSize:ecdsaSize], 0))),
		"signature of another token":   f.part(2, strings.Split(f.with(nil), ".")[2]),
		"claims changed":               f.part(1, base64.RawURLEncoding.EncodeToString(f.json(f.claims(map[string]any{"sub": "admin"})))),
		"claims not JSON":              f.signed([]byte("sub=admin")),
		"claims an array":              f.signed([]byte("[]")),
		"claims null":                  f.signed([]byte("null")),
		"sub twice":                    f.signed([]byte(strings.Replace(string(f.json(f.claims(nil))), `"sub":`, `"sub":"admin","sub":`, 1))),
		"another issuer":               f.with(map[string]any{"iss": "https://evil.example"}),
		"issuer with a slash":          f.with(map[string]any{"iss": base + "/"}),
		"no issuer":                    f.with(map[string]any{"iss": nil}),
		"another audience":             f.with(map[string]any{"aud": []string{base}}),
		"audience with a slash":        f.with(map[string]any{"aud": app + "/"}),
		"audience in part":             f.with(map[string]any{"aud": app[:8]}),
		"no audience":                  f.with(map[string]any{"aud": nil}),
		"audience an object":           f.with(map[string]any{"aud": map[string]any{app: true}}),
		"no subject":                   f.with(map[string]any{"sub": nil}),
		"empty subject":                f.with(map[string]any{"sub": ""}),
		"subject a number":             f.with(map[string]any{"sub": 1}),
		"no expiry":                    f.with(map[string]any{"exp": nil}),
		"expired":                      f.with(map[string]any{"exp": later(0)}),
		"expired long ago":             f.with(map[string]any{"exp": 0}),
		"expiry a text":                f.with(map[string]any{"exp": "2099-01-01"}),
		"expiry beyond all":            f.with(map[string]any{"exp": 1e300}),
		"not valid yet":                f.with(map[string]any{"nbf": later(2 * time.Minute)}),
		"issued in the future":         f.with(map[string]any{"iat": later(2 * time.Minute)}),
		"no time of issue":             f.with(map[string]any{"iat": nil}),
		"scope a list":                 f.with(map[string]any{"scope": []string{"system"}}),
	}
}

// resigned is the valid token signed by another key.
func resigned(f *forge, key *ecdsa.PrivateKey) string {
	return f.sign(key, f.own(), f.json(f.claims(nil)))
}

// reordered is a valid token with a differently formatted header.
func reordered(f *forge) string {
	text := fmt.Sprintf(`{"typ":%q,"kid":%q,"alg":"ES256"}`, f.typ, f.kid)
	return f.sign(f.key(), base64.RawURLEncoding.EncodeToString([]byte(text)), f.json(f.claims(nil)))
}

func TestHostileTokens(t *testing.T) {
	for _, typ := range []string{AssertionType, AccessType} {
		f := newForge(t, typ)
		if _, err := f.i.Verify(t.Context(), f.valid, app); err != nil {
			t.Fatalf("the token they are made from is refused: %v", err)
		}
		if _, err := f.i.Verify(t.Context(), f.with(nil), app); err != nil {
			t.Fatalf("the forge makes nothing valid: %v", err)
		}
		for name, raw := range hostile(f) {
			t.Run(typ+"/"+name, func(t *testing.T) { refused(t, f, raw) })
		}
	}
}

func refused(t *testing.T, f *forge, raw string) {
	t.Helper()
	claims, err := f.i.Verify(t.Context(), raw, app)
	if err == nil {
		t.Fatalf("accepted, with the claims %+v", claims)
	}
	if e := schemas.AsError(err); e.Code != "invalid_token" || e.Class != schemas.Unauthenticated {
		t.Errorf("refused with %v of class %d, expected invalid_token", err, e.Class)
	}
	if len(raw) > 20 && strings.Contains(err.Error(), raw[:20]) {
		t.Error("the error contains the token")
	}
}

// An access token names its client, and an assertion names none. A token with the claims of
// the other type was not made by this issuer, and would act for a client or hide that it
// does.
func TestTypesAreNotMixed(t *testing.T) {
	access, assertion := newForge(t, AccessType), newForge(t, AssertionType)
	for _, test := range []struct {
		name string
		f    *forge
		raw  string
	}{
		{"an access token of no client", access, access.with(map[string]any{"client_id": nil})},
		{"an access token of an empty client", access, access.with(map[string]any{"client_id": ""})},
		{"an access token of a list of clients", access, access.with(map[string]any{"client_id": []string{"console"}})},
		{"an access token without an id", access, access.with(map[string]any{"jti": nil})},
		{"an assertion of a client", assertion, assertion.with(map[string]any{"client_id": "console"})},
		{"an assertion without an id", assertion, assertion.with(map[string]any{"jti": ""})},
		{"the signature of an access token under the header of an assertion", access,
			access.i.set().signing[ES256].headers[AssertionType] + access.valid[strings.IndexByte(access.valid, '.'):]},
		{"the signature of an assertion under the header of an access token", assertion,
			assertion.i.set().signing[ES256].headers[AccessType] + assertion.valid[strings.IndexByte(assertion.valid, '.'):]},
	} {
		t.Run(test.name, func(t *testing.T) { refused(t, test.f, test.raw) })
	}
}

// TestMargins has tokens that are just valid.
func TestMargins(t *testing.T) {
	f := newForge(t, AssertionType)
	for name, change := range map[string]map[string]any{
		"expires in a second": {"exp": noon().Add(time.Second).Unix()},
		"valid in a minute":   {"nbf": noon().Add(time.Minute).Unix()},
		"issued in a minute":  {"iat": noon().Add(time.Minute).Unix()},
		"audience alone":      {"aud": app},
		"no scope":            {"scope": nil},
	} {
		if _, err := f.i.Verify(t.Context(), f.with(change), app); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := f.i.Verify(t.Context(), f.with(map[string]any{"aud": ""}), ""); err == nil {
		t.Error("a token without an audience is accepted where none is expected")
	}
}

// FuzzVerify searches for an accepted token other than the valid ones.
func FuzzVerify(f *testing.F) {
	forges := map[string]*forge{}
	for _, typ := range []string{AssertionType, AccessType} {
		forge := newForge(f, typ)
		forges[forge.valid] = forge
		f.Add(forge.valid)
		for _, raw := range hostile(forge) {
			f.Add(raw)
		}
	}
	f.Fuzz(func(t *testing.T, raw string) {
		for valid, forge := range forges {
			want, err := forge.i.Verify(t.Context(), valid, app)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := forge.i.Verify(t.Context(), raw, app); err == nil && got.ID != want.ID {
				t.Fatalf("accepted %q", raw)
			}
		}
	})
}
