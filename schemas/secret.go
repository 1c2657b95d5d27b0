package schemas

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
)

// SecretLength is how long the text of NewSecret is, in bytes.
const SecretLength = 43

// NewSecret returns 256 random bits as base64url without padding: a token, a code or a client
// secret.
func NewSecret() string {
	b := make([]byte, sha256.Size)
	_, _ = rand.Read(b) // never fails: see crypto/rand.Read
	return base64.RawURLEncoding.EncodeToString(b)
}

// HashSecret returns the stored form of such a secret, its SHA-256: a reader of the store cannot
// use it. A plain hash is enough, because the secret cannot be guessed.
func HashSecret(secret string) []byte {
	hash := sha256.Sum256([]byte(secret))
	return hash[:]
}
