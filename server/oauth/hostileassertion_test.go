package oauth_test

import (
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// hostileAssertions are assertions that must not authenticate the client signer. The
// client other has a key too.
func hostileAssertions(s, other *testSigner) map[string]string {
	now := s.now
	public := must(s.key.PublicKey.Bytes())
	good := strings.Split(s.with(nil), ".")
	signature := must(base64.RawURLEncoding.DecodeString(good[2]))
	mac := func(header map[string]any, secret []byte) string {
		input := encode(header) + "." + encode(s.claims(nil))
		h := hmac.New(sha256.New, secret)
		h.Write([]byte(input))
		return input + "." + base64.RawURLEncoding.EncodeToString(h.Sum(nil))
	}
	der := must(s.key.Sign(rand.Reader, make([]byte, 32), nil))
	none := func(alg string) string { return encode(s.header(map[string]any{"alg": alg})) + "." + good[1] + "." }
	untrusted := &testSigner{fixture: s.fixture, id: s.id, key: newKey(s.t, elliptic.P256()), kid: s.kid, made: 9000}
	p384 := &testSigner{fixture: s.fixture, id: s.id, key: newKey(s.t, elliptic.P384()), kid: s.kid, made: 9500}
	mine := jose.JSONWebKey{Key: &untrusted.key.PublicKey}
	twice := func(claim, value string) string {
		text := string(must(json.Marshal(s.claims(nil))))
		return s.join(s.header(nil), `{"`+claim+`":`+value+","+text[1:])
	}
	own := must(s.tokens.Access(s.t.Context(), accessOf(s.id)))
	return map[string]string{
		"alg none":                      none("none"),
		"alg None":                      none("None"),
		"alg NONE":                      none("NONE"),
		"alg nOnE":                      none("nOnE"),
		"alg none, signed":              s.headed(map[string]any{"alg": "none"}),
		"alg missing":                   s.headed(map[string]any{"alg": nil}),
		"alg a list":                    s.headed(map[string]any{"alg": []string{"ES256"}}),
		"alg in small letters":          s.headed(map[string]any{"alg": "es256"}),
		"HS256 with the public key":     mac(s.header(map[string]any{"alg": "HS256"}), public),
		"HS256 with the public JWK":     mac(s.header(map[string]any{"alg": "HS256"}), []byte(encode(mine))),
		"HS256 with nothing":            mac(s.header(map[string]any{"alg": "HS256"}), nil),
		"HS512":                         mac(s.header(map[string]any{"alg": "HS512"}), public),
		"HMAC under ES256":              mac(s.header(nil), public),
		"ES384 on the curve of ES256":   s.headed(map[string]any{"alg": "ES384"}),
		"a key of another curve":        p384.headed(map[string]any{"alg": "ES256"}),
		"RS256 named":                   s.headed(map[string]any{"alg": "RS256"}),
		"an unknown key":                untrusted.with(nil),
		"an unknown key without kid":    untrusted.headed(map[string]any{"kid": nil}),
		"an unknown key, embedded":      untrusted.headed(map[string]any{"jwk": mine}),
		"embedded without kid":          untrusted.headed(map[string]any{"jwk": mine, "kid": nil}),
		"an unknown key by jku":         untrusted.headed(map[string]any{"jku": "https://evil.example/keys", "kid": nil}),
		"an unknown key by x5u":         untrusted.headed(map[string]any{"x5u": "https://evil.example/cert"}),
		"another client's key":          other.with(map[string]any{"iss": s.id, "sub": s.id}),
		"another client's kid":          s.headed(map[string]any{"kid": other.kid}),
		"kid as a path":                 s.headed(map[string]any{"kid": "../../../../dev/null"}),
		"kid as a query":                s.headed(map[string]any{"kid": "' UNION SELECT 'x"}),
		"kid a number":                  s.headed(map[string]any{"kid": 1}),
		"crit":                          s.headed(map[string]any{"crit": []string{"exp"}, "exp": 1}),
		"crit empty":                    s.headed(map[string]any{"crit": []string{}}),
		"crit b64":                      s.headed(map[string]any{"crit": []string{"b64"}, "b64": true}),
		"b64 false":                     s.headed(map[string]any{"b64": false}),
		"zip":                           s.headed(map[string]any{"zip": "DEF"}),
		"typ at+jwt":                    s.headed(map[string]any{"typ": "at+jwt"}),
		"typ logout+jwt":                s.headed(map[string]any{"typ": "logout+jwt"}),
		"typ dpop+jwt":                  s.headed(map[string]any{"typ": "dpop+jwt"}),
		"typ a list":                    s.headed(map[string]any{"typ": []string{"JWT"}}),
		"the header alg twice":          s.join(`{"alg":"none","alg":"ES256"}`, s.claims(nil)),
		"the header not JSON":           s.join("alg=ES256", s.claims(nil)),
		"claims not JSON":               s.join(s.header(nil), "sub="+s.id),
		"claims a list":                 s.join(s.header(nil), "[]"),
		"iss twice":                     twice("iss", `"other"`),
		"sub twice":                     twice("sub", `"other"`),
		"aud twice":                     twice("aud", `"https://evil.example"`),
		"jti twice":                     twice("jti", `"x"`),
		"iss another":                   s.with(map[string]any{"iss": "other"}),
		"iss missing":                   s.with(map[string]any{"iss": nil}),
		"iss this server":               s.with(map[string]any{"iss": base}),
		"sub another":                   s.with(map[string]any{"sub": "other"}),
		"sub missing":                   s.with(map[string]any{"sub": nil}),
		"unknown sub":                   s.with(map[string]any{"sub": "nobody", "iss": "nobody"}),
		"sub a client with a secret":    s.with(map[string]any{"sub": "m2m", "iss": "m2m"}),
		"sub a public client":           s.with(map[string]any{"sub": "spa", "iss": "spa"}),
		"sub a number":                  s.with(map[string]any{"sub": 1}),
		"aud another server":            s.with(map[string]any{"aud": "https://evil.example"}),
		"aud of several":                s.with(map[string]any{"aud": []string{base, "https://evil.example"}}),
		"aud of both that are accepted": s.with(map[string]any{"aud": []string{base, base + "/oauth2/token"}}),
		"aud missing":                   s.with(map[string]any{"aud": nil}),
		"aud empty":                     s.with(map[string]any{"aud": []string{}}),
		"aud with a slash":              s.with(map[string]any{"aud": base + "/"}),
		"aud the tools":                 s.with(map[string]any{"aud": base + "/mcp"}),
		"aud another endpoint":          s.with(map[string]any{"aud": base + "/oauth2/authorize"}),
		"aud the client":                s.with(map[string]any{"aud": s.id}),
		"aud an object":                 s.with(map[string]any{"aud": map[string]any{base: true}}),
		"exp missing":                   s.with(map[string]any{"exp": nil}),
		"exp past":                      s.with(map[string]any{"exp": now.Add(-time.Minute).Unix()}),
		"exp zero":                      s.with(map[string]any{"exp": 0}),
		"exp negative":                  s.with(map[string]any{"exp": -1}),
		"exp in an hour":                s.with(map[string]any{"exp": now.Add(time.Hour).Unix()}),
		"exp beyond all":                s.with(map[string]any{"exp": 1e300}),
		"exp a text":                    s.with(map[string]any{"exp": "2099-01-01"}),
		"nbf to come":                   s.with(map[string]any{"nbf": now.Add(5 * time.Minute).Unix()}),
		"iat to come":                   s.with(map[string]any{"iat": now.Add(5 * time.Minute).Unix()}),
		"jti missing":                   s.with(map[string]any{"jti": nil}),
		"jti empty":                     s.with(map[string]any{"jti": ""}),
		"jti a number":                  s.with(map[string]any{"jti": 1}),
		"jti very long":                 s.with(map[string]any{"jti": strings.Repeat("x", 600)}),
		"the signature gone":            good[0] + "." + good[1] + ".",
		"the signature cut":             good[0] + "." + good[1] + "." + good[2][:40],
		"the signature longer":          good[0] + "." + good[1] + "." + base64.RawURLEncoding.EncodeToString(append(signature[:64:64], 0)),
		"the signature zero":            good[0] + "." + good[1] + "." + base64.RawURLEncoding.EncodeToString(make([]byte, 64)),
		"the signature in DER":          good[0] + "." + good[1] + "." + base64.RawURLEncoding.EncodeToString(der),
		"the signature padded":          good[0] + "." + good[1] + "." + base64.URLEncoding.EncodeToString(signature),
		"the signature of another":      good[0] + "." + good[1] + "." + strings.Split(s.with(nil), ".")[2],
		"the claims of another":         good[0] + "." + encode(s.claims(map[string]any{"x": 1})) + "." + good[2],
		"detached":                      good[0] + ".." + good[2],
		"JSON serialization":            fmt.Sprintf(`{"protected":%q,"payload":%q,"signature":%q}`, good[0], good[1], good[2]),
		"five parts":                    strings.Join(good, ".") + ".e30.e30",
		"a line end":                    good[0] + "." + good[1] + "\n." + good[2],
		"a space":                       " " + strings.Join(good, "."),
		"very long":                     s.with(map[string]any{"x": strings.Repeat("x", 17<<10)}),
		"an access token of the client": own,
	}
}

func TestHostileClientAssertions(t *testing.T) {
	w := newFixture(t)
	s, other := newTestSigner(w, "signer"), newTestSigner(w, "other")
	other.kid = "second"
	w.list["other"].OAuth().JWKS = keySet(t, jose.JSONWebKey{Key: &other.key.PublicKey, KeyID: other.kid})
	w.grant(present(s.with(nil)))
	table := hostileAssertions(s, other)
	for name, assertion := range table {
		t.Run(name, func(t *testing.T) {
			w.t = t
			reported := w.refusal(present(assertion))
			if reported.Status != 401 || reported.Code != "invalid_client" || (reported.Authenticate != "") {
				t.Errorf("got %d %v", reported.Status, reported)
			}
			checkDescription(t, reported.Description)
		})
	}
	w.t = t
	for more, code := range map[string]string{"&client_id=other": "invalid_client", "&client_secret=x": "invalid_request"} {
		if reported := w.refusal(present(s.with(nil), more)); reported.Code != code {
			t.Errorf("%s: got %v", more, reported)
		}
	}
	if len(table) < 60 || len(w.fetched) > 0 {
		t.Errorf("%d assertions, fetched %v", len(table), w.fetched)
	}
}
