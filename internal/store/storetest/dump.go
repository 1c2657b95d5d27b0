package storetest

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// Dump is the content of a PostgreSQL schema. Restoring it takes less time than migrations.
type Dump struct{ schema, text string }

// searchPath is the schema in a connection string of Postgres.
var searchPath = regexp.MustCompile(`[ ?&]search_path=(test_[0-9a-f]+)`)

// DumpPostgres dumps the schema of a connection string that Postgres returned. Without pg_dump it
// returns nil.
func DumpPostgres(ctx context.Context, dsn string) (*Dump, error) {
	program := findDump()
	if program == "" {
		return nil, nil
	}
	d := &Dump{schema: searchPath.FindStringSubmatch(dsn)[1]}
	text, err := exec.CommandContext(ctx, program, "--schema="+d.schema, "--inserts", "--no-owner", "--no-privileges", "--dbname="+searchPath.ReplaceAllString(dsn, "")).Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", program, err)
	}
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "\\") && !strings.HasPrefix(line, "CREATE SCHEMA ") { // no commands of psql
			d.text += line
		}
	}
	return d, nil
}

// Restore fills the empty schema of a connection string. It reports false for a schema that is not
// of Postgres.
func (d *Dump) Restore(dsn string) (bool, error) {
	target := searchPath.FindStringSubmatch(dsn)
	if target == nil {
		return false, nil
	}
	return true, executeOnce(dsn, strings.ReplaceAll(d.text, d.schema, target[1]))
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
