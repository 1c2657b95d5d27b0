package jwtverify

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"strings"
	"testing"
)

// Public keys of every kind are accepted, with exactly the algorithms that fit them.
func TestPublicKeys(t *testing.T) {
	keys := map[string]map[string]any{
		"RS256 RS384 RS512 PS256 PS384 PS512": {"kty": "RSA", "n": encoded(new(big.Int).Lsh(big.NewInt(3), 2046).Bytes()), "e": "AQAB"},
		"EdDSA Ed25519":                       {"kty": "OKP", "crv": "Ed25519", "x": encoded(make([]byte, 32))},
	}
	for alg, curve := range map[string]elliptic.Curve{"ES256": elliptic.P256(), "ES384": elliptic.P384(), "ES512": elliptic.P521()} {
		private, err := ecdsa.GenerateKey(curve, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		point, err := private.PublicKey.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		size := len(point) / 2
		keys[alg] = map[string]any{"kty": "EC", "crv": curve.Params().Name, "x": encoded(point[1 : 1+size]), "y": encoded(point[1+size:])}
	}
	all := strings.Fields("RS256 RS384 RS512 PS256 PS384 PS512 EdDSA Ed25519 ES256 ES384 ES512 HS256 none")
	for fitting, key := range keys {
		if member, wrong := KeyFault(key); wrong != "" {
			t.Errorf("%v: %s: %s", key, member, wrong)
		}
		for _, alg := range all {
			key["alg"] = alg
			member, wrong := KeyFault(key)
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
		if member, wrong := KeyFault(key); member != path || !strings.Contains(wrong, part) {
			t.Errorf("%v: got %s: %s, expected %s", key, member, wrong, want)
		}
	}
}

// A private key is never accepted, in any form that a client could send.
func FuzzKey(f *testing.F) {
	for _, key := range []string{
		`{"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}`,
		`{"kty": "EC", "crv": "P-256", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0", "d": ""}`,
		`{"kty": "RSA", "n": "AQAB", "e": "AQAB", "alg": "none"}`, `{"kty": 7}`, `{"k": null}`, `{"kty": "EC", "crv": ["P-256"]}`,
	} {
		f.Add([]byte(key))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var key map[string]any
		if json.Unmarshal(text, &key) != nil {
			return
		}
		if _, wrong := KeyFault(key); wrong != "" {
			return
		}
		for _, secret := range []string{"d", "p", "q", "dp", "dq", "qi", "oth", "k"} {
			if _, has := key[secret]; has {
				t.Fatalf("a key with the member %q was accepted: %s", secret, text)
			}
		}
		if key["kty"] != "EC" && key["kty"] != "RSA" && key["kty"] != "OKP" || key["alg"] == "none" {
			t.Fatalf("accepted: %s", text)
		}
	})
}
