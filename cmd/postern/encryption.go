package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/schemas"
)

// encryption is the key-encryption keys of a process, and the stored keys that were derived
// from one of them.
type encryption struct {
	keys    [][]byte          // the first seals, all open
	derived map[string][]byte // by purpose
}

// The purposes of stored derived keys. Others have their results, or their results must not change,
// so these keys must survive a change of the key-encryption key.
const (
	purposeRefreshTokens = "refresh tokens"
	purposeDevices       = "devices" // the cookie of a browser with earlier sign-ins
	purposeDecoys        = "decoys"
	purposeAudit         = "audit"          // digests in the audit log
	purposeGuesses       = "failed guesses" // digests of the names in failed guesses
)

func derivedPurposes() []string {
	return []string{purposeRefreshTokens, purposeDevices, purposeDecoys, purposeAudit, purposeGuesses}
}

// loadEncryption reads the key-encryption keys and the derived keys. It records in the
// store that this server has them.
func (h *app) loadEncryption(ctx context.Context) error {
	sealed, err := h.store.SigningKeys(ctx)
	if err != nil {
		return err
	}
	keys, err := h.keyEncryptionKeys(len(sealed) > 0)
	if err != nil {
		return err
	}
	origin, err := h.originalKey(keys, sealed)
	if err != nil {
		return err
	}
	h.encryption.keys = keys
	// In one transaction, so that a starting server and a concurrent change of the keys
	// cannot miss each other.
	err = h.store.Update(ctx, func(t *store.Tx) (err error) {
		if h.isServer {
			if err := h.store.PutInstanceKeys(t, instanceKeys(keys), time.Now().UTC()); err != nil {
				return err
			}
		}
		h.encryption.derived, err = loadDerived(ctx, t, keys, origin)
		return err
	})
	if err != nil {
		return err
	}
	h.chain = h.store.EventChain(h.encryption.derived[purposeAudit])
	h.chain.Late = h.reportLate
	return nil
}

// instanceKeys describes the keys of this process to other processes.
func instanceKeys(keys [][]byte) store.InstanceKeys {
	k := store.InstanceKeys{StartedAt: time.Now().UTC()}
	k.Host, _ = os.Hostname() // for display only
	for _, key := range keys {
		k.Keys = append(k.Keys, token.KeyID(key))
	}
	return k
}

// keyEncryptionKeys reads the keys that seal all others. It generates a key for an empty
// store only: in a store with sealed values a new key would open nothing, and would replace
// the key that has to be restored.
func (h *app) keyEncryptionKeys(storeHasKeys bool) ([][]byte, error) {
	if text := lookupEnv(h.cfg.Environ, token.KeyVariable); text != "" {
		keys, err := token.ParseKeys(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", token.KeyVariable, err)
		}
		return keys, nil
	}
	keys, err := token.ReadKeyFile(h.cfg.Keys.File)
	if !errors.Is(err, fs.ErrNotExist) {
		return keys, err
	}
	if storeHasKeys {
		return nil, fmt.Errorf("the key that opens this store's signing keys is missing: restore %s from your backup of the keys, or set %s", h.cfg.Keys.File, token.KeyVariable)
	}
	return token.ReadOrMakeKeyFile(h.cfg.Keys.File)
}

// originalKey returns the key that the store's signing keys were sealed with. Keys that
// open none of them are an error, before they seal anything.
func (h *app) originalKey(keys [][]byte, sealed []schemas.SigningKey) ([]byte, error) {
	if len(sealed) == 0 {
		return keys[0], nil
	}
	for _, key := range keys {
		box, err := token.NewCipher(key)
		if err != nil {
			return nil, err
		}
		if _, err := box.Open(sealed[0].Private, sealed[0].ID); err == nil {
			return key, nil
		}
	}
	return nil, fmt.Errorf("the key-encryption key in %s does not open this store's signing keys: expected the key that they were sealed with; restore it from your backup of the keys",
		cmp.Or(h.cfg.Keys.File, token.KeyVariable))
}

// loadDerived returns the derived keys by purpose. It stores a missing one, derived from
// the original key as earlier versions derived it at each start.
func loadDerived(ctx context.Context, t *store.Tx, keys [][]byte, origin []byte) (map[string][]byte, error) {
	kept, err := store.DerivedKeys(ctx, t)
	if err != nil {
		return nil, err
	}
	box, err := derivedCipher(keys...)
	if err != nil {
		return nil, err
	}
	derived := map[string][]byte{}
	for _, k := range kept {
		if derived[k.Purpose], err = box.Open(k.Sealed, derivedOwner(k.Purpose)); err != nil {
			return nil, fmt.Errorf("the key for %s cannot be opened: restore the key-encryption key that it was sealed with from your backup of the keys", k.Purpose)
		}
	}
	for _, purpose := range derivedPurposes() {
		if derived[purpose] != nil {
			continue
		}
		derived[purpose] = token.Derive(origin, purpose, 32)
		if err := storeDerivedKey(t, origin, purpose, derived[purpose]); err != nil {
			return nil, err
		}
	}
	return derived, nil
}

// storeDerivedKey stores a derived key, sealed with a key-encryption key.
func storeDerivedKey(t *store.Tx, kek []byte, purpose string, key []byte) error {
	box, err := derivedCipher(kek)
	if err != nil {
		return err
	}
	return store.PutDerivedKey(t, store.DerivedKey{Purpose: purpose, Sealed: box.Seal(key, derivedOwner(purpose)), CreatedAt: time.Now().UTC()})
}

// derivedCipher returns the cipher of the derived keys.
func derivedCipher(keys ...[]byte) (*token.Cipher, error) {
	return token.NewCipher(deriveEach(keys, "derived keys")...)
}

func derivedOwner(purpose string) string { return "derived key " + purpose }

// deriveEach derives a key for a purpose from each key-encryption key.
func deriveEach(keys [][]byte, purpose string) (derived [][]byte) {
	for _, key := range keys {
		derived = append(derived, token.Derive(key, purpose, 32))
	}
	return derived
}

// newestKey returns the key that seals.
func (e *encryption) newestKey() []byte { return e.keys[0] }
