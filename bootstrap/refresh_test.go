package bootstrap_test

import (
	"database/sql"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/bootstrap"
	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/internal/store/storetest"
	"github.com/postern-id/postern/schemas"
)

// The API's own resource server gets the missing permissions once, and keeps what roles
// grant.
func TestRefreshPermissions(t *testing.T) {
	eachStore(t, func(t *testing.T, w *fixture) {
		if err := bootstrap.Refresh(t.Context(), w.Directory, baseURL); err != nil {
			t.Fatalf("an empty store: %v", err)
		}
		w.seed(t, bootstrap.Admin{})
		server := func() (*directory.Item, *schemas.ResourceServer) {
			t.Helper()
			item, err := w.ResourceServers.Find(t.Context(), directory.SystemCall(), directory.SystemServer)
			if err != nil {
				t.Fatal(err)
			}
			return item, item.Value.(*schemas.ResourceServer)
		}
		before, old := server()
		all := old.Permissions
		old.Resources = old.Resources[:2] // applications and users
		if _, err := w.ResourceServers.Replace(t.Context(), directory.SystemCall(), before.ID, "", documentOf(t, old)); err != nil {
			t.Fatal(err)
		}
		tags := map[string]bool{}
		for range 2 {
			if err := bootstrap.Refresh(t.Context(), w.Directory, baseURL); err != nil {
				t.Fatal(err)
			}
			item, is := server()
			tags[item.ETag] = true
			if !slices.Equal(is.Permissions, all) || is.OUID != old.OUID || !is.IsReadOnly {
				t.Errorf("it is %+v, expected the permissions %q", is, all)
			}
		}
		if len(tags) != 1 {
			t.Error("what was up to date was written again")
		}
	})
}

// Flows of an earlier release are updated once; edited flows stay.
func TestRefresh(t *testing.T) {
	eachStore(t, func(t *testing.T, w *fixture) {
		w.seed(t, bootstrap.Admin{})
		put := func(id string, f *schemas.Flow) {
			t.Helper()
			if _, err := w.Flows.Replace(t.Context(), directory.SystemCall(), id, "", documentOf(t, f)); err != nil {
				t.Fatal(err)
			}
		}
		ids := map[string]string{}
		for _, handle := range []string{"sign-in", "password-sign-in"} {
			text := datatest.ReadFile(t, filepath.Join("../flows/testdata/former", strings.ReplaceAll(handle, "-", "_")+".yaml"))
			f, _, problems := schemas.ParseFlow(text, true)
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			item, err := w.Flows.Find(t.Context(), directory.SystemCall(), "AUTHENTICATION/"+handle)
			if err != nil {
				t.Fatal(err)
			}
			if ids[handle] = item.ID; handle == "password-sign-in" {
				f.Name = "Our own"
			}
			put(item.ID, f)
		}
		for range 2 {
			if err := bootstrap.Refresh(t.Context(), w.Directory, baseURL); err != nil {
				t.Fatal(err)
			}
		}
		for handle, want := range map[string]struct {
			version int
			asks    bool
		}{"sign-in": {3, true}, "password-sign-in": {2, false}} {
			item, err := w.Flows.Get(t.Context(), directory.SystemCall(), ids[handle])
			if err != nil {
				t.Fatal(err)
			}
			f := item.Value.(*schemas.Flow)
			asks := false
			for _, n := range f.Nodes {
				asks = asks || n.Use == "consent"
			}
			if f.ActiveVersion != want.version || asks != want.asks {
				t.Errorf("%s is at version %d and asks: %v, want %+v", handle, f.ActiveVersion, asks, want)
			}
		}
	})
}

// A store of an earlier release gets the built-in flows that it did not have, once. A deleted flow
// stays deleted, and another flow with the same handle keeps it.
func TestRefreshAddsFlows(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) { testRefreshAddsFlows(t, "sqlite", filepath.Join(t.TempDir(), "postern.db")) })
	t.Run("postgres", func(t *testing.T) { testRefreshAddsFlows(t, "postgres", storetest.EmptyPostgres(t)) })
}

func testRefreshAddsFlows(t *testing.T, driver, dsn string) {
	w := open(t, driver, dsn)
	w.seed(t, bootstrap.Admin{})
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, query := range []string{"DELETE FROM flow_versions WHERE handle IN ", "DELETE FROM flows WHERE handle IN "} {
		if _, err := db.ExecContext(t.Context(), query+"('forgotten-password', 'lost-passkey', 'password-sign-up')"); err != nil {
			t.Fatal(err)
		}
	}
	find := func(key string) *directory.Item {
		t.Helper()
		item, err := w.Flows.Find(t.Context(), directory.SystemCall(), key)
		if err != nil {
			t.Fatal(err)
		}
		return item
	}
	refresh := func() {
		t.Helper()
		if err := bootstrap.Refresh(t.Context(), w.Directory, baseURL); err != nil {
			t.Fatal(err)
		}
	}
	const password, passkey = "AUTHENTICATION/forgotten-password", "AUTHENTICATION/lost-passkey"
	own := *find("AUTHENTICATION/password-sign-in").Value.(*schemas.Flow)
	own.ID, own.Handle = schemas.NewID(), "forgotten-password"
	if _, err := w.Flows.Create(t.Context(), directory.SystemCall(), documentOf(t, &own)); err != nil {
		t.Fatal(err)
	}
	refresh()
	if got := find(password); got == nil || got.ID != own.ID {
		t.Errorf("the flow with the handle of a new one is now %v", got)
	}
	added := find(passkey)
	if added == nil || added.ID != "01900000-0000-7000-8000-000000000067" {
		t.Fatalf("the new flow is %v, want it with the id of a new store", added)
	}
	if got := find("REGISTRATION/password-sign-up"); got != nil {
		t.Errorf("the deleted flow of an earlier release is back: %v", got)
	}
	refresh()
	if got := find(passkey); got == nil || got.ETag != added.ETag {
		t.Errorf("a second start wrote the flow again: %v", got)
	}
	if err := w.Flows.Delete(t.Context(), directory.SystemCall(), added.ID, ""); err != nil {
		t.Fatal(err)
	}
	refresh()
	if got := find(passkey); got != nil {
		t.Errorf("the deleted flow is back: %v", got)
	}
}

func documentOf(t *testing.T, value any) *schemas.Document {
	t.Helper()
	text := datatest.Marshal(t, value)
	d, problems := schemas.ParseJSON(text)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return d
}
