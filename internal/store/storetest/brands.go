package storetest

import (
	"testing"

	"github.com/postern-id/postern/internal/store"
)

// The brand is that of the nearest unit with a logo, also if the units form a cycle.
func testBrand(t *testing.T, s *store.Store) {
	unit := func(id, parent, logo string) {
		t.Helper()
		u := newUnit(id)
		u.ID, u.Name, u.ParentID, u.LogoURL = id, "Unit "+id, parent, logo
		insert(t, s, &u)
	}
	unit("root", "", "https://root.example/logo")
	unit("middle", "root", "")
	unit("leaf", "middle", "")
	unit("own", "leaf", "https://own.example/logo")
	unit("lone", "", "")
	for id, want := range map[string]string{"root": "Unit root", "middle": "Unit root", "leaf": "Unit root", "own": "Unit own", "lone": "", "absent": ""} {
		brand, err := s.Brand(t.Context(), id)
		got := ""
		if brand != nil {
			got = brand.Name
		}
		if err != nil || got != want {
			t.Errorf("%s: got %q, %v; want %q", id, got, err, want)
		}
	}
	above, err := store.Units().Get(t.Context(), s, "root")
	must(t, err)
	above.ParentID, above.LogoURL = "leaf", ""
	update(t, s, func(tx *store.Tx) error { return store.Units().Replace(tx, above, above.UpdatedAt) })
	if brand, err := s.Brand(t.Context(), "leaf"); brand != nil || err != nil {
		t.Errorf("a cycle: %v, %v", brand, err)
	}
}
