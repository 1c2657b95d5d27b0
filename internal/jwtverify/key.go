package jwtverify

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"encoding/base64"
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// KeyFault returns what is wrong with a JSON Web Key (RFC 7517, RFC 7518 §6, RFC 8037) as a
// public key for verifying signatures, and the member at fault; "" for a good key.
func KeyFault(key map[string]any) (member, wrong string) {
	_, member, wrong = keyAlgorithms(key)
	return member, wrong
}

// Encrypts reports whether a JSON Web Key is for encryption (RFC 7517 §4.2), which verifies
// no signature.
func Encrypts(key map[string]any) bool { return key["use"] == "enc" }

// RegistrationFault is KeyFault for a key of a set that a client registers, which may
// contain encryption keys next to signing keys (RFC 7517 §5).
func RegistrationFault(key map[string]any) (member, wrong string) {
	if !Encrypts(key) {
		return KeyFault(key)
	}
	if member, wrong = publicFault(key); wrong != "" {
		return member, wrong
	}
	_, member, wrong = parameters(key, agreementKey)
	return member, wrong
}

// keyAlgorithms returns the signature algorithms (RFC 7518 §3.1) of a JSON Web Key, or what
// is wrong with it: it is not for signatures, contains a private half, or is too weak.
func keyAlgorithms(key map[string]any) (algorithms []string, member, wrong string) {
	if member, wrong = publicFault(key); wrong != "" {
		return nil, member, wrong
	}
	if use, _ := key["use"].(string); use != "" && use != "sig" {
		return nil, "use", fmt.Sprintf(`expected "sig", got %.64q: the key is for signatures`, use)
	}
	algorithms, member, wrong = parameters(key, edwardsKey)
	alg, _ := key["alg"].(string)
	switch {
	case wrong != "" || alg == "":
		return algorithms, member, wrong
	case !slices.Contains(algorithms, alg):
		return nil, "alg", fmt.Sprintf("expected one of %s for this key, got %.64q", strings.Join(algorithms, ", "), alg)
	}
	return []string{alg}, "", ""
}

// parameters checks the parameters of a key by its type. Octet key pairs (RFC 8037) have
// other curves for signatures than for encryption.
func parameters(key map[string]any, octetKeyPair func(map[string]any) ([]string, string, string)) (algorithms []string, member, wrong string) {
	switch key["kty"] {
	case "EC":
		return ecKey(key)
	case "RSA":
		return rsaKey(key)
	case "OKP":
		return octetKeyPair(key)
	}
	return nil, "kty", `expected "EC", "RSA" or "OKP"`
}

// publicFault returns faults of any kind of key: a private half, and members that are not
// strings.
func publicFault(key map[string]any) (member, wrong string) {
	for _, secret := range []string{"d", "p", "q", "dp", "dq", "qi", "oth", "k"} {
		if _, has := key[secret]; has {
			return secret, "this member is part of a private key; make a new key, because this one is exposed, and register the public half only"
		}
	}
	for _, name := range []string{"kid", "use", "alg"} {
		if _, isText := key[name].(string); key[name] != nil && !isText {
			return name, "expected a string"
		}
	}
	return "", ""
}

// number decodes a member that is a big-endian number in base64url.
func number(key map[string]any, member string) ([]byte, bool) {
	text, _ := key[member].(string)
	raw, err := base64.RawURLEncoding.DecodeString(text)
	return raw, err == nil && len(raw) > 0
}

func ecKey(key map[string]any) (algorithms []string, member, wrong string) {
	curves := map[string]struct {
		elliptic.Curve
		alg string
	}{"P-256": {elliptic.P256(), "ES256"}, "P-384": {elliptic.P384(), "ES384"}, "P-521": {elliptic.P521(), "ES512"}}
	name, _ := key["crv"].(string)
	curve, known := curves[name]
	if !known {
		return nil, "crv", fmt.Sprintf(`expected "P-256", "P-384" or "P-521", got %.64q`, name)
	}
	point := []byte{4} // uncompressed: SEC 1 §2.3.3
	for _, member := range []string{"x", "y"} {
		n, ok := number(key, member)
		if size := (curve.Params().BitSize + 7) / 8; !ok || len(n) != size {
			return nil, member, fmt.Sprintf("expected %d bytes in base64url without padding", size)
		}
		point = append(point, n...)
	}
	if _, err := ecdsa.ParseUncompressedPublicKey(curve.Curve, point); err != nil {
		return nil, "x", "x and y are not a point on the curve " + name
	}
	return []string{curve.alg}, "", ""
}

// The bounds of an RSA key in bits: smaller keys can be broken, and larger ones are too
// expensive to verify.
const (
	minRSABits = 2048
	maxRSABits = 4096
)

func rsaKey(key map[string]any) (algorithms []string, member, wrong string) {
	raw, ok := number(key, "n")
	if bits := new(big.Int).SetBytes(raw).BitLen(); !ok || bits < minRSABits || bits > maxRSABits {
		return nil, "n", fmt.Sprintf("expected a modulus of %d to %d bits in base64url without padding, got %d bits", minRSABits, maxRSABits, bits)
	}
	raw, ok = number(key, "e")
	if e := new(big.Int).SetBytes(raw); !ok || e.BitLen() < 2 || e.BitLen() > 31 || e.Bit(0) == 0 {
		return nil, "e", "expected an odd exponent from 3 to 2147483647 in base64url without padding, such as AQAB"
	}
	return strings.Fields("RS256 RS384 RS512 PS256 PS384 PS512"), "", ""
}

func edwardsKey(key map[string]any) (algorithms []string, member, wrong string) {
	if key["crv"] != "Ed25519" {
		return nil, "crv", `expected "Ed25519"`
	}
	member, wrong = octetPoint(key)
	return []string{"EdDSA", "Ed25519"}, member, wrong
}

func agreementKey(key map[string]any) (algorithms []string, member, wrong string) {
	if key["crv"] != "X25519" {
		return nil, "crv", `expected "X25519": an encryption key has no signature curve`
	}
	member, wrong = octetPoint(key)
	return nil, member, wrong
}

func octetPoint(key map[string]any) (member, wrong string) {
	if x, ok := number(key, "x"); !ok || len(x) != 32 {
		return "x", "expected 32 bytes in base64url without padding"
	}
	return "", ""
}
