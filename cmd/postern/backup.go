package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"filippo.io/age"

	"github.com/postern-id/postern/internal/backup"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/schemas"
)

type backupCommand struct {
	Config         string `type:"path" help:"The configuration file of the local server."`
	PassphraseFile string `type:"path" placeholder:"PATH" help:"Encrypt with the passphrase in this file; - for standard input."`
	RecipientsFile string `type:"path" placeholder:"PATH" help:"Encrypt for the public keys in this file (age1…, one a line)."`
	IncludeKey     bool   `help:"Also store the key-encryption key in the backup, which must be encrypted. Without the key, a backup does not reveal sealed data."`
	Force          bool   `help:"Overwrite an existing file."`
	File           string `arg:"" help:"The file to write; - for standard output."`
}

// Run writes a backup of the store while servers may use it.
func (c backupCommand) Run(ctx context.Context, p program) error {
	recipients, err := backup.Secrets{PassphraseFile: c.PassphraseFile, Stdin: p.stdin, RecipientsFile: c.RecipientsFile}.Recipients()
	if err != nil {
		return err
	}
	if c.IncludeKey && len(recipients) == 0 {
		return errors.New("--include-key needs --passphrase-file or --recipients-file: an unencrypted file with the database and its key would reveal all sealed data")
	}
	h, err := p.openLocal(ctx, c.Config)
	if err != nil {
		return err
	}
	defer h.close()
	if err := h.recordBackup(ctx, c, len(recipients) > 0); err != nil {
		return err
	}
	header := backup.Header{Schema: store.SchemaVersion(), Program: version, At: time.Now().UTC()}
	if c.IncludeKey {
		for _, key := range h.encryption.keys {
			header.Keys = append(header.Keys, base64.StdEncoding.EncodeToString(key))
		}
	}
	progress := p.startProgress("writing the backup")
	defer progress.stop()
	var done backup.Summary
	err = c.create(p, func(w io.Writer) (err error) {
		done, err = backup.Write(w, header, backupKey(h.encryption.keys[0]), recipients, func(to store.RowSink) error { return h.store.Dump(ctx, progress.counted(to)) })
		return err
	})
	if err != nil {
		return err
	}
	progress.stop()
	return c.report(p, done, recipients)
}

// backupKey returns the key of the MAC of backups.
func backupKey(kek []byte) []byte { return token.Derive(kek, "backup", 32) }

// recordBackup records that the data leaves the store. The backup contains the event.
func (h *app) recordBackup(ctx context.Context, c backupCommand, encrypted bool) error {
	return h.store.Apply(ctx, []schemas.Change{schemas.RecordEvent{Event: schemas.Event{
		ID: schemas.NewID(), At: time.Now().UTC(), Action: "store.backed_up", Actor: schemas.Actor{Type: schemas.SystemActor},
		Detail: map[string]string{"encrypted": strconv.FormatBool(encrypted), "key": strconv.FormatBool(c.IncludeKey)},
	}}})
}

// create calls write with a new file. After a failure there is no new file, and an earlier one is
// unchanged.
func (c backupCommand) create(p program, write func(io.Writer) error) error {
	if c.File == stdinPath {
		return write(p.stdout)
	}
	if _, err := os.Lstat(c.File); !errors.Is(err, fs.ErrNotExist) && !c.Force {
		return fmt.Errorf("%s exists: choose another name, or overwrite it with --force", c.File)
	}
	f, err := os.CreateTemp(filepath.Dir(c.File), ".postern-backup-*") // with mode 0600
	if err != nil {
		return err
	}
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), c.File)
	}
	if errors.Is(err, syscall.ENOSPC) {
		err = fmt.Errorf("there is no space for the backup in %s: free some, or choose another folder (%w)", absolute(filepath.Dir(c.File)), err)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return syncFolder(filepath.Dir(c.File))
}

// syncFolder makes a rename in a folder durable.
func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// report prints what was written. Standard output may be the backup.
func (c backupCommand) report(p program, done backup.Summary, recipients []age.Recipient) error {
	to := p.stdout
	if c.File == stdinPath {
		to = p.stderr
	}
	fmt.Fprintf(to, "backed up %d rows of %d tables, schema version %d\n", done.Rows, done.Tables, store.SchemaVersion())
	switch {
	case c.IncludeKey:
		fmt.Fprintln(to, "The backup contains the key-encryption key: anyone who can decrypt it can sign tokens as this server.")
	default:
		fmt.Fprintln(to, "The backup does not contain the key-encryption key. Keep a copy of the key elsewhere: a restored store does not start without it.")
	}
	if len(recipients) == 0 {
		fmt.Fprintln(to, "The backup is not encrypted: it contains personal data and hashes of passwords.")
	}
	return nil
}
