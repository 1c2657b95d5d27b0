package token

import (
	"encoding/json"
	"fmt"

	"github.com/go-jose/go-jose/v4"
)

// encodeJWKS writes the public keys as a JWK Set.
func encodeJWKS(keys []*signer) ([]byte, error) {
	set := jose.JSONWebKeySet{Keys: make([]jose.JSONWebKey, 0, len(keys))}
	for _, k := range keys {
		set.Keys = append(set.Keys, jose.JSONWebKey{Key: k.private.Public(), KeyID: k.id, Algorithm: k.algorithm, Use: "sig"})
	}
	text, err := json.Marshal(set)
	if err != nil {
		return nil, fmt.Errorf("token: writing the public keys: %w", err)
	}
	return text, nil
}

// JWKS returns the JWK Set (RFC 7517 §5) of the public keys that verify tokens of this
// issuer, as JSON: the signing keys, the published keys, and the retired keys that have
// signed what may still be valid. The caller must not modify it.
func (i *Issuer) JWKS() []byte { return i.set().jwks }
