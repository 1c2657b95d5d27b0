package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/postern-id/postern/internal/delivery"
	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
)

type keysReencryptCommand struct {
	Config      string `type:"path" help:"The configuration file of the local server."`
	NewKey      bool   `help:"Generate a key-encryption key and put it before the old one in the key file."`
	DropOldKeys bool   `help:"Afterwards, remove the old keys from the key file. Fails while a running server still encrypts with another key."`
	Compromised bool   `help:"If the old key leaked: also replace the keys derived from it. Users have to sign in again in apps that hold refresh tokens. Every server must be stopped."`
}

// Run seals again, with the newest key-encryption key, everything that older ones have
// sealed. It can be interrupted and run again: at any time each value is sealed with some
// key of the key file.
func (c keysReencryptCommand) Run(ctx context.Context, p program) error {
	h, err := p.openLocal(ctx, c.Config)
	if err != nil {
		return err
	}
	if c.NewKey {
		err := h.addKey()
		h.close()
		if err != nil {
			return err
		}
		if h, err = p.openLocal(ctx, c.Config); err != nil {
			return err
		}
	}
	defer h.close()
	progress := p.startProgress("re-encrypting")
	done, err := c.reencrypt(ctx, h)
	progress.stop()
	if err != nil {
		return err
	}
	if c.Compromised {
		if err := c.replaceDerived(ctx, h); err != nil {
			return err
		}
		if err := h.loadEncryption(ctx); err != nil { // the further events have the new key
			return err
		}
	}
	if err := writeReencrypted(p.stdout, done); err != nil {
		return err
	}
	return c.finish(ctx, p, h)
}

// addKey generates a new key-encryption key and puts it first in the key file.
func (h *app) addKey() error {
	path := h.cfg.Keys.File
	switch {
	case path == "":
		return fmt.Errorf("the key-encryption key is in %s: generate a key with `openssl rand -base64 32` and put it there before the old one, separated by a comma", token.KeyVariable)
	case len(h.encryption.keys) > 1:
		return fmt.Errorf("%s already contains an old key, so a change is in progress: finish it with `postern keys re-encrypt --drop-old-keys` first", path)
	}
	return replaceKeys(path, append([][]byte{token.NewKeyEncryptionKey()}, h.encryption.keys...))
}

// replaceKeys replaces the keys in a file, which keeps its owner; a new one gets that of its folder.
func replaceKeys(path string, keys [][]byte) error {
	give := ownerOf(path)
	err := token.ReplaceKeyFile(path, keys)
	give(path)
	return err
}

// finish removes the old keys from the key file, or prints how to.
func (c keysReencryptCommand) finish(ctx context.Context, p program, h *app) error {
	newest, path := h.encryption.newestKey(), h.cfg.Keys.File
	fmt.Fprintf(p.stdout, "\nEverything is sealed with the key %s.\n", token.KeyID(newest))
	switch {
	case len(h.encryption.keys) == 1:
	case path == "":
		fmt.Fprintf(p.stdout, "Remove the other keys from %s once every server has been restarted with the new one in front.\n", token.KeyVariable)
	case !c.DropOldKeys:
		fmt.Fprintf(p.stdout, "%s still has the old key. Restart the servers, then remove it with: postern keys re-encrypt --drop-old-keys\n", path)
	default:
		if err := c.checkOtherInstances(ctx, h, h.store); err != nil {
			return err
		}
		if err := h.dropOldKeys(); err != nil {
			return err
		}
		fmt.Fprintf(p.stdout, "%s contains no other key. Keep the old key as long as you keep older backups: only it opens them.\n", path)
	}
	return nil
}

// dropOldKeys removes all keys but the newest from the key file.
func (h *app) dropOldKeys() error {
	now, err := token.ReadKeyFile(h.cfg.Keys.File)
	if err != nil {
		return err
	}
	if !slices.EqualFunc(now, h.encryption.keys, bytes.Equal) {
		return fmt.Errorf("%s was changed meanwhile: run the command again", h.cfg.Keys.File)
	}
	return replaceKeys(h.cfg.Keys.File, now[:1])
}

// checkOtherInstances checks the other processes on the store: whether the command may
// continue while they run.
func (c keysReencryptCommand) checkOtherInstances(ctx context.Context, h *app, r store.Reader) error {
	others, err := h.store.OtherInstances(ctx, r, time.Now())
	if err != nil {
		return err
	}
	newest := token.KeyID(h.encryption.newestKey())
	var wrong []string
	for _, i := range others {
		if at := slices.Index(i.Keys, newest); c.Compromised || at < 0 || c.DropOldKeys && at > 0 {
			wrong = append(wrong, fmt.Sprintf("host %s (started %s)", i.Host, formatTime(i.StartedAt)))
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	fault, fix := "do not encrypt with the newest key", fmt.Sprintf("restart them so that they read %s, or stop them", cmp.Or(h.cfg.Keys.File, token.KeyVariable))
	if c.Compromised {
		fault, fix = "are running, and would use the compromised key", "stop them"
	}
	return fmt.Errorf("%d server(s) %s: %s; %s, and run this command again (a killed server counts as running for %v)",
		len(wrong), fault, strings.Join(wrong, ", "), fix, store.InstanceTTL)
}

// reencryptedColumn is the result for the values of a kind.
type reencryptedColumn struct {
	name string
	store.Resealed
}

// reencrypt seals again all values that an older key has sealed. The keys that every server
// needs to start come first, in the transaction that checks the other processes: a process
// with only an old key either runs already and is found, or can no longer start.
func (c keysReencryptCommand) reencrypt(ctx context.Context, h *app) (done []reencryptedColumn, err error) {
	needed, err := h.startColumns()
	if err != nil {
		return nil, err
	}
	err = h.store.Update(ctx, func(t *store.Tx) error {
		if err := c.checkOtherInstances(ctx, h, t); err != nil {
			return err
		}
		changed := 0
		done = nil // the transaction may be repeated
		for _, sealed := range needed {
			counts, err := store.ResealIn(ctx, t, sealed.column, sealed.cipher)
			if err != nil {
				return err
			}
			changed += counts.Changed
			done = append(done, reencryptedColumn{sealed.name, counts})
		}
		if changed == 0 {
			return nil
		}
		return recordKeyChange(t, h.encryption.newestKey(), nil)
	})
	if err != nil {
		return nil, err
	}
	for _, sealed := range h.sealedColumns() {
		counts, err := h.store.Reseal(ctx, sealed.column, sealed.cipher)
		if err != nil {
			return nil, fmt.Errorf("re-encrypting %s: %w; run the command again to continue", sealed.name, err)
		}
		done = append(done, reencryptedColumn{sealed.name, counts})
	}
	return done, nil
}

// replaceDerived generates new derived keys that are independent of any key-encryption key.
// The seals of the audit log go on with the new key.
func (c keysReencryptCommand) replaceDerived(ctx context.Context, h *app) error {
	if _, err := h.chain.Seal(ctx); err != nil {
		return err
	}
	return h.store.Update(ctx, func(t *store.Tx) error {
		if err := c.checkOtherInstances(ctx, h, t); err != nil {
			return err
		}
		for _, purpose := range derivedPurposes() {
			key := make([]byte, 32)
			rand.Read(key) // never fails
			if err := storeDerivedKey(t, h.encryption.newestKey(), purpose, key); err != nil {
				return err
			}
			if purpose != purposeAudit {
				continue
			}
			if err := h.chain.HandOver(t, h.store.EventChain(key)); err != nil {
				return err
			}
		}
		return recordKeyChange(t, h.encryption.newestKey(), map[string]string{"compromised": "true"})
	})
}

// recordKeyChange records that the key-encryption key has changed.
func recordKeyChange(t *store.Tx, newest []byte, detail map[string]string) error {
	return t.Apply([]schemas.Change{schemas.RecordEvent{Event: schemas.Event{
		ID: schemas.NewID(), At: time.Now().UTC(), Action: "encryption-key.changed", Actor: schemas.Actor{Type: schemas.SystemActor},
		Resource: schemas.ResourceRef{Type: "encryption-key", ID: token.KeyID(newest)}, Detail: detail,
	}}})
}

// sealedColumn is a column of the store and the cipher of its values.
type sealedColumn struct {
	name   string
	cipher *token.Cipher
	column store.SealedColumn
}

// sealedColumns lists the other columns with sealed values.
func (h *app) sealedColumns() []sealedColumn {
	return []sealedColumn{
		{"authenticator apps", h.ciphers.factors, store.SealedColumn{
			Table: "totp", Key: "user_id", Value: "secret", Parts: []string{"user_id"},
			Belongs: func(parts []string) string { return nodes.TOTPOwner(parts[0]) },
		}},
		{"secrets of identity providers", h.ciphers.providers, store.SealedColumn{
			Table: "identity_providers", Key: "id", Value: "secret", Where: "secret IS NOT NULL", Parts: []string{"id", "issuer"},
			Belongs: func(parts []string) string {
				return directory.SecretOwner(&schemas.IdentityProvider{ID: parts[0], Issuer: parts[1]})
			},
		}},
		{"queued mails and calls", h.ciphers.deliveries, store.SealedColumn{
			Table: "deliveries", Key: "id", Value: "body", Where: "kind NOT IN ('" + schemas.LogoutDelivery + "', '" + schemas.NoticeDelivery + "')", Parts: []string{"kind", "id"},
			Belongs: func(parts []string) string { return delivery.Owner(schemas.Delivery{Kind: parts[0], ID: parts[1]}) },
		}},
		{"sign-ins in progress", h.ciphers.runs, store.RunStates()},
		{"passkey ceremonies in progress", h.ciphers.sessions, store.PasskeySessionStates()},
	}
}

// startColumns lists the columns with the keys that every server needs to start.
func (h *app) startColumns() ([]sealedColumn, error) {
	signing, signingErr := token.NewCipher(h.encryption.keys...)
	derived, derivedErr := derivedCipher(h.encryption.keys...)
	return []sealedColumn{
		{"signing keys", signing, store.SealedColumn{
			Table: "signing_keys", Key: "id", Value: "private", Parts: []string{"id"},
			Belongs: func(parts []string) string { return parts[0] },
		}},
		{"derived keys", derived, store.SealedColumn{
			Table: "derived_keys", Key: "purpose", Value: "sealed", Parts: []string{"purpose"},
			Belongs: func(parts []string) string { return derivedOwner(parts[0]) },
		}},
	}, errors.Join(signingErr, derivedErr)
}

// writeReencrypted writes one line for each kind of values.
func writeReencrypted(w io.Writer, done []reencryptedColumn) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "SEALED\tRE-ENCRYPTED\tUNCHANGED\tUNREADABLE")
	unreadable := 0
	for _, kind := range done {
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\n", kind.name, kind.Changed, kind.Current, kind.Unreadable)
		unreadable += kind.Unreadable
	}
	var warning error
	if unreadable > 0 {
		_, warning = fmt.Fprintln(table, "Unreadable values were sealed with a key that is not in the list. They were not changed.")
	}
	return errors.Join(warning, table.Flush())
}
