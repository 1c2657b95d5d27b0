package main

import (
	"path/filepath"
	"sync"
	"testing"

	"github.com/postern-id/postern/internal/config"
	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/store/storetest"
)

// postgresDump is the content of a seeded PostgreSQL schema.
type postgresDump struct {
	once    sync.Once
	err     error
	content *storetest.Dump // nil if there is no pg_dump
}

// seededPostgres has the key of seededData.
var seededPostgres postgresDump

// restorePostgres fills the empty schema of a connection string with seeded data. Without pg_dump it
// reports false.
func restorePostgres(t testing.TB, dsn string) (bool, error) {
	d := &seededPostgres
	d.once.Do(func() { d.err = d.read(t) })
	if d.err != nil || d.content == nil {
		return false, d.err
	}
	return d.content.Restore(dsn)
}

// read seeds a schema and dumps it.
func (d *postgresDump) read(t testing.TB) error {
	dsn, dir := storetest.Postgres(t), t.TempDir()
	cfg, err := config.Load("", append(testEnvironment(dir), "POSTERN_DATABASE_DRIVER=postgres", "POSTERN_DATABASE_DSN="+dsn))
	if err != nil {
		return err
	}
	data, err := seededData()
	if err != nil {
		return err
	}
	key := filepath.Join("keys", filepath.Base(cfg.Keys.File))
	datatest.WriteFile(t, filepath.Join(dir, key), data.files[key])
	if err := fillAndClose(cfg, (*app).seedForTests); err != nil {
		return err
	}
	d.content, err = storetest.DumpPostgres(t.Context(), dsn)
	return err
}
