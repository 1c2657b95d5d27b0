package directory

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/postern-id/postern/schemas"
)

// Public keys of every kind are taken, with the algorithms that fit them alone.
func TestPublicKeys(t *testing.T) {
	keys := map[string]map[string]any{
		"RS256 RS384 RS512 PS256 PS384 PS512": {"kty": "RSA", "n": encoded(new(big.Int).Lsh(big.NewInt(3), 2046).Bytes()), "e": "AQAB"},
		"EdDSA Ed25519":                       {"kty": "OKP", "crv": "Ed25519", "x": encoded(make([]byte, 32))},
	}
	for alg, curve := range map[string]elliptic.Curve{"ES256": elliptic.P256(), "ES384": elliptic.P384(), "ES512": elliptic.P521()} {
		private, err := ecdsa.GenerateKey(curve, rand.Reader)
		must(t, err)
		point, err := private.PublicKey.Bytes()
		must(t, err)
		size := len(point) / 2
		keys[alg] = map[string]any{"kty": "EC", "crv": curve.Params().Name, "x": encoded(point[1 : 1+size]), "y": encoded(point[1+size:])}
	}
	all := strings.Fields("RS256 RS384 RS512 PS256 PS384 PS512 EdDSA Ed25519 ES256 ES384 ES512 HS256 none")
	for fitting, key := range keys {
		if member, wrong := keyFault(key); wrong != "" {
			t.Errorf("%v: %s: %s", key, member, wrong)
		}
		for _, alg := range all {
			key["alg"] = alg
			member, wrong := keyFault(key)
			if fits := strings.Contains(" "+fitting+" ", " "+alg+" "); fits != (wrong == "") || !fits && member != "alg" {
				t.Errorf("%s for a key of %s: %s: %s", alg, fitting, member, wrong)
			}
		}
	}
}

func encoded(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func TestWeakAndHugeKeys(t *testing.T) {
	rsa := func(bits uint, e string) map[string]any {
		return map[string]any{"kty": "RSA", "n": encoded(new(big.Int).Lsh(big.NewInt(1), bits-1).Bytes()), "e": e}
	}
	for want, key := range map[string]map[string]any{
		"n: got 1024 bits":   rsa(1024, "AQAB"),
		"n: got 2047 bits":   rsa(2047, "AQAB"),
		"n: got 4097 bits":   rsa(4097, "AQAB"),
		"e: odd exponent":    rsa(2048, encoded([]byte{1})),
		"e: from 3":          rsa(2048, encoded([]byte{1, 0})),
		"e: to 2147483647":   rsa(2048, encoded([]byte{1, 0, 0, 0, 1})),
		"e: such as AQAB":    {"kty": "RSA", "n": rsa(2048, "")["n"]},
		"n: got 0 bits":      {"kty": "RSA", "n": 7, "e": "AQAB"},
		"x: 48 bytes":        {"kty": "EC", "crv": "P-384", "x": "AA==", "y": "AA"},
		"d: a private key":   {"kty": "OKP", "crv": "Ed25519", "d": nil},
		"k: a private key":   {"kty": "oct", "k": "AAAA"},
		"use: \"sig\"":       {"kty": "RSA", "use": "enc"},
		"alg: a string":      {"kty": "RSA", "alg": 7},
		`kty: "RSA" or`:      {},
		"crv: \"Ed25519\"":   {"kty": "OKP", "crv": "Ed448"},
		"crv: got \"P-192\"": {"kty": "EC", "crv": "P-192"},
	} {
		path, part, _ := strings.Cut(want, ": ")
		if member, wrong := keyFault(key); member != path || !strings.Contains(wrong, part) {
			t.Errorf("%v: got %s: %s, expected %s", key, member, wrong, want)
		}
	}
}

// Lists and trees from outside are bounded.
func TestBounds(t *testing.T) {
	h := furnished(t, newWorld(t))
	var wide []schemas.Resource
	for i := range 10 {
		r := schemas.Resource{Handle: fmt.Sprint("r", i)}
		for j := range 99 {
			r.Actions = append(r.Actions, schemas.ResourceAction{Handle: fmt.Sprint("a", j)})
		}
		wide = append(wide, r)
	}
	_, err := h.ResourceServers.Create(t.Context(), System(), doc(t, object(t, "handle", "wide", "name", "Wide", "resources", wide)))
	refused(t, err, schemas.CodeInvalidRequest, "resources: expected at most 999 resources and actions in all, got 1000")
	wide[9].Actions = wide[9].Actions[1:]
	h.create(t, h.ResourceServers, object(t, "handle", "wide", "name", "Wide", "resources", wide))

	var scopes []string
	for i := range 201 {
		scopes = append(scopes, fmt.Sprint("scope", i))
	}
	_, err = h.Applications.Create(t.Context(), System(), doc(t, machine(t, "Wide", strings.Join(scopes, " "))))
	refused(t, err, schemas.CodeInvalidRequest, configPath+".scope: expected at most 200 scopes, got 201")

	certificate := map[string]any{"kty": "OKP", "crv": "Ed25519", "x": encoded(make([]byte, 32)), "x5c": []string{strings.Repeat("A", 40000)}}
	_, err = h.Applications.Create(t.Context(), System(), doc(t, object(t, "name", "Long", "type", "M2M", "inboundAuthConfig", []any{
		map[string]any{"type": "oauth2", "config": map[string]any{"jwks": map[string]any{"keys": []any{certificate}}}}})))
	refused(t, err, schemas.CodeInvalidRequest, configPath+".jwks: expected at most 32768 bytes")
}
