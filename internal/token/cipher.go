package token

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"

	"golang.org/x/crypto/chacha20poly1305"
)

// Cipher seals what is secret for as long as it is kept, or in other hands, with a
// random nonce before the ciphertext. What a text belongs to is authenticated along
// with it, so that it cannot be passed off as another. It seals with its first key and
// opens with all of them.
type Cipher struct{ aeads []cipher.AEAD }

// NewCipher returns the box of one or more keys of 32 bytes, such as Derive makes. It
// seals with AES-256-GCM, and is good for 2^32 texts per key (NIST SP 800-38D §8.3).
func NewCipher(keys ...[]byte) (*Cipher, error) {
	return newCipher(keys, func(key []byte) (cipher.AEAD, error) {
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, err
		}
		return cipher.NewGCMWithRandomNonce(block)
	})
}

// NewFrequentCipher returns a box for what is sealed all the time, such as every step of
// every sign-in: with XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha-03), whose nonces
// of 192 bits may be random for any number of texts. A Cipher of the other kind does
// not open what it seals.
func NewFrequentCipher(keys ...[]byte) (*Cipher, error) {
	return newCipher(keys, chacha20poly1305.NewX)
}

func newCipher(keys [][]byte, newAEAD func(key []byte) (cipher.AEAD, error)) (*Cipher, error) {
	if len(keys) == 0 {
		return nil, errors.New("token: a box needs a key")
	}
	box := &Cipher{}
	for _, key := range keys {
		if len(key) != kekSize {
			return nil, fmt.Errorf("token: the key that seals has %d bytes, expected %d", len(key), kekSize)
		}
		aead, err := newAEAD(key)
		if err != nil {
			return nil, fmt.Errorf("token: %w", err)
		}
		box.aeads = append(box.aeads, aead)
	}
	return box, nil
}

// Seal seals a text that belongs to something.
func (b *Cipher) Seal(text []byte, belongs string) []byte {
	aead := b.aeads[0]
	size := aead.NonceSize() // 0 where the AEAD makes its nonces itself
	nonce := make([]byte, size, size+len(text)+aead.Overhead())
	rand.Read(nonce) // never fails
	return aead.Seal(nonce, nonce, text, []byte(belongs))
}

// Open returns the text that was sealed as belonging to the same, with one of the
// keys. Its error contains nothing of either.
func (b *Cipher) Open(sealed []byte, belongs string) ([]byte, error) {
	text, _, err := b.open(sealed, belongs)
	return text, err
}

// open also returns which key opens the text.
func (b *Cipher) open(sealed []byte, belongs string) (text []byte, key int, err error) {
	for key, aead := range b.aeads {
		if size := aead.NonceSize(); len(sealed) >= size {
			if text, err := aead.Open(nil, sealed[:size], sealed[size:], []byte(belongs)); err == nil {
				return text, key, nil
			}
		}
	}
	return nil, 0, errors.New("token: what is sealed cannot be opened: expected the key that it was sealed with")
}

// Reseal returns what an older key has sealed, sealed with the first key; what the
// first key has sealed it returns as it is.
func (b *Cipher) Reseal(sealed []byte, belongs string) ([]byte, error) {
	text, key, err := b.open(sealed, belongs)
	if err != nil || key == 0 {
		return sealed, err
	}
	return b.Seal(text, belongs), nil
}
