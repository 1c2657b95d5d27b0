package main

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/postern-id/postern/bootstrap"
	"github.com/postern-id/postern/internal/config"
)

// testEnvironment is the environment of a test server with its data in a folder. Hashes of
// passwords are cheap, because most tests sign in.
func testEnvironment(dir string) []string {
	return []string{"POSTERN_THROTTLE_ENABLED=false", "POSTERN_DATA_DIR=" + dir, "POSTERN_PASSWORD_MEMORY_KIB=1024", "POSTERN_PASSWORD_ITERATIONS=1"}
}

// dataFolder is the content of a data folder by path, and the URL of its server.
type dataFolder struct {
	publicURL string
	files     map[string][]byte
}

// seededData is the data folder of a seeded server with SQLite. Migrations, keys and seeding
// take more time than a typical test, so they run once per test binary. Tests of migrations
// and of seeding start from an empty folder.
var seededData = sync.OnceValues(func() (data dataFolder, err error) {
	dir, err := os.MkdirTemp("", "postern-seeded-")
	if err != nil {
		return data, err
	}
	defer os.RemoveAll(dir)
	cfg, err := config.Load("", testEnvironment(dir))
	if err != nil {
		return data, err
	}
	h, err := openApp(context.Background(), cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		return data, err
	}
	if err := errors.Join(h.seedForTests(), h.store.Close()); err != nil {
		return data, err
	}
	return readData(dir, cfg.Server.PublicURL)
})

// seedForTests fills an empty store with the administrator and the application Try it.
func (h *app) seedForTests() error {
	if _, err := h.seedStore(context.Background(), []string{"ADMIN_PASSWORD=" + adminPassword}); err != nil {
		return err
	}
	return bootstrap.EnsureTry(context.Background(), h.directory, h.cfg.Server.PublicURL)
}

func readData(dir, publicURL string) (dataFolder, error) {
	data := dataFolder{publicURL: publicURL, files: map[string][]byte{}}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err == nil {
			data.files[name], err = os.ReadFile(path)
		}
		return err
	})
	return data, err
}

// copySeededData writes seeded data into the data folder of a server, unless it has data
// already or its configuration does not fit them.
func copySeededData(cfg *config.Config) error {
	data, err := seededData()
	if err != nil || cfg.Database.Driver != "sqlite" || cfg.Keys.File == "" || cfg.Server.PublicURL != data.publicURL {
		return err
	}
	if _, err := os.Stat(cfg.Database.DSN); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for name, text := range data.files {
		path := filepath.Join(cfg.DataDir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			return err
		}
	}
	return nil
}
