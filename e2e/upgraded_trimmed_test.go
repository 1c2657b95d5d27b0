package e2e_test

import (
	"database/sql"
	"flag"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/postern-id/postern/internal/datatest"
)

var updateBackup = flag.Bool("update", false, "write testdata/upgrade/trimmed.backup with the previous release")

// TestTrimmedBackup restores the backup that TestUpgradedStore starts from. With -update it writes the backup: the
// previous release records an old event, and removes it when the log is trimmed.
func TestTrimmedBackup(t *testing.T) {
	t.Parallel()
	p := newSQLiteServer(t)
	p.program = previousRelease(t)
	if *updateBackup {
		p.writeTrimmedKey()
		p.trim()
		file := filepath.Join(p.dir, "backup")
		p.command("backup", file)
		datatest.WriteFile(t, trimmed, datatest.ReadFile(t, file))
		return
	}
	p.restoreTrimmed()
	p.start()
	if events := p.command("audit", "list", "--action", "audit.trimmed"); !strings.Contains(events, "audit.trimmed") {
		t.Errorf("the log of the backup was not trimmed: %s", events)
	}
	p.command("audit", "verify")
}

// restoreTrimmed restores the backup into an empty store.
func (p *postern) restoreTrimmed() {
	p.t.Helper()
	p.writeTrimmedKey()
	path, err := filepath.Abs(trimmed)
	if err != nil {
		p.t.Fatal(err)
	}
	p.command("restore", path)
}

func (p *postern) writeTrimmedKey() {
	p.t.Helper()
	datatest.WriteFile(p.t, filepath.Join(p.dir, "data/keys/key-encryption.key"), []byte(trimmedKey))
}

// trim runs the server with an event of an earlier day until it has removed it.
func (p *postern) trim() {
	p.t.Helper()
	p.env = append(p.env, "POSTERN_AUDIT_RETENTION=24h")
	p.start()
	db, err := sql.Open("sqlite", filepath.Join(p.dir, "data/database/postern.db")+"?_pragma=busy_timeout(5000)")
	if err != nil {
		p.t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(p.t.Context(), `INSERT INTO events (at, id, action, user_id, application_id, execution_id, trace_id)
		VALUES (?, '01900000-0000-7000-8000-0000000000ff', 'user.created', '', '', '', '')`, time.Now().Add(-72*time.Hour).UnixMicro()); err != nil {
		p.t.Fatal(err)
	}
	eventually(p.t, "the log is trimmed", func() bool {
		var n int
		err := db.QueryRowContext(p.t.Context(), "SELECT COUNT(*) FROM events WHERE action = 'audit.trimmed'").Scan(&n)
		return err == nil && n > 0
	})
	p.terminate()
}
