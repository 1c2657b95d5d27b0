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
	// ES256 is ECDSA with P-256 and SHA-256. Assertions and access tokens are
	// signed with it, and ID tokens of clients that want that.
	ES256 = "ES256"
	// RS256 is RSASSA-PKCS1-v1_5 with SHA-256: what every client of OpenID Connect
	// can check (Core §15.1), and what ID tokens are signed with by default.
	RS256 = "RS256"
)

// algorithms are all of them, the one that is needed first before the other.
func algorithms() []string { return []string{ES256, RS256} }

// rsaBits is the size of RSA keys: RFC 7518 §3.3 asks for no less, and more
// would make each signature several times as dear.
const rsaBits = 2048

// generate makes a key pair for an algorithm. For RS256 that takes some tenths
// of a second.
func generate(algorithm string) (crypto.Signer, error) {
	switch algorithm {
	case ES256:
		return ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case RS256:
		return rsa.GenerateKey(rand.Reader, rsaBits)
	}
	return nil, fmt.Errorf("token: no key can be made for the algorithm %q", algorithm)
}

// keyFor returns the key pair if it is one that the algorithm needs.
func keyFor(algorithm string, private any) (crypto.Signer, bool) {
	switch key := private.(type) {
	case *ecdsa.PrivateKey:
		return key, algorithm == ES256 && key.Curve == elliptic.P256()
	case *rsa.PrivateKey:
		return key, algorithm == RS256 && key.N.BitLen() >= rsaBits
	}
	return nil, false
}
