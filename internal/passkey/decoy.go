package passkey

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// Decoy returns the credential id to offer for a name that no user has, or
// whose user has no passkey: 32 bytes that look random, are the same each time
// the name is tried, and cannot be foreseen without the secret. Letter case
// and surrounding spaces of the name make no difference.
//
// The secret must last as long as the server's data: a decoy that changes
// tells that it is one. Use at least 32 random bytes, the same on every
// instance.
func Decoy(secret []byte, name string) schemas.Bytes {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte("passkey decoy\x00"))
	mac.Write([]byte(strings.ToLower(strings.TrimSpace(name))))
	return mac.Sum(nil)
}

// decoyKey is the public key that answers to decoys are verified against, for
// the time it takes. It is the generator of P-256, whose private key is 1: that
// somebody can sign for it does not matter, because a decoy is refused
// whatever the signature.
func decoyKey() schemas.Bytes {
	key, _ := hex.DecodeString("a5010203262001" +
		"2158206b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296" +
		"2258204fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5")
	return key
}
