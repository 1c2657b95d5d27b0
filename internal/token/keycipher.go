package token

import (
	"crypto"
	"crypto/x509"
	"fmt"

	"github.com/postern-id/postern/schemas"
)

// keyCipher seals and opens private keys: PKCS #8 (RFC 5958) in a Cipher, with the key's id
// as owner, so that write access to the store does not suffice to replace one key with
// another.
type keyCipher struct{ cipher *Cipher }

func newKeyCipher(keks [][]byte) (*keyCipher, error) {
	box, err := NewCipher(keks...)
	if err != nil {
		return nil, err
	}
	return &keyCipher{box}, nil
}

func (s *keyCipher) close(id string, private crypto.Signer) ([]byte, error) {
	text, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, fmt.Errorf("token: writing a signing key: %w", err)
	}
	return s.cipher.Seal(text, id), nil
}

func (s *keyCipher) open(k schemas.SigningKey) (crypto.Signer, error) {
	text, err := s.cipher.Open(k.Private, k.ID)
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
