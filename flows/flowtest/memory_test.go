package flowtest_test

import (
	"testing"
	"time"

	"github.com/postern-id/postern/flows/flowtest"
	"github.com/postern-id/postern/internal/store/storetest"
	"github.com/postern-id/postern/schemas"
)

// The in-memory store makes the guarantees of the real ones.
func TestMemory(t *testing.T) {
	storetest.Runs(t, func(*testing.T) storetest.RunStore { return flowtest.NewMemory() })
}

// An authorization request is granted once, in its browser, before it expires.
func TestMemoryGrants(t *testing.T) {
	noon := time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)
	m := flowtest.NewMemory()
	if err := m.CreateAuthRequest(t.Context(), schemas.AuthRequest{ID: "r", BrowserHash: []byte("b"), ExpiresAt: noon.Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name          string
		grant         schemas.GrantAuthRequest
		fails, leaves bool
	}{
		{"an unknown one", schemas.GrantAuthRequest{ID: "x", BrowserHash: []byte("b"), At: noon}, true, false},
		{"one that has expired", schemas.GrantAuthRequest{ID: "r", BrowserHash: []byte("b"), At: noon.Add(time.Hour)}, true, false},
		{"in another browser", schemas.GrantAuthRequest{ID: "r", BrowserHash: []byte("c"), At: noon}, false, false},
		{"in its browser", schemas.GrantAuthRequest{ID: "r", BrowserHash: []byte("b"), At: noon, Grant: schemas.Grant{UserID: "ada"}}, false, true},
		{"again", schemas.GrantAuthRequest{ID: "r", BrowserHash: []byte("b"), At: noon, Grant: schemas.Grant{UserID: "eve"}}, true, true},
	}
	for _, tt := range tests {
		err := m.Apply(t.Context(), []schemas.Change{schemas.EndSession{ID: "none"}, tt.grant})
		if schemas.HasCode(err, schemas.CodeAuthRequest) != tt.fails || (err != nil) != tt.fails {
			t.Errorf("%s: %v", tt.name, err)
		}
		r, err := m.AuthRequest(t.Context(), "r")
		if err != nil || (r.Grant != nil) != tt.leaves || tt.leaves && r.Grant.UserID != "ada" {
			t.Errorf("%s: it is now %+v, %v", tt.name, r, err)
		}
	}
	if r, err := m.AuthRequest(t.Context(), "x"); !schemas.HasCode(err, schemas.CodeAuthRequest) {
		t.Errorf("got %+v, %v", r, err)
	}
}
