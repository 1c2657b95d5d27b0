package jwtverify

import (
	"crypto/ed25519"
	"encoding/json"
	"testing"

	"github.com/postern-id/postern/schemas"
)

// EdDSA (RFC 8037) and Ed25519 (RFC 9864) name one algorithm: a key with either name, or
// with none, verifies tokens with both.
func TestEd25519(t *testing.T) {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, named := range []string{"", "EdDSA", "Ed25519"} {
		key := map[string]any{"kty": "OKP", "crv": "Ed25519", "kid": "k", "x": encoded(public)}
		if named != "" {
			key["alg"] = named
		}
		set := &schemas.JSONWebKeys{Keys: []map[string]any{key}}
		for _, alg := range []string{"EdDSA", "Ed25519"} {
			text := encoded([]byte(`{"alg":"`+alg+`","kid":"k"}`)) + "." + encoded([]byte(`{"sub":"s"}`))
			signature := ed25519.Sign(private, []byte(text))
			var claims struct {
				Sub string `json:"sub"`
			}
			if err := verifyBy(set, text+"."+encoded(signature), &claims); err != nil || claims.Sub != "s" {
				t.Errorf("a key for %q and a token with %s: %+v, %v", named, alg, claims, err)
			}
			signature[0] ^= 1
			if verifyBy(set, text+"."+encoded(signature), &claims) == nil {
				t.Errorf("a key for %q and a token with %s: a wrong signature is accepted", named, alg)
			}
		}
	}
}

func verifyBy(set *schemas.JSONWebKeys, raw string, into any) error {
	token, err := Parse(raw)
	if err != nil {
		return err
	}
	public, ok := Pick(set, token)
	if !ok {
		return json.Unmarshal(nil, into) // no key fits
	}
	return token.Claims(public, into)
}
