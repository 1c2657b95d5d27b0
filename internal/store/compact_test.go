package store

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/postern-id/postern/schemas"
)

// A SQLite file becomes smaller when many of its rows have expired, also one of an
// earlier version.
func TestSQLiteShrinks(t *testing.T) {
	for name, earlier := range map[string]bool{"new": false, "of an earlier version": true} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "store.db")
			if earlier {
				db, err := openDB(t.Context(), Config{Driver: "sqlite", DSN: sqliteDSN(path, "", "journal_mode(WAL)"), Pool: 1})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := db.ExecContext(t.Context(), "CREATE TABLE left_over (id TEXT); DROP TABLE left_over"); err != nil {
					t.Fatal(err)
				}
				db.Close()
			}
			s, err := Open(t.Context(), Config{Driver: "sqlite", DSN: path})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			now := time.Now()
			for range 300 {
				p := schemas.PasskeySession{Owner: schemas.NewID(), Ceremony: schemas.AuthenticationCeremony, TokenHash: []byte(schemas.NewID()),
					State: make([]byte, 20_000), ExpiresAt: now.Add(-time.Minute)}
				if err := s.PutPasskeySession(t.Context(), p); err != nil {
					t.Fatal(err)
				}
			}
			full, err := s.db.pages(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Sweep(t.Context(), now); err != nil {
				t.Fatal(err)
			}
			after, err := s.db.pages(t.Context())
			if err != nil || after.Count > full.Count/2 || after.Free > after.Count/freePagesKept {
				t.Errorf("from %+v the file has become %+v, %v", full, after, err)
			}
		})
	}
}
