package token

import (
	"crypto"
	"crypto/x509"
	"fmt"

	"github.com/postern-id/postern/schemas"
)

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
