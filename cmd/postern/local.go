package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/postern-id/postern/internal/config"
	"github.com/postern-id/postern/internal/store"
)

// openLocal opens the house on the store of a configuration, which must be
// there: a command that only works with what is stored makes no store.
func (p program) openLocal(ctx context.Context, file string, further ...string) (*house, error) {
	cfg, err := config.Load(file, append(append([]string(nil), p.environ...), further...))
	if err != nil {
		return nil, err
	}
	path, _, _ := strings.Cut(strings.TrimPrefix(cfg.Database.DSN, "file:"), "?")
	if _, err := os.Stat(path); cfg.Database.Driver == "sqlite" && errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no store at %s: say with --config where it is, or let `postern serve` make one", path)
	}
	on := store.Config{Driver: cfg.Database.Driver, DSN: cfg.Database.DSN, LongestWrite: longestCommand}
	return openHouseOn(ctx, cfg, newLog(p.stderr, cfg.Log), on)
}

// longestCommand is how long a command's one transaction may take.
const longestCommand = time.Hour
