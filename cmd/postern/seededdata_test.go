package main

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/postern-id/postern/bootstrap"
	"github.com/postern-id/postern/internal/config"
	"github.com/postern-id/postern/internal/datatest"
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
// take more time than a typical test, so they run once per test binary and database. Tests of
// migrations start from an empty folder.
var seededData = sync.OnceValues(func() (dataFolder, error) { return createData((*app).seedForTests) })

// emptyData is the data folder of a server with an empty store.
var emptyData = sync.OnceValues(func() (dataFolder, error) { return createData(func(*app) error { return nil }) })

func createData(fill func(*app) error) (data dataFolder, err error) {
	dir, err := os.MkdirTemp("", "postern-seeded-")
	if err != nil {
		return data, err
	}
	defer os.RemoveAll(dir)
	cfg, err := config.Load("", testEnvironment(dir))
	if err != nil {
		return data, err
	}
	if err := fillAndClose(cfg, fill); err != nil {
		return data, err
	}
	return readData(dir, cfg.Server.PublicURL)
}

// fillAndClose fills the empty store of a configuration.
func fillAndClose(cfg *config.Config, fill func(*app) error) error {
	h, err := openApp(context.Background(), cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	return errors.Join(fill(h), h.store.Close())
}

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

// copySeededData writes seeded data into the data folder and the database of a server, unless it
// has data already or its configuration does not fit them.
func copySeededData(t testing.TB, cfg *config.Config) error {
	data, err := seededData()
	if err != nil || cfg.Keys.File == "" || isFile(cfg.Keys.File) || cfg.Server.PublicURL != data.publicURL {
		return err
	}
	postgres := cfg.Database.Driver == "postgres"
	if postgres {
		if restored, err := restorePostgres(t, cfg.Database.DSN); err != nil || !restored {
			return err
		}
	} else if isFile(cfg.Database.DSN) {
		return nil
	}
	for name, text := range data.files {
		if postgres && strings.HasPrefix(name, "database") {
			continue
		}
		datatest.WriteFile(t, filepath.Join(cfg.DataDir, name), text)
	}
	return nil
}

// copyEmptyData writes the data of an empty store into an empty folder.
func copyEmptyData(t testing.TB, dir string) {
	t.Helper()
	data, err := emptyData()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range data.files {
		datatest.WriteFile(t, filepath.Join(dir, name), text)
	}
}

func isFile(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
