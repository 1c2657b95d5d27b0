package token

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"

	"golang.org/x/crypto/chacha20poly1305"
)

// Cipher encrypts data for storage or for transport through others, with a random nonce
// before the ciphertext. The owner of a text is authenticated along with it, so that a text
// cannot be moved to another owner. The first key seals, and all keys open.
type Cipher struct{ aeads []cipher.AEAD }

// NewCipher returns a cipher of one or more keys of 32 bytes, such as those of Derive. It
// seals with AES-256-GCM, which is safe for 2^32 texts per key (NIST SP 800-38D §8.3).
func NewCipher(keys ...[]byte) (*Cipher, error) {
	return newCipher(keys, func(key []byte) (cipher.AEAD, error) {
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, err
		}
		return cipher.NewGCMWithRandomNonce(block)
	})
}

// NewFrequentCipher returns a cipher for data that is sealed frequently, such as every step
// of every sign-in. It uses XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha-03), whose 192-bit
// random nonces are safe for any number of texts. It does not open what NewCipher's sealed.
func NewFrequentCipher(keys ...[]byte) (*Cipher, error) {
	return newCipher(keys, chacha20poly1305.NewX)
}

func newCipher(keys [][]byte, newAEAD func(key []byte) (cipher.AEAD, error)) (*Cipher, error) {
	if len(keys) == 0 {
		return nil, errors.New("token: a cipher needs a key")
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

// Seal seals a text for the owner belongs.
func (b *Cipher) Seal(text []byte, belongs string) []byte {
	aead := b.aeads[0]
	size := aead.NonceSize() // 0 if the AEAD generates its nonces
	nonce := make([]byte, size, size+len(text)+aead.Overhead())
	rand.Read(nonce) // never fails
	return aead.Seal(nonce, nonce, text, []byte(belongs))
}

// Open returns the text that one of the keys sealed for the same owner. Its error reveals
// neither.
func (b *Cipher) Open(sealed []byte, belongs string) ([]byte, error) {
	text, _, err := b.open(sealed, belongs)
	return text, err
}

// open also returns the index of the key that opened the text.
func (b *Cipher) open(sealed []byte, belongs string) (text []byte, key int, err error) {
	for key, aead := range b.aeads {
		if size := aead.NonceSize(); len(sealed) >= size {
			if text, err := aead.Open(nil, sealed[:size], sealed[size:], []byte(belongs)); err == nil {
				return text, key, nil
			}
		}
	}
	return nil, 0, errors.New("token: sealed data cannot be opened: expected the key that sealed it")
}

// Reseal seals again, with the first key, what another key has sealed. It returns what the
// first key has sealed unchanged.
func (b *Cipher) Reseal(sealed []byte, belongs string) ([]byte, error) {
	text, key, err := b.open(sealed, belongs)
	if err != nil || key == 0 {
		return sealed, err
	}
	return b.Seal(text, belongs), nil
}
