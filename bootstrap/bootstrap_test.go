package bootstrap_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/postern-id/postern/bootstrap"
	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/flows"
	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/store/storetest"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
)

const baseURL = "https://id.example.com"

// plain stores passwords unhashed, so that tests can read them.
type plain struct{}

func (plain) Hash(_ context.Context, password string) (string, error) {
	return "plain:" + password, nil
}

func (plain) Verify(_ context.Context, phc, password string) (ok, rehash bool, err error) {
	return phc == "plain:"+password, false, nil
}

// fixture is a directory on a store.
type fixture struct {
	*directory.Directory
	store *store.Store
}

func open(t *testing.T, driver, dsn string) *fixture {
	t.Helper()
	s := storetest.OpenEmpty(t, store.Config{Driver: driver, DSN: dsn})
	kinds := nodes.Kinds(nodes.Deps{})
	return &fixture{store: s, Directory: directory.New(directory.Options{
		Store: s, Hasher: plain{}, DigestKey: []byte("0123456789abcdef0123456789abcdef"),
		CheckFlow: func(text []byte, yaml bool, subflows schemas.Subflows) (*schemas.Flow, []schemas.Problem) {
			flow, _, problems := engine.CheckUsing(text, yaml, kinds, subflows)
			return flow, problems
		},
	})}
}

// eachStore runs a test on every database.
func eachStore(t *testing.T, test func(t *testing.T, w *fixture)) {
	t.Run("sqlite", func(t *testing.T) { test(t, open(t, "sqlite", filepath.Join(t.TempDir(), "postern.db"))) })
	t.Run("postgres", func(t *testing.T) { test(t, open(t, "postgres", storetest.EmptyPostgres(t))) })
}

func (w *fixture) seed(t *testing.T, admin bootstrap.Admin) *bootstrap.Admin {
	t.Helper()
	made, err := bootstrap.Seed(t.Context(), w.Directory, baseURL, admin)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func (w *fixture) user(t *testing.T, name string) *schemas.User {
	t.Helper()
	u, err := w.store.UserByAttribute(t.Context(), "", "username", name)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestSeed(t *testing.T) {
	eachStore(t, func(t *testing.T, w *fixture) {
		ctx := t.Context()
		admin := w.seed(t, bootstrap.Admin{Username: "root", Password: "quiet harbour lantern"})
		if admin == nil || admin.Username != "root" || admin.Password != "" {
			t.Fatalf("%+v: a chosen password is not shown", admin)
		}
		u := w.user(t, "root")
		if u.OUID != bootstrap.DefaultUnitID || u.Type != "Person" {
			t.Errorf("the administrator is %+v", u)
		}
		if password, err := w.store.Password(ctx, u.ID); err != nil || password.Hash != "plain:quiet harbour lantern" {
			t.Errorf("hash %q, %v", password.Hash, err)
		}
		if may, err := w.store.Permissions(ctx, u.ID); err != nil || strings.Join(may, " ") != "system" {
			t.Errorf("permissions %v, %v", may, err)
		}
		if holders, err := w.Administrators(ctx, directory.SystemCall(), 5); err != nil || !slices.Equal(holders, []string{u.ID}) {
			t.Errorf("administrators %v, %v", holders, err)
		}
		w.checkConsole(t)

		if again := w.seed(t, bootstrap.Admin{Username: "other"}); again != nil {
			t.Errorf("a second seeding: %+v", again)
		}
		if _, err := w.store.UserByAttribute(ctx, "", "username", "other"); !schemas.HasCode(err, schemas.CodeUserNotFound) {
			t.Errorf("a second administrator: %v", err)
		}
	})
}

// checkConsole checks that the console is an OAuth client whose flows run.
func (w *fixture) checkConsole(t *testing.T) {
	t.Helper()
	item, err := w.Applications.Get(t.Context(), directory.SystemCall(), bootstrap.ConsoleID)
	if err != nil {
		t.Fatal(err)
	}
	console := item.Value.(*schemas.Application)
	o := console.OAuth()
	if console.ClientID != "CONSOLE" || console.IsRegistrationFlowEnabled || o == nil || !*o.PublicClient ||
		!slices.Equal(o.RedirectURIs, []string{baseURL + "/console"}) || !slices.Contains(o.Scopes, "system") {
		t.Errorf("the console is %+v, %+v", console, o)
	}
	for _, id := range []string{console.AuthFlowID, console.RegistrationFlowID} {
		f, err := store.Flows().Get(t.Context(), w.store, id)
		if err != nil {
			t.Fatal(err)
		}
		if g, problems := engine.Compile(f, nodes.Kinds(nodes.Deps{})); g == nil {
			t.Errorf("the flow %s as it is stored: %v", f.Handle, problems)
		}
	}
}

// Seeded resources have the same ids in every store.
func TestSeedHasFixedIDs(t *testing.T) {
	w := open(t, "sqlite", ":memory:")
	w.seed(t, bootstrap.Admin{})
	for _, r := range w.Resources() {
		page, err := r.List(t.Context(), directory.SystemCall(), directory.Query{Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		if page.Total == 0 && r.Noun().Name != "identityProvider" {
			t.Errorf("no %s are seeded", r.Noun().Plural)
		}
		for _, item := range page.Items {
			if fixed := strings.HasPrefix(item.ID, "01900000-0000-7000-8000-0000000000"); !fixed && r.Noun().Name != "user" {
				t.Errorf("the %s %s: expected a fixed id", r.Noun().Name, item.ID)
			}
		}
	}
	builtin, err := flows.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	list, err := store.Flows().List(t.Context(), w.store, store.Page{Limit: 100})
	if err != nil || len(list) != len(builtin) {
		t.Errorf("%d flows, %v, expected %d", len(list), err, len(builtin))
	}
}

func TestSeedGeneratesAPassword(t *testing.T) {
	w := open(t, "sqlite", ":memory:")
	if admin := w.seed(t, bootstrap.Admin{}); admin.Username != "admin" || len(admin.Password) < 20 {
		t.Fatalf("%+v", admin)
	}
}

// Of several instances that start at once on an empty store, one reports a password, and it
// works.
func TestSeedOnce(t *testing.T) {
	eachStore(t, func(t *testing.T, w *fixture) {
		var mu sync.Mutex
		var reported []string
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				admin, err := bootstrap.Seed(t.Context(), w.Directory, baseURL, bootstrap.Admin{})
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					t.Error(err)
				} else if admin != nil {
					reported = append(reported, admin.Password)
				}
			})
		}
		wg.Wait()
		if len(reported) != 1 {
			t.Fatalf("%d instances reported a password", len(reported))
		}
		if password, err := w.store.Password(t.Context(), w.user(t, "admin").ID); err != nil || password.Hash != "plain:"+reported[0] {
			t.Errorf("the reported password is not the administrator's: %v", err)
		}
	})
}

// A failed seeding leaves nothing, so that the next one starts from scratch.
func TestSeedAllOrNothing(t *testing.T) {
	eachStore(t, func(t *testing.T, w *fixture) {
		for _, admin := range []bootstrap.Admin{{Username: " "}, {Password: "short"}} {
			if _, err := bootstrap.Seed(t.Context(), w.Directory, baseURL, admin); err == nil {
				t.Errorf("%+v was made administrator", admin)
			}
		}
		page, err := w.Units.List(t.Context(), directory.SystemCall(), directory.Query{Limit: 1})
		if err != nil || page.Total != 0 {
			t.Errorf("%d units are left, %v", page.Total, err)
		}
		if admin := w.seed(t, bootstrap.Admin{}); admin == nil {
			t.Error("the store is taken for seeded")
		}
	})
}

// A user who already has the administrator's name does not become administrator.
func TestSeedKeepsExistingPermissions(t *testing.T) {
	w := open(t, "sqlite", ":memory:")
	unit := schemas.OrganizationUnit{ID: bootstrap.DefaultUnitID, Handle: "default", Name: "Default"}
	person := schemas.UserType{ID: schemas.NewID(), Name: "Person", OUID: unit.ID, Schema: json.RawMessage(`{"type":"object","properties":{"username":{"type":"string"},"password":{"type":"string","x-credential":true}}}`)}
	user := schemas.User{ID: schemas.NewID(), Type: person.Name, OUID: unit.ID, Attributes: map[string]any{"username": "Admin"}}
	if err := w.store.Update(t.Context(), func(tx *store.Tx) error {
		return errors.Join(store.Units().Insert(tx, &unit), store.UserTypes().Insert(tx, &person), store.Users().Insert(tx, &user))
	}); err != nil {
		t.Fatal(err)
	}
	_, err := bootstrap.Seed(t.Context(), w.Directory, baseURL, bootstrap.Admin{})
	if err == nil || !strings.Contains(err.Error(), "ADMIN_USERNAME") {
		t.Fatalf("%v", err)
	}
	if admin := w.seed(t, bootstrap.Admin{Username: "root"}); admin == nil {
		t.Error("no administrator")
	}
	if may, err := w.store.Permissions(t.Context(), user.ID); err != nil || len(may) > 0 {
		t.Errorf("permissions %v, %v", may, err)
	}
}

func TestEnsureTry(t *testing.T) {
	w := open(t, "sqlite", ":memory:")
	ctx := t.Context()
	if err := bootstrap.EnsureTry(ctx, w.Directory, "https://id.example.com"); err == nil || !strings.Contains(err.Error(), "passkey-sign-in") {
		t.Errorf("before the flows exist: %v", err)
	}
	w.seed(t, bootstrap.Admin{})
	for range 2 {
		if err := bootstrap.EnsureTry(ctx, w.Directory, "https://id.example.com"); err != nil {
			t.Fatal(err)
		}
	}
	app, err := w.store.Application(ctx, bootstrap.TryID)
	if err != nil || !app.IsRegistrationFlowEnabled {
		t.Errorf("%+v, %v", app, err)
	}
}

// The clients of the examples can send codes to this machine only, and the one with a permission of the
// API asks for consent.
func TestEnsureExamples(t *testing.T) {
	w := open(t, "sqlite", ":memory:")
	ctx := t.Context()
	w.seed(t, bootstrap.Admin{})
	for range 2 {
		if err := bootstrap.EnsureExamples(ctx, w.Directory); err != nil {
			t.Fatal(err)
		}
	}
	for client, id := range map[string]string{"EXAMPLE": bootstrap.ExamplesID, "EXAMPLE_MCP": bootstrap.ExampleToolsID, "EXAMPLE_REACT": bootstrap.ExampleReactID} {
		app, err := w.store.ApplicationByClientID(ctx, client)
		if err != nil || app.ID != id {
			t.Fatalf("%s: %+v, %v", client, app, err)
		}
		for _, uri := range append(app.OAuth().RedirectURIs, app.OAuth().PostLogoutRedirectURIs...) {
			if u, err := url.Parse(uri); err != nil || u.Hostname() != "localhost" && u.Hostname() != "127.0.0.1" {
				t.Errorf("%s redirects to %s", app.Name, uri)
			}
		}
		if slices.Contains(app.OAuth().Scopes, "system") && !app.RequireConsent {
			t.Errorf("%s gets the permission system without consent", app.Name)
		}
	}
}

// examples/react names its application and the address of `make run`, so that it runs as it is.
func TestReactExampleNamesItsApplication(t *testing.T) {
	for mode, want := range map[string]string{
		"redirect":    `clientId = "EXAMPLE_REACT"`,
		"self-hosted": fmt.Sprintf("applicationId = %q", bootstrap.ExampleReactID),
	} {
		text, err := os.ReadFile("../examples/react/" + mode + "/postern.ts")
		if err != nil || !strings.Contains(string(text), want) || !strings.Contains(string(text), `"http://localhost:8090"`) {
			t.Errorf("%s/postern.ts lacks %s, %v", mode, want, err)
		}
	}
}

// The administrator's password is in no event.
func TestSeedIsRecorded(t *testing.T) {
	w := open(t, "sqlite", ":memory:")
	w.seed(t, bootstrap.Admin{Password: "quiet harbour lantern"})
	events, err := w.store.Events(t.Context(), schemas.EventQuery{Limit: 100})
	if err != nil || len(events) < 10 {
		t.Fatalf("%d events, %v", len(events), err)
	}
	text, err := json.Marshal(events)
	if err != nil || strings.Contains(string(text), "harbour") || !strings.Contains(string(text), `"role.created"`) {
		t.Errorf("%s, %v", text, err)
	}
	for _, e := range events {
		if e.Actor.Type != schemas.SystemActor {
			t.Errorf("%+v", e)
		}
	}
}
