package main

import (
	"database/sql"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/postern-id/postern/internal/config"
	"github.com/postern-id/postern/internal/store/storetest"
)

// postgresDump is the content of a seeded PostgreSQL schema.
type postgresDump struct {
	once   sync.Once
	err    error
	schema string
	text   string // SQL; "" if there is no pg_dump
}

// searchPath is the schema in a connection string.
var searchPath = regexp.MustCompile(`[ ?&]search_path=(test_[0-9a-f]+)`)

// seededPostgres has the key of seededData.
var seededPostgres postgresDump

// restorePostgres fills the empty schema of a connection string with seeded data. Without pg_dump it
// reports false.
func restorePostgres(t testing.TB, dsn string) (bool, error) {
	d := &seededPostgres
	d.once.Do(func() { d.err = d.read(t) })
	target := searchPath.FindStringSubmatch(dsn)
	if d.err != nil || d.text == "" || target == nil {
		return false, d.err
	}
	db, err := sql.Open("postgres", dsn)
	if err != nil {
		return false, err
	}
	_, err = db.ExecContext(t.Context(), strings.ReplaceAll(d.text, d.schema, target[1]))
	return true, errors.Join(err, db.Close())
}

// read seeds a schema and dumps it.
func (d *postgresDump) read(t testing.TB) error {
	program := findDump()
	if program == "" {
		return nil
	}
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
	if err := errors.Join(writeDataFile(dir, key, data.files[key]), fillAndClose(cfg, (*app).seedForTests)); err != nil {
		return err
	}
	d.schema = searchPath.FindStringSubmatch(dsn)[1]
	text, err := exec.CommandContext(t.Context(), program, "--schema="+d.schema, "--inserts", "--no-owner", "--no-privileges", "--dbname="+searchPath.ReplaceAllString(dsn, "")).Output()
	if err != nil {
		return fmt.Errorf("%s: %w", program, err)
	}
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "\\") && !strings.HasPrefix(line, "CREATE SCHEMA ") { // no commands of psql
			d.text += line
		}
	}
	return nil
}

// findDump finds pg_dump in the PATH, or where Debian installs it.
func findDump() string {
	if path, err := exec.LookPath("pg_dump"); err == nil {
		return path
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/pg_dump")
	if len(found) == 0 {
		return ""
	}
	return found[len(found)-1]
}
