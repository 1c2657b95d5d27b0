package main

import (
	"errors"

	"github.com/postern-id/postern/internal/token"
)

// ciphers seal what is kept, each with keys of its own. What they seal in the store is
// listed in sealedColumns.
type ciphers struct {
	devices    *token.Cipher // who has signed in with a browser
	factors    *token.Cipher // the keys of authenticator apps
	providers  *token.Cipher // the secrets that identity providers know this server by
	deliveries *token.Cipher // what is to be sent
	runs       *token.Cipher // what runs know
	sessions   *token.Cipher // what ceremonies at the passkey endpoints know
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
