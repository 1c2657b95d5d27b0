package token

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"fmt"
)

// The JWS algorithms (RFC 7518 §3.1) that tokens are signed with.
const (
	// ES256 is ECDSA with P-256 and SHA-256. It signs assertions, access tokens, and the ID
	// tokens of clients that request it.
	ES256 = "ES256"
	// RS256 is RSASSA-PKCS1-v1_5 with SHA-256. Every OpenID Connect client supports it
	// (Core §15.1), so it is the default for ID tokens.
	RS256 = "RS256"
)

// algorithms lists all algorithms, the one that is needed first before the other.
func algorithms() []string { return []string{ES256, RS256} }

// rsaBits is the size of RSA keys. RFC 7518 §3.3 requires no less, and larger keys would
// make each signature several times as expensive.
const rsaBits = 2048

// generateKey makes a key pair for an algorithm. RS256 takes some tenths of a second.
func generateKey(algorithm string) (crypto.Signer, error) {
	switch algorithm {
	case ES256:
		return ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case RS256:
		return rsa.GenerateKey(rand.Reader, rsaBits)
	}
	return nil, fmt.Errorf("token: cannot generate a key for the algorithm %q", algorithm)
}

// matchKey returns the key pair if it fits the algorithm.
func matchKey(algorithm string, private any) (crypto.Signer, bool) {
	switch key := private.(type) {
	case *ecdsa.PrivateKey:
		return key, algorithm == ES256 && key.Curve == elliptic.P256()
	case *rsa.PrivateKey:
		return key, algorithm == RS256 && key.N.BitLen() >= rsaBits
	}
	return nil, false
}
