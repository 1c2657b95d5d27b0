package bootstrap_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/bootstrap"
	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/schemas"
)

// The API's own resource server gets the missing permissions once, and keeps what roles
// grant.
func TestRefreshPermissions(t *testing.T) {
	eachStore(t, func(t *testing.T, w *fixture) {
		if err := bootstrap.Refresh(t.Context(), w.Directory); err != nil {
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
		text, err := json.Marshal(old)
		if err != nil {
			t.Fatal(err)
		}
		d, problems := schemas.ParseJSON(text)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		if _, err := w.ResourceServers.Replace(t.Context(), directory.SystemCall(), before.ID, "", d); err != nil {
			t.Fatal(err)
		}
		tags := map[string]bool{}
		for range 2 {
			if err := bootstrap.Refresh(t.Context(), w.Directory); err != nil {
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
			text, err := json.Marshal(f)
			if err != nil {
				t.Fatal(err)
			}
			d, problems := schemas.ParseJSON(text)
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			if _, err := w.Flows.Replace(t.Context(), directory.SystemCall(), id, "", d); err != nil {
				t.Fatal(err)
			}
		}
		ids := map[string]string{}
		for _, handle := range []string{"sign-in", "password-sign-in"} {
			text, err := os.ReadFile(filepath.Join("../flows/testdata/former", strings.ReplaceAll(handle, "-", "_")+".yaml"))
			if err != nil {
				t.Fatal(err)
			}
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
			if err := bootstrap.Refresh(t.Context(), w.Directory); err != nil {
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
