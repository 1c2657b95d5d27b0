package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/token"
)

// encryption is the key-encryption keys of a process, and the keys that were derived
// from one of them.
type encryption struct {
	keys    [][]byte          // the first seals, all open
	derived map[string][]byte // by purpose
}

// Purposes of derived keys that are kept. What they make is in other hands, or must stay
// the same: it cannot be made again when the key-encryption key changes.
const (
	purposeRefreshTokens = "refresh tokens"
	purposeDevices       = "devices" // the cookie of a browser in which users have signed in
	purposeDecoys        = "decoys"
	purposeAudit         = "audit"          // digests in the audit log
	purposeGuesses       = "failed guesses" // digests of the names that are guessed at
)

func derivedPurposes() []string {
	return []string{purposeRefreshTokens, purposeDevices, purposeDecoys, purposeAudit, purposeGuesses}
}

// loadEncryption reads the key-encryption keys and those derived from them. That a
// server has these keys is noted in the store.
func (h *app) loadEncryption(ctx context.Context) error {
	keys, err := h.keyEncryptionKeys(ctx)
	if err != nil {
		return err
	}
	origin, err := h.originalKey(ctx, keys)
	if err != nil {
		return err
	}
	h.encryption.keys = keys
	// In one transaction, so that of a server that starts and a change of the keys that is
	// under way one sees the other.
	return h.store.Update(ctx, func(t *store.Tx) (err error) {
		if h.serves {
			if err := h.store.PutInstanceKeys(t, instanceKeys(keys), time.Now().UTC()); err != nil {
				return err
			}
		}
		h.encryption.derived, err = loadDerived(ctx, t, keys, origin)
		return err
	})
}

// instanceKeys are the keys of this process, as the others know them.
func instanceKeys(keys [][]byte) store.InstanceKeys {
	k := store.InstanceKeys{StartedAt: time.Now().UTC()}
	k.Host, _ = os.Hostname() // it is shown, no more
	for _, key := range keys {
		k.Keys = append(k.Keys, token.KeyID(key))
	}
	return k
}

// keyEncryptionKeys reads the keys that seal all others. One is made for an empty store
// only: for a store with sealed values a new key opens nothing, and would be in the
// place of the one that must be restored.
func (h *app) keyEncryptionKeys(ctx context.Context) ([][]byte, error) {
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
	sealed, err := h.store.SigningKeys(ctx)
	if err != nil {
		return nil, err
	}
	if len(sealed) > 0 {
		return nil, fmt.Errorf("the key that opens this store's signing keys is missing: restore %s from your backup of the keys, or set %s", h.cfg.Keys.File, token.KeyVariable)
	}
	return token.ReadOrMakeKeyFile(h.cfg.Keys.File)
}

// originalKey returns the key that the store's signing keys were sealed with. Keys that
// open none of them are an error, before anything is written by them.
func (h *app) originalKey(ctx context.Context, keys [][]byte) ([]byte, error) {
	sealed, err := h.store.SigningKeys(ctx)
	if err != nil || len(sealed) == 0 {
		return keys[0], err
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

// loadDerived returns the derived keys by their purposes. One that is not kept yet is
// derived from the original key, as earlier versions derived it at each start, and kept.
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

// storeDerivedKey keeps a derived key, sealed with a key-encryption key.
func storeDerivedKey(t *store.Tx, kek []byte, purpose string, key []byte) error {
	box, err := derivedCipher(kek)
	if err != nil {
		return err
	}
	return store.PutDerivedKey(t, store.DerivedKey{Purpose: purpose, Sealed: box.Seal(key, derivedOwner(purpose)), CreatedAt: time.Now().UTC()})
}

// derivedCipher seals the derived keys.
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

// newestKey is the key that seals.
func (e *encryption) newestKey() []byte { return e.keys[0] }

// hasKey reports whether an instance opens what the key seals.
func hasKey(i store.InstanceKeys, key []byte) bool { return slices.Contains(i.Keys, token.KeyID(key)) }

// sealsWith reports whether an instance seals with the key.
func sealsWith(i store.InstanceKeys, key []byte) bool {
	return len(i.Keys) > 0 && i.Keys[0] == token.KeyID(key)
}

// sameKeys reports whether both are the same keys in the same order.
func sameKeys(a, b [][]byte) bool {
	return bytes.Equal(bytes.Join(a, nil), bytes.Join(b, nil))
}
