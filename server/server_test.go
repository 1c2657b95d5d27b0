package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/flows"
	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/store/storetest"
	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server"
	"github.com/postern-id/postern/server/oauth"
)

// testServer is a server over a real store, directory and issuer, with what every
// store begins with.
type testServer struct {
	*passkeyFixture
	db        *store.Store
	directory *directory.Directory
	tokens    *token.Issuer
	base      string // the public URL
	unit      string // the id of the default unit
	admin     string // a header with a token that may do everything
}

// newTestServer makes a server in memory.
func newTestServer(t testing.TB, change ...func(*server.Options)) *testServer {
	t.Helper()
	return newOpenServer(t, "sqlite", ":memory:", change...)
}

func newOpenServer(t testing.TB, driver, dsn string, change ...func(*server.Options)) *testServer {
	t.Helper()
	db := storetest.OpenEmpty(t, store.Config{Driver: driver, DSN: dsn})
	box, err := token.NewCipher(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	h := &testServer{db: db}
	h.passkeyFixture = newPasskeyFixture(t, append(change, func(o *server.Options) {
		h.directory = directory.New(directory.Options{
			Store: db, Hasher: plainHasher{}, DigestKey: make([]byte, 32), Now: o.Now, Box: box,
			CheckFlow: func(text []byte, yaml bool, subflows schemas.Subflows) (*schemas.Flow, []schemas.Problem) {
				flow, _, problems := engine.CheckUsing(text, yaml, testKinds(), subflows)
				return flow, problems
			},
		})
		h.tokens, err = token.New(t.Context(), db, make([]byte, 32), token.Options{Issuer: o.PublicURL, Live: func(ctx context.Context, t schemas.TokenRef, _ string, scope []string) (bool, []string, error) {
			live, err := db.TokenLive(ctx, t)
			return live, scope, err
		}, Now: o.Now})
		if err != nil {
			t.Fatal(err)
		}
		o.Directory, o.Tokens, o.Keys, o.Audit, o.Store, o.Tools, o.Factors = h.directory, h.tokens, h.tokens, db, db, fakeTools{}, nodes.Enrollment{Box: box}
		h.base = o.PublicURL
		if o.AccountApplication != "" {
			o.OAuth = oauth.New(oauth.Options{Issuer: o.PublicURL, Store: db, Now: o.Now})
			o.Runs.Applications, o.Runs.Catalog = db, flows.NewCatalog(db, testKinds())
		}
	})...)
	h.furnish()
	h.admin = h.bearer(schemas.NewID(), "system")
	return h
}

// plainHasher is quick; how passwords are hashed is not the subject here.
type plainHasher struct{}

func (plainHasher) Hash(_ context.Context, password string) (string, error) {
	return "plain:" + password, nil
}

func (plainHasher) Verify(_ context.Context, phc, password string) (ok, rehash bool, err error) {
	return phc == "plain:"+password, false, nil
}

// furnish puts into the store what every store begins with.
func (h *testServer) furnish() {
	h.t.Helper()
	unit := &schemas.OrganizationUnit{ID: schemas.NewID(), Handle: directory.DefaultUnit, Name: "Default"}
	h.unit = unit.ID
	person := schemas.Person()
	person.OUID = unit.ID
	system := &schemas.ResourceServer{ID: schemas.NewID(), Handle: "system", Name: "System", OUID: unit.ID, IsReadOnly: true}
	for _, handle := range []string{"applications", "users", "user-types", "organization-units", "groups", "roles", "resource-servers", "identity-providers", "flows"} {
		system.Resources = append(system.Resources, schemas.Resource{
			Handle: handle, Actions: []schemas.ResourceAction{{Handle: "read"}, {Handle: "write"}},
		})
	}
	system.Resources = append(system.Resources, schemas.Resource{Handle: "audit", Actions: []schemas.ResourceAction{{Handle: "read"}}})
	err := h.db.Update(h.t.Context(), func(tx *store.Tx) error {
		now := h.clock()
		unit.CreatedAt, person.CreatedAt, system.CreatedAt = now, now, now
		unit.UpdatedAt, person.UpdatedAt, system.UpdatedAt = now, now, now
		return errors.Join(store.Units().Insert(tx, unit), store.UserTypes().Insert(tx, &person), store.ResourceServers().Insert(tx, system))
	})
	if err != nil {
		h.t.Fatal(err)
	}
	for _, text := range []string{
		`{"handle":"sign-in","name":"Sign in","flowType":"AUTHENTICATION","nodes":[{"id":"key","use":"prove","next":"end"}]}`,
		`{"handle":"passkey-sign-up","name":"Sign up","flowType":"REGISTRATION","nodes":[{"id":"who","use":"form","next":"end"}]}`,
	} {
		d, problems := schemas.ParseJSON([]byte(text))
		if _, err := h.directory.Flows.Create(h.t.Context(), directory.SystemCall(), d); err != nil || len(problems) > 0 {
			h.t.Fatal(err, problems)
		}
	}
}

// allow makes sure that there is a user of the id, who has those of the permissions that
// there are, by a role of their own.
func (h *testServer) allow(userID string, permissions []string) {
	h.t.Helper()
	err := h.db.Update(h.t.Context(), func(tx *store.Tx) error {
		now := h.clock()
		_, err := store.Users().Get(h.t.Context(), tx, userID)
		if schemas.HasClass(err, schemas.NotFound) {
			err = store.Users().Insert(tx, &schemas.User{ID: userID, Type: "Person", OUID: h.unit, CreatedAt: now, UpdatedAt: now})
		}
		known, wrong := store.ExistingKeys(h.t.Context(), tx, "permission", permissions)
		if err = errors.Join(err, wrong); err != nil || len(known) == 0 {
			return err
		}
		permissions = slices.Sorted(maps.Keys(known))
		return store.Roles().Insert(tx, &schemas.Role{ID: schemas.NewID(), Name: "Held " + schemas.NewID(), OUID: h.unit, Permissions: permissions,
			Assignments: []schemas.Principal{{Type: schemas.UserPrincipal, ID: userID}}, CreatedAt: now, UpdatedAt: now})
	})
	if err != nil {
		h.t.Fatal(err)
	}
}

// in is the server for a part of a test, which fails by itself. Its clock stands.
func (h *testServer) in(t *testing.T) *testServer {
	inner := *h
	inner.passkeyFixture = &passkeyFixture{t: t, handler: h.handler, log: h.log, now: h.clock()}
	return &inner
}

// bearer is the header with a token of a user that carries the permissions, which the
// user has from now on.
func (h *testServer) bearer(userID string, permissions ...string) string {
	h.t.Helper()
	h.allow(userID, permissions)
	return h.token(userID, permissions...)
}

// token is bearer for a user who has the permissions already.
func (h *testServer) token(userID string, permissions ...string) string {
	h.t.Helper()
	return h.assertionHeader(schemas.Assertion{Subject: userID, Audience: []string{h.base}, Permissions: permissions, AuthTime: h.clock()})
}

// assertionHeader is the header with an assertion.
func (h *testServer) assertionHeader(a schemas.Assertion) string {
	h.t.Helper()
	raw, err := h.tokens.Assert(h.t.Context(), a)
	if err != nil {
		h.t.Fatal(err)
	}
	return "Authorization: Bearer " + raw
}

// accessHeader is the header with an access token.
func (h *testServer) accessHeader(c token.Claims) string {
	h.t.Helper()
	raw, err := h.tokens.Access(h.t.Context(), c)
	if err != nil {
		h.t.Fatal(err)
	}
	return "Authorization: Bearer " + raw
}

// apply commits changes to the store.
func (h *testServer) apply(changes ...schemas.Change) {
	h.t.Helper()
	if err := h.db.Apply(h.t.Context(), storetest.Authorized(changes)); err != nil {
		h.t.Fatal(err)
	}
}

// ok sends a request with the administrator's token, unless the headers have
// another, and decodes the reply, which must have the status.
func (h *testServer) ok(status int, request, body string, headers ...string) (members, *httptest.ResponseRecorder) {
	h.t.Helper()
	method, path, _ := strings.Cut(request, " ")
	rec := h.do(method, path, body, append([]string{h.admin}, headers...)...)
	if rec.Code != status {
		h.t.Fatalf("%s %s: %d, want %d: %s", request, body, rec.Code, status, rec.Body)
	}
	var m members
	if rec.Body.Len() > 0 {
		if err := json.Unmarshal(rec.Body.Bytes(), &m); err != nil {
			h.t.Fatalf("%s: %v in %s", request, err, rec.Body)
		}
	}
	return m, rec
}

// create makes a resource and returns its id.
func (h *testServer) create(path, body string) string {
	h.t.Helper()
	m, _ := h.ok(201, "POST "+path, body)
	return m.text("id")
}

// members is a JSON object.
type members map[string]any

// text is the member at a path of names, as text; "" if it is none.
func (m members) text(path string) string {
	name, rest, more := strings.Cut(path, ".")
	if more {
		inner, _ := m[name].(map[string]any)
		return members(inner).text(rest)
	}
	s, _ := m[name].(string)
	return s
}

// number is a member that is a number.
func (m members) number(name string) int {
	n, _ := m[name].(float64)
	return int(n)
}

// list is a member that is a list of objects.
func (m members) list(name string) []members {
	var list []members
	values, _ := m[name].([]any)
	for _, v := range values {
		inner, _ := v.(map[string]any)
		list = append(list, inner)
	}
	return list
}
