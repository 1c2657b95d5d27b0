package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/postern-id/postern/internal/backup"
	"github.com/postern-id/postern/internal/config"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/internal/totp"
	"github.com/postern-id/postern/schemas"
)

// restoration is one run of the command.
type restoration struct {
	restoreCommand
	program
	cfg      *config.Config
	in       *backup.Reader
	target   restoreTarget
	progress *progress

	content backup.Summary
	ended   store.Ended
	chain   store.ChainReport
	kept    string   // where the former SQLite file is; "" for none
	newKey  bool     // whether the key file gets the keys of the backup
	made    []string // folders that did not exist, each before its parent
}

// run writes the backup to a new SQLite database, verifies that, and replaces the store.
func (r *restoration) run(ctx context.Context) error {
	path, remove, err := r.newFile()
	if err != nil {
		return err
	}
	defer remove()
	err = store.CreateFrom(ctx, path, r.in.Schema, func(to store.RowSink) (err error) {
		r.content, err = r.in.Read(r.progress.counted(to))
		return err
	})
	if err != nil {
		return err
	}
	r.progress.next("migrating and verifying the restored store")
	staged, err := store.Open(ctx, store.Config{Driver: "sqlite", DSN: path})
	if err != nil {
		return err
	}
	if err := r.prepare(ctx, staged); err != nil || r.Check {
		return errors.Join(err, staged.Close())
	}
	return r.replace(ctx, staged, path)
}

// replace replaces the store with the new database. It creates a missing key file first, so that
// there is no store without its key.
func (r *restoration) replace(ctx context.Context, staged *store.Store, path string) (err error) {
	if r.newKey {
		if err := r.writeKey(); err != nil {
			return errors.Join(err, staged.Close())
		}
		defer func() {
			if err != nil {
				err = errors.Join(err, os.Remove(r.cfg.Keys.File))
			}
		}()
	}
	if r.target.postgres == nil {
		if err := staged.Close(); err != nil {
			return err
		}
		return r.replaceFile(path)
	}
	r.progress.next("writing to PostgreSQL")
	err = r.target.postgres.Replace(ctx, func(to store.RowSink) error { return staged.Dump(ctx, r.progress.counted(to)) })
	return errors.Join(err, staged.Close())
}

// newFile returns the path of a new SQLite database: next to the one that it replaces, so that a rename
// replaces it. The container image has no folder for temporary files; there it is in the working folder.
func (r *restoration) newFile() (path string, remove func(), err error) {
	parent := os.TempDir()
	if !isExisting(parent) {
		parent = "."
	}
	if !r.Check && r.target.postgres == nil {
		parent = filepath.Dir(r.cfg.Database.DSN)
		if err := r.makeFolder(parent); err != nil {
			return "", nil, err
		}
	}
	dir, err := os.MkdirTemp(parent, ".postern-restore-")
	remove = func() {
		_ = os.RemoveAll(dir)
		r.removeEmptyFolders()
	}
	if err != nil {
		remove()
	}
	return filepath.Join(dir, "store.db"), remove, err
}

// makeFolder creates a folder with its parents, and remembers those that did not exist.
func (r *restoration) makeFolder(path string) error {
	var missing []string
	for at := filepath.Clean(path); ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); !errors.Is(err, fs.ErrNotExist) || at == filepath.Dir(at) {
			break
		}
		missing = append(missing, at)
	}
	r.made = append(missing, r.made...)
	give := ownerOf(path)
	err := os.MkdirAll(path, 0o700)
	for _, folder := range missing {
		give(folder)
	}
	return err
}

// removeEmptyFolders removes the folders that makeFolder created and that contain nothing, the deepest
// first.
func (r *restoration) removeEmptyFolders() {
	for _, folder := range r.made {
		_ = os.Remove(folder) // it stays if it has content
	}
}

// prepare checks that the keys open the restored store, and verifies its audit log. Then it removes
// whatever must not work again, such as sessions.
func (r *restoration) prepare(ctx context.Context, staged *store.Store) error {
	keys, err := r.keys()
	if err != nil {
		return err
	}
	cfg := *r.cfg
	cfg.Environ = slices.Concat(keys, r.cfg.Environ)
	h := &app{cfg: &cfg, store: staged, log: newLog(io.Discard, cfg.Log)}
	if err := h.loadEncryption(ctx); err != nil {
		return err
	}
	if err := r.verify(h.encryption.keys, len(keys) > 0); err != nil {
		return err
	}
	if _, err := h.chain.Seal(ctx); err != nil && !isBroken(err) {
		return err
	}
	if r.chain, err = h.chain.Verify(ctx, nil); err != nil {
		return err
	}
	if err := staged.Update(ctx, func(t *store.Tx) error { return r.finish(t, h.chain) }); err != nil {
		return err
	}
	r.newKey = len(keys) > 0
	if _, err = h.chain.Seal(ctx); isBroken(err) {
		return nil // the report shows it, and the server that starts
	}
	return err
}

// verify checks that the backup is as this server wrote it: its MAC, or its encryption with a passphrase.
// Keys from the backup itself prove nothing.
func (r *restoration) verify(keys [][]byte, own bool) error {
	byPassphrase := r.in.Encrypted && r.PassphraseFile != "" && r.IdentityFile == ""
	var derived [][]byte
	for _, key := range keys {
		derived = append(derived, backupKey(key))
	}
	why := ""
	switch {
	case r.Unverified || byPassphrase || !own && r.in.Verify(derived...):
		return nil
	case !r.in.HasMAC():
		why = "it has no MAC, because an earlier release of Postern wrote it or the MAC was removed"
	case own:
		why = "its MAC is by the key that it contains itself: put that key in place from a copy of your own, or encrypt backups with a passphrase"
	default:
		why = "its MAC does not match its content and the server's key: a person without the key has changed it, or it is of another key"
	}
	return fmt.Errorf("the backup may have been changed: %s. Use another backup, or pass --unverified if no other person could write to this one", why)
}

// keys returns the key-encryption keys of the backup as an environment variable, if the
// server has none yet.
func (r *restoration) keys() (environ []string, err error) {
	if len(r.in.Keys) == 0 {
		return nil, nil
	}
	text := strings.Join(r.in.Keys, ",")
	if _, err := token.ParseKeys(text); err != nil {
		return nil, fmt.Errorf("the keys in the backup: %w", err)
	}
	if _, err := os.Stat(r.cfg.Keys.File); r.cfg.Keys.File == "" || !errors.Is(err, fs.ErrNotExist) {
		return nil, nil // the server's own keys must open the store
	}
	return []string{token.KeyVariable + "=" + text}, nil
}

// writeKey creates the key file from the keys in the backup.
func (r *restoration) writeKey() error {
	keys, err := token.ParseKeys(strings.Join(r.in.Keys, ","))
	if err != nil {
		return err
	}
	if err := r.makeFolder(filepath.Dir(r.cfg.Keys.File)); err != nil {
		return err
	}
	return replaceKeys(r.cfg.Keys.File, keys)
}

// finish removes whatever must not work again, and records the restoration, also with the key of an intact
// audit log: servers that have seen a later end of the log then go on.
func (r *restoration) finish(t *store.Tx, chain *store.EventChain) (err error) {
	now := time.Now().UTC()
	if !r.Continue {
		r.ended, err = store.EndUses(t, store.EndOptions{
			Generation: rand.Text(), TOTPStep: totp.Step(now) + totp.Window, KeepRecoveryCodes: r.KeepRecoveryCodes,
		}, now)
		if err != nil {
			return err
		}
	}
	if r.chain.Fault == nil {
		if err := chain.Restart(t); err != nil {
			return err
		}
	}
	return t.Apply([]schemas.Change{schemas.RecordEvent{Event: schemas.Event{
		ID: schemas.NewID(), At: now, Action: "store.restored", Actor: schemas.Actor{Type: schemas.SystemActor},
		Detail: map[string]string{"backup": r.in.At.UTC().Format(time.RFC3339), "continued": strconv.FormatBool(r.Continue), "sessions": strconv.Itoa(r.ended.Sessions)},
	}}})
}

// replaceFile replaces the old database file with the new one, and keeps the old one under another
// name.
func (r *restoration) replaceFile(path string) error {
	to := r.cfg.Database.DSN
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	ownerOf(to)(path)
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	if r.target.content {
		kept := to + ".before-" + time.Now().UTC().Format("20060102T150405Z")
		if err := os.Link(to, kept); err != nil {
			return fmt.Errorf("keeping the former database: %w", err)
		}
		r.kept = kept
	}
	if err := os.Rename(path, to); err != nil {
		if r.kept != "" {
			err = errors.Join(err, os.Remove(r.kept))
		}
		return err
	}
	return syncFolder(filepath.Dir(to))
}

// report prints what was restored, and what to do next.
func (r *restoration) report() {
	verb := "restored"
	if r.Check {
		verb = "the backup is complete, and the key opens it:"
	}
	fmt.Fprintf(r.stdout, "%s %d rows of %d tables, from %s\n", verb, r.content.Rows, r.content.Tables, formatTime(r.in.At))
	if f := r.chain.Fault; f != nil {
		fmt.Fprintf(r.stdout, "The audit log in the backup was changed at seal %d: %s. Compare it with its copies, then run `postern audit reanchor`.\n", f.Seq, f.Problem)
	} else {
		fmt.Fprintf(r.stdout, "The audit log is intact: %d events.\n", r.chain.Events)
	}
	if r.Unverified {
		fmt.Fprintln(r.stdout, "It was not verified that the backup is unchanged (--unverified).")
	}
	if r.Check {
		return
	}
	if r.kept != "" {
		fmt.Fprintf(r.stdout, "The former database is %s: delete it when you no longer need it.\n", r.kept)
	}
	if r.newKey {
		fmt.Fprintf(r.stdout, "The key-encryption key of the backup is in %s.\n", r.cfg.Keys.File)
	}
	if !r.Continue {
		fmt.Fprintf(r.stdout, "Removed, because they may have been used since: %d sessions, %d sign-ins in progress, %d links and %d recovery codes; %d queued mails were removed, and all tokens are invalid.\n",
			r.ended.Sessions, r.ended.Runs, r.ended.Links, r.ended.RecoveryCodes, r.ended.Mails)
	}
	fmt.Fprintln(r.stdout, "Start the server now.")
}
