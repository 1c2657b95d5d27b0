package directory

import (
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/postern-id/postern/internal/jwtverify"
	"github.com/postern-id/postern/schemas"
)

// maxKeySetSize limits the keys of a client, in bytes of JSON: each of its requests reads
// them.
const maxKeySetSize = 32 << 10

// checkKeys checks the keys with which a client authenticates.
func checkKeys(w *writeContext, o *schemas.OAuthProfile) {
	byKey := o.TokenEndpointAuthMethod == schemas.AuthMethodPrivateKeyJWT
	switch {
	case o.JWKS != nil && o.JWKSURI != "":
		w.addInvalid(inConfig("jwksUri"), "expected the keys or their URL, got both; leave jwks or jwksUri out")
	case byKey && o.JWKS == nil && o.JWKSURI == "":
		w.addInvalid(inConfig("tokenEndpointAuthMethod"), "%s needs the client's public keys; set jwks or jwksUri", schemas.AuthMethodPrivateKeyJWT)
	}
	if o.TokenEndpointAuthSigningAlg != "" && !byKey {
		w.addInvalid(inConfig("tokenEndpointAuthSigningAlg"), "only %s has signatures; leave it out, or set that as the tokenEndpointAuthMethod", schemas.AuthMethodPrivateKeyJWT)
	}
	if o.JWKS != nil {
		if !byKey {
			w.addInvalid(inConfig("jwks"), "only %s uses keys; leave them out, or set it as the tokenEndpointAuthMethod", schemas.AuthMethodPrivateKeyJWT)
		}
		checkKeySet(w, o.JWKS)
	}
	if o.JWKSURI == "" {
		return
	}
	if !byKey {
		w.addInvalid(inConfig("jwksUri"), "only %s uses keys; leave it out, or set it as the tokenEndpointAuthMethod", schemas.AuthMethodPrivateKeyJWT)
	}
	u, err := url.Parse(o.JWKSURI)
	if err != nil || u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname())) || u.User != nil || u.Fragment != "" || hostFault(u) != "" {
		w.addInvalid(inConfig("jwksUri"), "expected an https:// URL without a fragment, a name or a password: an attacker who can change the keys in transit can act as the client")
	}
}

func checkKeySet(w *writeContext, set *schemas.JSONWebKeys) {
	if text, err := json.Marshal(set); err != nil || len(text) > maxKeySetSize {
		w.addInvalid(inConfig("jwks"), "expected at most %d bytes, got %d; leave out certificates and old keys", maxKeySetSize, len(text))
		return
	}
	signing := checkSigningKeys(w, set)
	if signing == 0 && len(set.Keys) > 0 {
		w.addInvalid(inConfig("jwks.keys"), "expected at least one key that verifies signatures: %s needs it, and all of these are for encryption (use enc)", schemas.AuthMethodPrivateKeyJWT)
	}
}

// checkSigningKeys checks every key of a set and returns how many verify signatures.
// Encryption keys verify nothing, so their names are not compared.
func checkSigningKeys(w *writeContext, set *schemas.JSONWebKeys) int {
	total := 0
	for _, key := range set.Keys {
		if !jwtverify.Encrypts(key) {
			total++
		}
	}
	seen := map[string]int{}
	for i, key := range set.Keys {
		path := inConfig(fmt.Sprintf("jwks.keys[%d]", i))
		member, fault := jwtverify.RegistrationFault(key)
		w.addFault(schemas.JoinPath(path, member), fault)
		if jwtverify.Encrypts(key) {
			continue
		}
		kid, _ := key["kid"].(string)
		first, twice := seen[kid]
		switch {
		case key["kid"] == nil && total > 1:
			w.addInvalid(schemas.JoinPath(path, "kid"), "expected a key id: a signature uses it to select one of several keys")
		case twice && kid != "":
			w.addInvalid(schemas.JoinPath(path, "kid"), "%.64q is also the key id of keys[%d]; use different ones", kid, first)
		default:
			seen[kid] = i
		}
	}
	return total
}
