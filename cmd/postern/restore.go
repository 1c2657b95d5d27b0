package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/postern-id/postern/internal/backup"
	"github.com/postern-id/postern/internal/config"
	"github.com/postern-id/postern/internal/folder"
	"github.com/postern-id/postern/internal/store"
)

type restoreCommand struct {
	Config            string `type:"path" help:"The configuration file of the server to restore. It must be stopped."`
	PassphraseFile    string `type:"path" placeholder:"PATH" help:"The file with the passphrase of an encrypted backup; - for standard input."`
	IdentityFile      string `type:"path" placeholder:"PATH" help:"A file with private keys for an encrypted backup (AGE-SECRET-KEY-1…, one a line)."`
	Check             bool   `help:"Verify the backup, and that the server's key opens it. Change nothing."`
	Force             bool   `help:"Replace a store that is not empty. A SQLite file is kept under another name."`
	Unverified        bool   `help:"Restore a backup although nothing shows that it is unchanged: one of an earlier release, of another key, or with its own key. Only if no other person could write to it."`
	Continue          bool   `help:"Keep sessions, tokens, sign-ins in progress and queued mails. Only if no server has used the store since the backup, as in a move to another database."`
	KeepRecoveryCodes bool   `help:"Keep unused recovery codes, although some may have been used since the backup."`
	File              string `arg:"" help:"The file that postern backup wrote; - for standard input."`
}

// Run restores a backup. All of it is written to a new database and verified before the store is
// replaced.
func (c restoreCommand) Run(ctx context.Context, p program) (err error) {
	cfg, err := config.Load(c.Config, p.environ)
	if err != nil {
		return err
	}
	if _, err := cfg.CheckSecretFiles(); err != nil {
		return err
	}
	in, closeFile, err := c.open(p)
	if err != nil {
		return err
	}
	defer closeFile()
	target, err := c.openTarget(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, target.close()) }()
	progress := p.startProgress("reading the backup")
	defer progress.stop()
	r := restoration{restoreCommand: c, program: p, cfg: cfg, in: in, target: target, progress: progress}
	if err := r.run(ctx); err != nil {
		return fmt.Errorf("nothing was changed: %w", err)
	}
	progress.stop()
	r.report()
	return nil
}

// open opens the backup.
func (c restoreCommand) open(p program) (*backup.Reader, func(), error) {
	if c.PassphraseFile == stdinPath && c.File == stdinPath {
		return nil, nil, errors.New("the passphrase and the backup are both expected on standard input: pass one of them as a file")
	}
	identities, err := backup.Secrets{PassphraseFile: c.PassphraseFile, Stdin: p.stdin, IdentityFile: c.IdentityFile}.Identities()
	if err != nil {
		return nil, nil, err
	}
	from, closeFile := p.stdin, func() {}
	if c.File != stdinPath {
		f, err := folder.Open(c.File)
		if err != nil {
			return nil, nil, err
		}
		from, closeFile = f, func() { _ = f.Close() }
	}
	if from == nil {
		from = strings.NewReader("")
	}
	in, err := backup.Open(from, identities...)
	if err == nil && in.Schema > store.SchemaVersion() {
		err = fmt.Errorf("the backup has schema version %d, but this program supports at most %d: restore it with Postern %s or a later version", in.Schema, store.SchemaVersion(), in.Program)
	}
	if err != nil {
		closeFile()
		return nil, nil, err
	}
	return in, closeFile, nil
}

// restoreTarget is the store that a restoration replaces.
type restoreTarget struct {
	postgres *store.Store // nil for SQLite, and for --check
	content  bool         // whether it has content
}

// openTarget makes sure that the store may be replaced.
func (c restoreCommand) openTarget(ctx context.Context, cfg *config.Config) (t restoreTarget, err error) {
	switch d := cfg.Database; {
	case c.Check:
		return t, nil
	case d.DSN == ":memory:":
		return t, errors.New("database.dsn is :memory:, a database that ends with this command: expected the path of a file")
	case d.Driver == "sqlite":
		t.content, err = store.Detach(ctx, d.DSN)
	default:
		t, err = openPostgresTarget(ctx, cfg)
	}
	if err == nil && t.content && !c.Force {
		err = errors.Join(errors.New("the store is not empty: back it up first, then replace it with --force"), t.close())
	}
	return t, err
}

func openPostgresTarget(ctx context.Context, cfg *config.Config) (t restoreTarget, err error) {
	on := store.Config{Driver: cfg.Database.Driver, DSN: cfg.Database.DSN, MaxWriteDuration: maxCommandDuration}
	if v, _, err := store.PlanMigrations(ctx, on); err == nil && v.CompatibleFrom > v.Program {
		return t, fmt.Errorf("a newer version of Postern changed the database incompatibly: it has schema version %d, and this program has %d; "+
			"create an empty database, name it in database.dsn, and restore there", v.Applied, v.Program)
	}
	if t.postgres, err = store.Open(ctx, on); err != nil {
		return t, err
	}
	servers, err := t.postgres.Instances(ctx)
	if err == nil && servers > 0 {
		err = fmt.Errorf("%d server(s) use the database: stop them first (one that was killed counts as running for %v)", servers, store.InstanceTTL)
	}
	if err == nil {
		t.content, err = t.postgres.HasContent(ctx)
	}
	if err != nil {
		return t, errors.Join(err, t.postgres.Close())
	}
	return t, nil
}

func (t restoreTarget) close() error {
	if t.postgres == nil {
		return nil
	}
	return t.postgres.Close()
}
