package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/postern-id/postern/internal/config"
)

// openLocal opens the server on the existing store of a configuration: a command that only
// reads or changes stored data creates no store.
func (p program) openLocal(ctx context.Context, file string, further ...string) (*app, error) {
	cfg, err := loadLocal(file, p.environ, further...)
	if err != nil {
		return nil, err
	}
	if err := requireStore(cfg.Database); err != nil {
		return nil, err
	}
	log := newLog(p.stderr, cfg.Log)
	warnOfFiles(log, cfg)
	progress := p.startProgress("opening the store")
	defer progress.stop()
	return openAppFor(ctx, cfg, log, false)
}

// maxCommandDuration is the maximum duration of a command's transaction.
const maxCommandDuration = time.Hour

// requireStore returns an error if the database file does not exist.
func requireStore(c config.Database) error {
	if c.Driver != "sqlite" || isExisting(c.DSN) {
		return nil
	}
	return fmt.Errorf("there is no store at %s: pass the server's configuration with --config, run the command in the server's working directory "+
		"if the configuration has relative paths, or create a store with `postern serve`", absolute(c.DSN))
}

// absolute returns a path as other working directories would write it.
func absolute(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
}
