package store

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/postern-id/postern/schemas"
)

// A write of this process takes effect at once, and one of another process within a second.
func TestRemember(t *testing.T) {
	dsn := filepath.Join(t.TempDir(), "store.db")
	var stores [2]*Store
	for i := range stores {
		var err error
		if stores[i], err = Open(t.Context(), Config{Driver: "sqlite", DSN: dsn}); err != nil {
			t.Fatal(err)
		}
		defer stores[i].Close()
	}
	s, other := stores[0], stores[1]
	unit := &schemas.OrganizationUnit{ID: "unit", Handle: "unit", Name: "A", LogoURL: "https://a.example/logo", CreatedAt: time.UnixMilli(0), UpdatedAt: time.UnixMilli(0)}
	if err := s.Update(t.Context(), func(t *Tx) error { return Units().Insert(t, unit) }); err != nil {
		t.Fatal(err)
	}
	name := func() string {
		b, err := s.Brand(t.Context(), "unit")
		if err != nil {
			t.Fatal(err)
		}
		return b.Name
	}
	rename := func(at *Store, to string) {
		was := unit.UpdatedAt
		unit.Name, unit.UpdatedAt = to, was.Add(time.Second)
		if err := at.Update(t.Context(), func(t *Tx) error { return Units().Replace(t, unit, was) }); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"A", "B", "C"} {
		rename(s, want)
		for range 2 {
			if got := name(); got != want {
				t.Fatalf("after a write of this process the name is %q, want %q", got, want)
			}
		}
	}
	rename(other, "D")
	for name() != "D" { // later
		time.Sleep(time.Millisecond)
	}
}

func TestChangesRemembered(t *testing.T) {
	for q, want := range map[string]bool{
		"UPDATE applications SET name = ?": true, "\n\t\tDELETE FROM flows WHERE id = ?": true, "INSERT INTO organization_units (id) VALUES (?)": true,
		advanceFlow: true, deleteExpiredClients: true, insertFlow: true,
		"UPDATE runs SET revision = ? WHERE application_id IN (SELECT id FROM applications)": false, insertFlowVersion: false, insertEvent: false,
	} {
		if changesRemembered.MatchString(q) != want {
			t.Errorf("%s: %v", q, !want)
		}
	}
}
