package token

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"fmt"

	"github.com/postern-id/postern/schemas"
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

// sealKey seals a private key: PKCS #8 (RFC 5958), with the key's id as owner, so that write
// access to the store does not suffice to replace one key with another.
func sealKey(c *Cipher, id string, private crypto.Signer) ([]byte, error) {
	text, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, fmt.Errorf("token: writing a signing key: %w", err)
	}
	return c.Seal(text, id), nil
}

// openKey opens the private key of a stored key.
func openKey(c *Cipher, k schemas.SigningKey) (crypto.Signer, error) {
	text, err := c.Open(k.Private, k.ID)
	if err != nil {
		return nil, fmt.Errorf("token: the signing key %s cannot be opened: "+
			"expected the key-encryption key that it was sealed with; restore that key from your backup of the keys", k.ID)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(text)
	if err != nil {
		return nil, fmt.Errorf("token: reading the signing key %s: %w", k.ID, err)
	}
	private, ok := matchKey(k.Algorithm, parsed)
	if !ok {
		return nil, fmt.Errorf("token: the signing key %s is stored for %s but does not fit it: the store was changed by hand", k.ID, k.Algorithm)
	}
	return private, nil
}
