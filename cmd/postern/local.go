package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/postern-id/postern/internal/config"
)

// openLocal opens the server on the existing store of a configuration: a command that only
// reads or changes stored data creates no store.
func (p program) openLocal(ctx context.Context, file string, further ...string) (*app, error) {
	cfg, err := config.Load(file, append(append([]string(nil), p.environ...), further...))
	if err != nil {
		return nil, err
	}
	path := cfg.Database.DSN
	if _, err := os.Stat(path); cfg.Database.Driver == "sqlite" && errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf(errNoStore, absolute(path))
	}
	log := newLog(p.stderr, cfg.Log)
	warnOfFiles(log, cfg)
	progress := p.startProgress("opening the store")
	defer progress.stop()
	return openAppFor(ctx, cfg, log, false)
}

// maxCommandDuration is the maximum duration of a command's transaction.
const maxCommandDuration = time.Hour

// errNoStore is the format of the error about a missing database file.
const errNoStore = "there is no store at %s: pass the server's configuration with --config, run the command in the server's working directory " +
	"if the configuration has relative paths, or create a store with `postern serve`"

// absolute returns a path as other working directories would write it.
func absolute(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
}
