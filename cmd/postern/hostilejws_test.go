package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/asn1"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"maps"
	"math/big"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"github.com/postern-id/postern/internal/datatest"
)

// forger makes tokens from a valid one, without its signing key.
type forger struct {
	t       *testing.T
	good    string
	parts   [3]string
	head    map[string]any
	claims  map[string]any
	key     *ecdsa.PrivateKey // the forger's own
	public  *ecdsa.PublicKey  // that verifies good
	another string            // signature of another valid token
}

func newForger(t *testing.T, good, another string, published []byte) *forger {
	t.Helper()
	f := &forger{t: t, good: good, parts: [3]string(strings.Split(good, ".")), another: strings.Split(another, ".")[2]}
	for i, into := range []*map[string]any{&f.head, &f.claims} {
		datatest.Unmarshal(t, f.bytes(f.parts[i]), into)
	}
	var set jose.JSONWebKeySet
	datatest.Unmarshal(t, published, &set)
	public, ok := set.Key(f.head["kid"].(string))[0].Key.(*ecdsa.PublicKey)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil || !ok {
		t.Fatal(err, ok)
	}
	f.key, f.public = key, public
	return f
}

func encoded(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func (f *forger) bytes(part string) []byte {
	b, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil {
		f.t.Fatal(err)
	}
	return b
}

// with is JSON with some members changed; nil removes one.
func (f *forger) with(of map[string]any, change ...any) string {
	changed := map[string]any{}
	for name, value := range of {
		changed[name] = value
	}
	for i := 0; i < len(change); i += 2 {
		if changed[change[i].(string)] = change[i+1]; change[i+1] == nil {
			delete(changed, change[i].(string))
		}
	}
	text := datatest.Marshal(f.t, changed)
	return encoded(text)
}

// signed is signed by the forger's own key.
func (f *forger) signed(head, claims string) string {
	sum := sha256.Sum256([]byte(head + "." + claims))
	r, s, err := ecdsa.Sign(rand.Reader, f.key, sum[:])
	if err != nil {
		f.t.Fatal(err)
	}
	return head + "." + claims + "." + encoded(pair(r, s))
}

// withHeader has another header, signed by the forger's own key.
func (f *forger) withHeader(change ...any) string {
	return f.signed(f.with(f.head, change...), f.parts[1])
}

// unsigned has another header, with the signature of the valid token, or none.
func (f *forger) unsigned(signature string, change ...any) string {
	return f.with(f.head, change...) + "." + f.parts[1] + "." + signature
}

// mac is signed by HS256 with a public value as the secret (RFC 8725 §2.1).
func (f *forger) mac(secret []byte) string {
	signed := f.with(f.head, "alg", "HS256") + "." + f.parts[1]
	h := hmac.New(sha256.New, secret)
	h.Write([]byte(signed))
	return signed + "." + encoded(h.Sum(nil))
}

// signature is the valid token with another signature.
func (f *forger) signature(b []byte) string { return f.parts[0] + "." + f.parts[1] + "." + encoded(b) }

// pair is the encoding of an ES256 signature: RFC 7518 §3.4.
func pair(r, s *big.Int) []byte {
	b := make([]byte, 64)
	r.FillBytes(b[:32])
	s.FillBytes(b[32:])
	return b
}

// mirroredKeys is the other signature that ECDSA accepts: that with -s.
func (f *forger) mirroredKeys(raw string) string {
	parts := strings.Split(raw, ".")
	b := f.bytes(parts[2])
	s := new(big.Int).Sub(elliptic.P256().Params().N, new(big.Int).SetBytes(b[32:]))
	return parts[0] + "." + parts[1] + "." + encoded(pair(new(big.Int).SetBytes(b[:32]), s))
}

func (f *forger) pem() []byte {
	der, err := x509.MarshalPKIXPublicKey(f.public)
	if err != nil {
		f.t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}

func (f *forger) jwk(key any) json.RawMessage {
	return datatest.Marshal(f.t, jose.JSONWebKey{Key: key, KeyID: f.head["kid"].(string), Algorithm: "ES256", Use: "sig"})
}

// forgeries are the tokens of an attacker without a key of this server.
func (f *forger) forgeries() map[string]string {
	all := map[string]string{}
	for _, some := range []map[string]string{f.otherAlgorithms(), f.otherSignatures(), f.otherHeaders(), f.otherForms()} {
		maps.Copy(all, some)
	}
	return all
}

// otherAlgorithms are signed with none, or with an algorithm that uses a public key as a
// secret.
func (f *forger) otherAlgorithms() map[string]string {
	point, err := f.public.Bytes()
	if err != nil {
		f.t.Fatal(err)
	}
	return map[string]string{
		"alg none":                            f.unsigned("", "alg", "none"),
		"alg None":                            f.unsigned("", "alg", "None"),
		"alg NONE":                            f.unsigned("", "alg", "NONE"),
		"alg none with the signature":         f.unsigned(f.parts[2], "alg", "none"),
		"alg none with some signature":        f.unsigned("AA", "alg", "none"),
		"no alg":                              f.unsigned("", "alg", nil),
		"alg a list":                          f.unsigned(f.parts[2], "alg", []string{"ES256", "none"}),
		"HS256 by the public key in PEM":      f.mac(f.pem()),
		"HS256 by the public key as a point":  f.mac(point),
		"HS256 by the public key as a JWK":    f.mac(f.jwk(f.public)),
		"HS256 by an empty secret":            f.mac(nil),
		"ES384 named":                         f.withHeader("alg", "ES384"),
		"RS256 named":                         f.withHeader("alg", "RS256"),
		"another name of the algorithm (jwa)": f.withHeader("alg", "es256"),
	}
}

// otherSignatures have a differently encoded signature, or an invalid one.
func (f *forger) otherSignatures() map[string]string {
	n := elliptic.P256().Params().N
	one, zero, good := big.NewInt(1), new(big.Int), f.bytes(f.parts[2])
	r, s := new(big.Int).SetBytes(good[:32]), new(big.Int).SetBytes(good[32:])
	der, err := asn1.Marshal(struct{ R, S *big.Int }{r, s})
	if err != nil {
		f.t.Fatal(err)
	}
	return map[string]string{
		"a DER signature":                f.signature(der),
		"a signature of 63 bytes":        f.signature(good[:63]),
		"a signature of 65 bytes":        f.signature(append(good[:64:64], 0)),
		"half a signature":               f.signature(good[:32]),
		"a signature twice":              f.signature(append(good[:64:64], good...)),
		"a signature of zeros":           f.signature(make([]byte, 64)),
		"r 0":                            f.signature(pair(zero, s)),
		"s 0":                            f.signature(pair(r, zero)),
		"r and s n":                      f.signature(pair(n, n)),
		"r and s 1":                      f.signature(pair(one, one)),
		"r and s swapped":                f.signature(pair(s, r)),
		"the signature of another token": f.parts[0] + "." + f.parts[1] + "." + f.another,
	}
}

// otherHeaders choose the key or the interpretation of the token.
func (f *forger) otherHeaders() map[string]string {
	text := string(f.bytes(f.parts[0]))
	return map[string]string{
		"a key of one's own under the kid":  f.withHeader(),
		"a key of one's own, without a kid": f.withHeader("kid", nil),
		"a key of one's own in the header":  f.withHeader("jwk", f.jwk(&f.key.PublicKey)),
		"only in the header":                f.withHeader("kid", nil, "jwk", f.jwk(&f.key.PublicKey)),
		"a key by jku":                      f.withHeader("jku", "https://rp.example.com/jwks"),
		"a key by x5u":                      f.withHeader("x5u", "https://rp.example.com/cert"),
		"a key by x5c":                      f.withHeader("x5c", []string{"MIIB"}),
		"a kid that is a path":              f.withHeader("kid", "../../../../dev/null"),
		"a kid that is a query":             f.withHeader("kid", "' UNION SELECT 'AA'--"),
		"a kid with a zero byte":            f.withHeader("kid", f.head["kid"].(string)+"\x00"),
		"a kid that is a list":              f.withHeader("kid", []any{f.head["kid"]}),
		"crit":                              f.withHeader("crit", []string{"exp"}, "exp", 1),
		"crit, with the signature":          f.unsigned(f.parts[2], "crit", []string{"b64"}, "b64", false),
		"zip":                               f.unsigned(f.parts[2], "zip", "DEF"),
		"cty JWT":                           f.withHeader("cty", "JWT"),
		"alg twice":                         encoded([]byte(strings.Replace(text, "{", `{"alg":"none",`, 1))) + "." + f.parts[1] + ".",
		"alg twice, with the signature":     encoded([]byte(strings.Replace(text, "{", `{"alg":"none",`, 1))) + "." + f.parts[1] + "." + f.parts[2],
		"typ of the other kind":             f.unsigned(f.parts[2], "typ", map[any]string{"JWT": "at+jwt", "at+jwt": "JWT"}[f.head["typ"]]),
		"no typ":                            f.unsigned(f.parts[2], "typ", nil),
	}
}

// otherForms have other claims under the signature, or are not a JWS in compact form.
func (f *forger) otherForms() map[string]string {
	return map[string]string{
		"sub changed":              f.parts[0] + "." + f.with(f.claims, "sub", "admin") + "." + f.parts[2],
		"sub twice":                f.parts[0] + "." + encoded([]byte(strings.Replace(string(f.bytes(f.parts[1])), "{", `{"sub":"admin",`, 1))) + "." + f.parts[2],
		"scope added":              f.parts[0] + "." + f.with(f.claims, "scope", "system account") + "." + f.parts[2],
		"exp later":                f.parts[0] + "." + f.with(f.claims, "exp", 4102444800) + "." + f.parts[2],
		"a session taken away":     f.parts[0] + "." + f.with(f.claims, "sid", nil) + "." + f.parts[2],
		"no signature":             f.parts[0] + "." + f.parts[1] + ".",
		"two parts":                f.parts[0] + "." + f.parts[1],
		"a fourth part":            f.good + ".e30",
		"five parts":               f.parts[0] + ".e30.e30." + f.parts[1] + "." + f.parts[2],
		"detached":                 f.parts[0] + ".." + f.parts[2],
		"padded":                   f.good + "=",
		"padding in the middle":    f.parts[0] + "=." + f.parts[1] + "." + f.parts[2],
		"a space within":           f.parts[0] + ". " + f.parts[1] + "." + f.parts[2],
		"a second token behind it": f.good + "," + f.good,
		"in JSON":                  `{"protected":"` + f.parts[0] + `","payload":"` + f.parts[1] + `","signature":"` + f.parts[2] + `"}`,
		"in general JSON":          `{"payload":"` + f.parts[1] + `","signatures":[{"protected":"` + f.parts[0] + `","signature":"` + f.parts[2] + `"}]}`,
		"huge":                     f.parts[0] + "." + strings.Repeat("A", 40_000) + "." + f.parts[2],
		"very many parts":          strings.Repeat("e30.", 10_000),
		"deep":                     f.parts[0] + "." + encoded([]byte(strings.Repeat(`{"a":`, 3000)+"1"+strings.Repeat("}", 3000))) + "." + f.parts[2],
		"null":                     "null",
		"undefined":                "undefined",
		"nothing but dots":         "..",
		"its claims alone":         f.parts[1],
		"a key's name":             f.head["kid"].(string),
	}
}
