package directory

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/store/storetest"
	"github.com/postern-id/postern/schemas"
)

// fixture is a directory with the unit "default", the user type Person and the resource
// server "system".
type fixture struct {
	*Directory
	store *store.Store
	unit  string // the id of the unit "default"
}

// newFixture returns a world in memory.
func newFixture(t testing.TB) *fixture {
	t.Helper()
	return openFixture(t, "sqlite", ":memory:")
}

// each runs a test on both databases. SQLite uses a file, with separate connections for
// readers and the writer, as a server does.
func each(t *testing.T, test func(*testing.T, *fixture)) {
	t.Run("sqlite", func(t *testing.T) { test(t, openFixture(t, "sqlite", filepath.Join(t.TempDir(), "store.db"))) })
	t.Run("postgres", func(t *testing.T) { test(t, openFixture(t, "postgres", storetest.EmptyPostgres(t))) })
}

func openFixture(t testing.TB, driver, dsn string) *fixture {
	t.Helper()
	s := storetest.OpenEmpty(t, store.Config{Driver: driver, DSN: dsn})
	w := &fixture{store: s}
	w.Directory = New(Options{Store: s, Hasher: plainHasher{}, DigestKey: []byte("0123456789abcdef0123456789abcdef"), Box: plainCipher{}})
	w.furnish(t)
	return w
}

// furnish creates the resources that every directory starts with.
func (w *fixture) furnish(t testing.TB) {
	t.Helper()
	unit := &schemas.OrganizationUnit{ID: schemas.NewID(), Handle: DefaultUnit, Name: "Default"}
	w.unit = unit.ID
	person := schemas.Person()
	person.OUID = unit.ID
	system := &schemas.ResourceServer{ID: schemas.NewID(), Handle: systemPermission, Name: "System", OUID: unit.ID, IsReadOnly: true}
	for _, handle := range []string{"applications", "users", "user-types", "organization-units", "groups", "roles", "resource-servers", "identity-providers", "flows"} {
		system.Resources = append(system.Resources, schemas.Resource{
			Handle: handle, Actions: []schemas.ResourceAction{{Handle: "read"}, {Handle: "write"}},
		})
	}
	system.Resources = append(system.Resources, schemas.Resource{Handle: "audit", Actions: []schemas.ResourceAction{{Handle: "read"}}})
	must(t, w.store.Update(t.Context(), func(tx *store.Tx) error {
		now := time.Now()
		unit.CreatedAt, person.CreatedAt, system.CreatedAt = now, now, now
		unit.UpdatedAt, person.UpdatedAt, system.UpdatedAt = now, now, now
		return errors.Join(store.Units().Insert(tx, unit), store.UserTypes().Insert(tx, &person), store.ResourceServers().Insert(tx, system))
	}))
}

// create adds a resource and returns its id.
func (w *fixture) create(t testing.TB, of Resource, body string) string {
	t.Helper()
	item, err := of.Create(t.Context(), SystemCall(), doc(t, body))
	must(t, err)
	return item.ID
}

// role adds a role with the permissions, assigned to a user.
func (w *fixture) role(t testing.TB, user string, permissions ...string) *schemas.Role {
	t.Helper()
	now := w.now()
	r := &schemas.Role{
		ID: schemas.NewID(), Name: schemas.NewID(), OUID: w.unit, Permissions: permissions, CreatedAt: now, UpdatedAt: now,
		Assignments: []schemas.Principal{{Type: schemas.UserPrincipal, ID: user}},
	}
	must(t, w.store.Update(t.Context(), func(tx *store.Tx) error { return store.Roles().Insert(tx, r) }))
	return r
}

// as returns a call of a user whose token grants the permissions.
func as(user string, permissions ...string) Call {
	return Call{Actor: schemas.Actor{Type: schemas.UserActor, ID: user}, Permissions: permissions}
}

// doc parses a body.
func doc(t testing.TB, body string) *schemas.Document {
	t.Helper()
	d, problems := schemas.ParseJSON([]byte(body))
	if len(problems) > 0 {
		t.Fatalf("%s: %v", body, problems)
	}
	return d
}

// object returns a JSON object of alternating names and values.
func object(t testing.TB, pairs ...any) string {
	t.Helper()
	members := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		members[pairs[i].(string)] = pairs[i+1]
	}
	text, err := json.Marshal(members)
	must(t, err)
	return string(text)
}

// plainHasher stores passwords in clear.
type plainHasher struct{}

func (plainHasher) Hash(_ context.Context, password string) (string, error) {
	return "plain:" + password, nil
}

func (plainHasher) Verify(_ context.Context, phc, password string) (ok, rehash bool, err error) {
	return phc == "plain:"+password, false, nil
}

// plainCipher seals a text by appending its owner.
type plainCipher struct{}

func (plainCipher) Seal(text []byte, belongs string) []byte {
	return []byte(belongs + "|" + string(text))
}

func (plainCipher) Open(sealed []byte, belongs string) ([]byte, error) {
	text, ok := strings.CutPrefix(string(sealed), belongs+"|")
	if !ok {
		return nil, errors.New("it belongs to something else")
	}
	return []byte(text), nil
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// refused checks that err has the code and each problem: a path, a colon, and a part of the
// message.
func refused(t testing.TB, err error, code string, problems ...string) {
	t.Helper()
	if !schemas.HasCode(err, code) {
		t.Fatalf("got %v, expected the code %s", err, code)
	}
	reported := schemas.AsError(err).Errors
	for _, want := range problems {
		path, part, _ := strings.Cut(want, ": ")
		found := false
		for _, p := range reported {
			found = found || p.Path == path && strings.Contains(p.Message, part)
		}
		if !found {
			t.Errorf("no problem %q in %v", want, err)
		}
	}
	if len(problems) > 0 && len(reported) != len(problems) {
		t.Errorf("got %d problems, expected %d: %v", len(reported), len(problems), err)
	}
}

// sequential skips a long test without concurrency with -short, as `make race` runs.
func sequential(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("long, and one thing after another: run it without -short")
	}
}
