package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/schemas"
)

// TestDurability reads the setting of the writing connection: FULL (2) syncs the log with
// each commit.
func TestDurability(t *testing.T) {
	s := openFile(t)
	for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "busy_timeout": "5000"} {
		var got string
		if err := s.base.(*groupWriter).db.GetContext(t.Context(), &got, "PRAGMA "+pragma); err != nil || got != want {
			t.Errorf("PRAGMA %s is %q (%v), expected %s", pragma, got, err, want)
		}
	}
	if _, err := s.db.ExecContext(t.Context(), "DELETE FROM runs"); err == nil {
		t.Error("a reading connection may write")
	}
}

// TestFilesArePrivate looks at all that SQLite made: the log holds what the
// database holds.
func TestFilesArePrivate(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "data")
	s, err := Open(t.Context(), Config{Driver: "sqlite", DSN: filepath.Join(folder, "store.db")})
	if err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(folder)
	if err != nil || len(files) != 3 {
		t.Errorf("the folder has %d files (%v), expected the database and its two log files", len(files), err)
	}
	for _, file := range files {
		if info, err := file.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v (%v), expected 0600", file.Name(), info.Mode(), err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	// The log is folded into the database by who leaves last.
	if files, err = os.ReadDir(folder); err != nil || len(files) != 1 {
		t.Errorf("after closing the folder has %d files (%v), expected 1", len(files), err)
	}
}

// damagedDatabase returns the first pages of a database.
func damagedDatabase(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "whole")
	s, err := Open(t.Context(), Config{Driver: "sqlite", DSN: path})
	if err == nil {
		err = s.Close()
	}
	text, readError := os.ReadFile(path)
	if err = errors.Join(err, readError); err != nil || len(text) < 100_000 {
		t.Fatalf("the database has %d bytes, %v", len(text), err)
	}
	return text[:100_000]
}

func TestOpenRefuses(t *testing.T) {
	notADatabase := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(notADatabase, []byte(strings.Repeat("not a database\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	damaged := filepath.Join(t.TempDir(), "damaged")
	if err := os.WriteFile(damaged, damagedDatabase(t), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ driver, dsn, want string }{
		{"mysql", "x", "expected sqlite or postgres"},
		{"sqlite", "", "DSN is empty"},
		{"sqlite", notADatabase, notADatabase + " is damaged, or is not a database; move it"},
		{"sqlite", damaged, damaged + " is damaged, or is not a database; move it"},
		{"sqlite", t.TempDir(), "database file"},
	} {
		s, err := Open(t.Context(), Config{Driver: test.driver, DSN: test.dsn})
		if err == nil {
			s.Close()
			t.Errorf("%s %q was opened", test.driver, test.dsn)
		} else if !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s %q: %q does not tell %q", test.driver, test.dsn, err, test.want)
		}
	}
}

// TestFileDoesNotGrow fills and sweeps the store repeatedly: freed pages are reused.
func TestFileDoesNotGrow(t *testing.T) {
	s := openFile(t)
	var sizes []int
	for range 5 {
		for i := range 300 {
			run := &schemas.Run{ID: schemas.NewID(), Revision: 1, State: []byte(`"` + strings.Repeat("x", 1000) + `"`)}
			if err := s.Commit(t.Context(), run, nil); err != nil {
				t.Fatalf("run %d: %v", i, err)
			}
		}
		if n, err := s.Sweep(t.Context(), time.Now()); err != nil || n != 300 {
			t.Fatalf("%d runs were swept (%v), expected 300", n, err)
		}
		var pages int
		if err := s.db.GetContext(t.Context(), &pages, "PRAGMA page_count"); err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, pages)
	}
	if sizes[4] > sizes[0]+sizes[0]/10 {
		t.Errorf("the file grew from %d pages to %d", sizes[0], sizes[4])
	}
}
