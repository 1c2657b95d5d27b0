package main

import (
	"errors"

	"github.com/postern-id/postern/internal/token"
)

// ciphers encrypt data, each with keys of its own. sealedColumns lists their columns in the
// store.
type ciphers struct {
	devices    *token.Cipher // which users have signed in with a browser
	factors    *token.Cipher // the keys of authenticator apps
	providers  *token.Cipher // the client secrets of identity providers
	deliveries *token.Cipher // the bodies of deliveries
	runs       *token.Cipher // the state of runs
	sessions   *token.Cipher // the state of ceremonies at the passkey endpoints
}

// newCiphers derives the keys from the key-encryption keys.
func newCiphers(e *encryption) (b ciphers, err error) {
	for purpose, kind := range map[string]struct {
		box    **token.Cipher
		newBox func(keys ...[]byte) (*token.Cipher, error)
	}{
		"totp":               {&b.factors, token.NewCipher},
		"identity providers": {&b.providers, token.NewCipher},
		"deliveries":         {&b.deliveries, token.NewCipher},
		"runs":               {&b.runs, token.NewFrequentCipher},
		"passkey sessions":   {&b.sessions, token.NewFrequentCipher},
	} {
		made, failed := kind.newBox(deriveEach(e.keys, purpose)...)
		*kind.box, err = made, errors.Join(err, failed)
	}
	made, failed := token.NewCipher(e.derived[purposeDevices])
	b.devices = made
	return b, errors.Join(err, failed)
}
