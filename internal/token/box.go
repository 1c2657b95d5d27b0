package token

import (
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"fmt"
)

// Box seals what is secret for as long as it is kept, or in other hands:
// AES-256-GCM with a random nonce before the ciphertext. What a text belongs to is
// authenticated along with it, so that it cannot be passed off as another. A key is
// good for 2^32 texts (NIST SP 800-38D §8.3).
type Box struct{ aead cipher.AEAD }

// NewBox returns the box of a key of 32 bytes, such as Derive makes one.
func NewBox(key []byte) (*Box, error) {
	if len(key) != kekSize {
		return nil, fmt.Errorf("token: the key that seals has %d bytes, expected %d", len(key), kekSize)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("token: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("token: %w", err)
	}
	return &Box{aead}, nil
}

// Seal seals a text that belongs to something.
func (b *Box) Seal(text []byte, belongs string) []byte {
	return b.aead.Seal(nil, nil, text, []byte(belongs))
}

// Open returns the text that was sealed as belonging to the same, with the same
// key. Its error tells nothing of either.
func (b *Box) Open(sealed []byte, belongs string) ([]byte, error) {
	text, err := b.aead.Open(nil, nil, sealed, []byte(belongs))
	if err != nil {
		return nil, errors.New("token: what is sealed cannot be opened: expected the key that it was sealed with")
	}
	return text, nil
}
