package token

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"

	"golang.org/x/crypto/chacha20poly1305"
)

// Box seals what is secret for as long as it is kept, or in other hands, with a
// random nonce before the ciphertext. What a text belongs to is authenticated along
// with it, so that it cannot be passed off as another.
type Box struct{ aead cipher.AEAD }

// NewBox returns the box of a key of 32 bytes, such as Derive makes one. It seals
// with AES-256-GCM, and is good for 2^32 texts (NIST SP 800-38D §8.3).
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

// NewBusyBox returns a box for what is sealed all the time, such as every step of
// every sign-in: with XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha-03), whose nonces
// of 192 bits may be random for any number of texts. A Box of the other kind does
// not open what it seals.
func NewBusyBox(key []byte) (*Box, error) {
	aead, err := chacha20poly1305.NewX(key)
	if err != nil {
		return nil, fmt.Errorf("token: the key that seals has %d bytes, expected %d: %w", len(key), chacha20poly1305.KeySize, err)
	}
	return &Box{aead}, nil
}

// Seal seals a text that belongs to something.
func (b *Box) Seal(text []byte, belongs string) []byte {
	size := b.aead.NonceSize() // 0 where the AEAD makes its nonces itself
	nonce := make([]byte, size, size+len(text)+b.aead.Overhead())
	rand.Read(nonce) // never fails
	return b.aead.Seal(nonce, nonce, text, []byte(belongs))
}

// Open returns the text that was sealed as belonging to the same, with the same
// key. Its error tells nothing of either.
func (b *Box) Open(sealed []byte, belongs string) ([]byte, error) {
	if size := b.aead.NonceSize(); len(sealed) >= size {
		if text, err := b.aead.Open(nil, sealed[:size], sealed[size:], []byte(belongs)); err == nil {
			return text, nil
		}
	}
	return nil, errors.New("token: what is sealed cannot be opened: expected the key that it was sealed with")
}
