package main

import (
	"errors"

	"github.com/postern-id/postern/internal/token"
)

// boxes seal what is kept, each with keys of its own. What they seal in the store is
// listed in sealedColumns.
type boxes struct {
	devices    *token.Box // who has signed in with a browser
	factors    *token.Box // the keys of authenticator apps
	providers  *token.Box // the secrets that identity providers know this server by
	deliveries *token.Box // what is to be sent
	runs       *token.Box // what runs know
	sessions   *token.Box // what ceremonies at the passkey endpoints know
}

// newBoxes derives the keys from the key-encryption keys.
func newBoxes(e *encryption) (b boxes, err error) {
	for purpose, kind := range map[string]struct {
		box    **token.Box
		newBox func(keys ...[]byte) (*token.Box, error)
	}{
		"totp":               {&b.factors, token.NewBox},
		"identity providers": {&b.providers, token.NewBox},
		"deliveries":         {&b.deliveries, token.NewBox},
		"runs":               {&b.runs, token.NewBusyBox},
		"passkey sessions":   {&b.sessions, token.NewBusyBox},
	} {
		made, failed := kind.newBox(deriveEach(e.keys, purpose)...)
		*kind.box, err = made, errors.Join(err, failed)
	}
	made, failed := token.NewBox(e.derived[forDevices])
	b.devices = made
	return b, errors.Join(err, failed)
}
