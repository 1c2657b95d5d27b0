package store

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/postern-id/postern/schemas"
)

// A SQLite database that takes no writes, because the disk is full or has become
// read-only, makes the store not ready, and costs requests the class Unavailable.
func TestSQLiteOutage(t *testing.T) {
	for name, pragma := range map[string]struct{ begin, end string }{
		"read-only": {"PRAGMA query_only = 1", "PRAGMA query_only = 0"},
		"full":      {"PRAGMA max_page_count = 1", "PRAGMA max_page_count = 1000000"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Open(t.Context(), Config{Driver: "sqlite", DSN: filepath.Join(t.TempDir(), "store.db")})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			write := func() error {
				e := schemas.Event{ID: schemas.NewID(), At: time.Now(), Action: "test.done", Detail: map[string]string{"fill": string(make([]byte, 8000))}}
				return s.Apply(t.Context(), []schemas.Change{schemas.RecordEvent{Event: e}})
			}
			writer := s.base.(*groupWriter).db
			if _, err := writer.ExecContext(t.Context(), pragma.begin); err != nil {
				t.Fatal(err)
			}
			if err := write(); !schemas.HasClass(err, schemas.Unavailable) {
				t.Errorf("a write: %v", err)
			}
			if err := s.Ping(t.Context()); name == "read-only" && !schemas.HasClass(err, schemas.Unavailable) {
				t.Errorf("it is ready: %v", err)
			}
			if _, err := writer.ExecContext(t.Context(), pragma.end); err != nil {
				t.Fatal(err)
			}
			if err := write(); err != nil {
				t.Errorf("a write after the outage: %v", err)
			}
			if err := s.Ping(t.Context()); err != nil {
				t.Errorf("after the outage: %v", err)
			}
		})
	}
}
