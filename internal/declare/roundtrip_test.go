package declare_test

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/declare"
	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/internal/store/storetest"
	"github.com/postern-id/postern/schemas"
)

const secret = "SECRET=0123456789abcdef0123456789abcdef"

// Applying an export to the same store changes nothing. Applying it to an empty store gives
// an equal export.
func TestRoundTrip(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		roundTrip(t, newFixture(t), newFixture(t), many(200/scale, 2000/scale, 50/scale))
	})
	t.Run("postgres", func(t *testing.T) {
		roundTrip(t, openFixture(t, "postgres", storetest.EmptyPostgres(t)), openFixture(t, "postgres", storetest.EmptyPostgres(t)), many(20, 100, 5))
	})
}

func roundTrip(t *testing.T, first, second *fixture, content string) {
	first.ensure(content, secret)
	was := first.files()
	dir := first.export()
	header := "# yaml-language-server: $schema=https://login.example.org/schemas/flow.json\n"
	for name, text := range was {
		if named := strings.HasPrefix(string(text), header); named != strings.HasPrefix(name, "flows/") {
			t.Errorf("%s names its schema: %t", name, named)
		}
	}
	events := first.events()
	if plan := first.mustApply(dir, declare.Options{Delete: true}); plan != "0 to create, 0 to change, 0 to delete\napplied\n" {
		t.Fatalf("applying what was exported would do\n%.2000s", plan)
	}
	if first.events() != events {
		t.Error("applying what was exported is recorded as a change")
	}
	same(t, was, first.files())

	plan := second.mustApply(dir, declare.Options{Delete: true, Secrets: environ(secrets(was)...)})
	if !strings.Contains(plan, "0 to change, 0 to delete\napplied") {
		t.Errorf("applying to another store does\n%.2000s", plan)
	}
	same(t, was, second.files())
}

// TestRoundTripOfMappings: the groups of a mapping are written by their names, and created before the provider.
func TestRoundTripOfMappings(t *testing.T) {
	first := newFixture(t)
	roundTrip(t, first, newFixture(t), `
resourceServers: [{handle: wiki, name: Wiki, identifier: "https://wiki.example.com", resources: [{handle: pages, actions: [{handle: write}]}]}]
groups: [{name: Writers}, {name: Sales}, {name: Staff, members: [{type: group, id: Sales}]}]
roles: [{name: Writer, permissions: ["wiki:pages:write"], assignments: [{type: group, id: Writers}]}]
identityProviders:
  - handle: corp
    name: Corp
    issuer: https://login.example.org
    clientId: postern
    mapping:
      userinfo: true
      attributes: [{from: address.country, to: locale, default: en, apply: firstSignIn}, {from: email, to: email, verifiedBy: email_verified, domains: [example.com]}]
      groups: [{from: groups, map: {"a.b/c": Writers, sal: Sales}}, {from: groups, below: Staff, prefix: x-, removePrefix: true}]
      permissions: ["wiki:pages:write"]`)
	text := string(first.files()["identity-providers/corp.yaml"])
	for _, want := range []string{"a.b/c: Writers", "below: Staff", "wiki:pages:write"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

// secrets sets each variable that an export names.
func secrets(files map[string][]byte) (list []string) {
	for _, text := range files {
		if _, after, found := bytes.Cut(text, []byte("env: ")); found {
			name, _, _ := strings.Cut(string(after), "\n")
			list = append(list, name+"=0123456789abcdef0123456789abcdef")
		}
	}
	return list
}

func (w *fixture) events() int {
	w.t.Helper()
	events, err := w.store.Events(w.t.Context(), schemas.EventQuery{Limit: 100_000})
	if err != nil {
		w.t.Fatal(err)
	}
	return len(events)
}

// An export contains no secrets, times or derived members.
func TestExportOmitsServerValues(t *testing.T) {
	w := newFixture(t)
	w.ensure(`
identityProviders: [{handle: shop, name: Example Corp, issuer: "https://login.example.com", clientId: postern, clientSecret: {env: SECRET}}, {handle: open, name: Open, issuer: "https://login.example.org", clientId: postern}]
users: [{type: Person, attributes: {username: eve, password: {env: PASSWORD}}}]
applications: [{name: Shop, inboundAuthConfig: [{type: oauth2, config: {clientId: shop, redirectUris: ["https://shop.example.com"], tokenEndpointAuthMethod: client_secret_post, clientSecret: {env: SECRET}}}]}]`,
		"PASSWORD=quiet harbour lantern", secret)
	all := string(bytes.Join(texts(w.files()), nil))
	for _, unwanted := range []string{"harbour", "0123456789abcdef0123456789abcdef", "createdAt", "updatedAt", "isReadOnly", "activeVersion", "system:users:read", "password:"} {
		// The user type contains the word.
		if n := strings.Count(all, unwanted); n > strings.Count(string(w.files()["user-types/person.yaml"]), unwanted) {
			t.Errorf("%q is in the export:\n%s", unwanted, all)
		}
	}
	if !strings.Contains(all, "clientSecret:\n        env: POSTERN_SECRET_SHOP\n") || strings.Count(all, "clientId: shop") != 1 {
		t.Errorf("the secret of the shop has no place:\n%s", w.files()["applications/shop.yaml"])
	}
	for name, want := range map[string]bool{"shop": true, "open": false} { // the two secrets need two variables
		text := string(w.files()["identity-providers/"+name+".yaml"])
		if got := strings.Contains(text, "clientSecret:\n  env: POSTERN_SECRET_IDENTITY_PROVIDER_SHOP\n"); got != want || text == "" {
			t.Errorf("the secret has a place: %t, in\n%s", got, text)
		}
	}
}

func texts(files map[string][]byte) (list [][]byte) {
	for _, text := range files {
		list = append(list, text)
	}
	return list
}

// Ids distinguish resources with the same file name, and no name leads out of its folder.
func TestExportFileNames(t *testing.T) {
	w := newFixture(t)
	w.ensure(`
groups:
  - {id: 01900000-0000-7000-8000-00000000a001, name: "A B"}
  - {id: 01900000-0000-7000-8000-00000000a002, name: "a/b"}
  - {id: 01900000-0000-7000-8000-00000000a003, name: "../../etc/passwd"}
  - {id: 01900000-0000-7000-8000-00000000a004, name: "日本"}
  - {id: 01900000-0000-7000-8000-00000000a005, name: ".hidden"}
users:
  - {id: 01900000-0000-7000-8000-00000000a006, type: Person, attributes: {email: eve@example.com}}
  - {id: 01900000-0000-7000-8000-00000000a007, type: Person, attributes: {username: Eve.Adams@example.com}}
  - {id: 01900000-0000-7000-8000-00000000a008, type: Person, attributes: {username: "` + strings.Repeat("x", 100) + `"}}`)
	names := strings.Join(slices.Sorted(maps.Keys(w.files())), "\n")
	for _, want := range []string{
		"groups/a-b.01900000-0000-7000-8000-00000000a001.yaml", "groups/a-b.01900000-0000-7000-8000-00000000a002.yaml",
		"groups/etc-passwd.yaml", "groups/01900000-0000-7000-8000-00000000a004.yaml", "groups/hidden.yaml",
		"users/01900000-0000-7000-8000-00000000a006.yaml", "users/eve.adams@example.com.yaml",
		"users/" + strings.Repeat("x", 80) + ".yaml", "flows/authentication/sign-in.yaml", "flows/registration/passkey-sign-up.yaml",
	} {
		if !strings.Contains(names+"\n", want+"\n") {
			t.Errorf("no %s in\n%s", want, names)
		}
	}
	if plan := w.mustApply(w.export(), declare.Options{}); !strings.HasPrefix(plan, "0 to create, 0 to change") {
		t.Errorf("%s", plan)
	}
}

// References use the id of a user without a name or with one that looks like an id.
func TestExportReferencesResolve(t *testing.T) {
	w := newFixture(t)
	w.ensure(`
users:
  - {id: 01900000-0000-7000-8000-00000000a001, type: Person, attributes: {email: eve@example.com}}
groups:
  - {id: 01900000-0000-7000-8000-00000000a002, name: 01900000-0000-7000-8000-00000000a001}
  - {name: Mixed, members: [{type: user, id: 01900000-0000-7000-8000-00000000a001}, {type: group, id: 01900000-0000-7000-8000-00000000a002}, {type: user, id: ADA}]}`)
	text := string(w.files()["groups/mixed.yaml"])
	for _, want := range []string{"id: 01900000-0000-7000-8000-00000000a001\n", "id: 01900000-0000-7000-8000-00000000a002\n", "id: ada\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if plan := w.mustApply(w.export(), declare.Options{}); !strings.HasPrefix(plan, "0 to create, 0 to change") {
		t.Errorf("%s", plan)
	}
}

// The nouns of files match those of the directory, and each follows those it refers to.
func TestNouns(t *testing.T) {
	w := newFixture(t)
	known := map[string]declare.Noun{}
	for _, n := range declare.Nouns() {
		known[n.Plural] = n
	}
	for _, r := range w.Resources() {
		n, of := known[r.Noun().Plural], r.Noun()
		if n.Name != of.Name || "/"+n.Folder != of.Path {
			t.Errorf("files know the noun %+v as %+v", of, n)
		}
		if _, err := r.List(t.Context(), directory.SystemCall(), directory.Query{Limit: 1, Filter: n.Filter, Value: "x"}); err != nil {
			t.Errorf("%s: %v", n.Plural, err)
		}
		delete(known, of.Plural)
	}
	if len(known) > 0 {
		t.Errorf("only files know %v", known)
	}
}

// An export is a snapshot. It neither waits for writes nor blocks them.
func TestExportIsConsistent(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		was := w.files()
		err := w.Transact(t.Context(), directory.SystemCall(), func(call directory.Call) error {
			staff := declare.Resource{Noun: noun(t, "groups"), Document: document(t, `{"name":"Staff"}`)}
			if _, err := declare.NewDirectory(w.Directory, call).Create(t.Context(), staff.Noun, staff.Document); err != nil {
				return err
			}
			same(t, was, w.files())
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		err = w.Snapshot(t.Context(), directory.SystemCall(), func(call directory.Call) error {
			target := declare.NewDirectory(w.Directory, call)
			before, err := target.List(t.Context(), noun(t, "groups"), "")
			if err != nil {
				return err
			}
			w.ensure("groups: [{name: Others}]")
			after, err := target.List(t.Context(), noun(t, "groups"), "")
			if len(after) != len(before) || len(after) != 2 {
				t.Errorf("there were %d groups, and are %d", len(before), len(after))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func noun(t testing.TB, plural string) declare.Noun {
	t.Helper()
	n, ok := declare.NounOf(plural)
	if !ok {
		t.Fatal(plural)
	}
	return n
}

func document(t testing.TB, text string) *schemas.Document {
	t.Helper()
	d, err := declare.Read([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Exports omit self-registered clients, and applying an export neither removes nor changes
// them or their roles.
func TestSelfRegisteredClientsAreKept(t *testing.T) {
	for by, id := range map[string]string{schemas.RegisteredDynamically: "helper-client", schemas.RegisteredByDocument: "https://helper.example.com/helper-client"} {
		w := newFixture(t)
		client, err := w.Register(t.Context(), directory.SystemCall(), directory.Registration{By: by, Application: schemas.Application{
			Name: "Helper", ClientID: id, InboundAuthConfig: []schemas.InboundAuth{{Type: "oauth2", Config: schemas.OAuthProfile{
				ClientID: id, RedirectURIs: []string{"https://helper.example.com/cb"}, TokenEndpointAuthMethod: schemas.AuthMethodNone}}}}})
		if err != nil {
			t.Fatal(err)
		}
		w.ensure(`roles: [{name: Reader, permissions: ["system:users:read"], assignments: [{type: application, id: Helper}]}]`)
		was, err := w.Applications.Get(t.Context(), directory.SystemCall(), client.ID)
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range w.files() {
			if strings.HasPrefix(name, "applications/") || bytes.Contains(text, []byte("helper-client")) {
				t.Errorf("%s: %s is in the export:\n%s", by, name, text)
			}
		}
		if plan := w.mustApply(w.export(), declare.Options{Delete: true}); plan != "0 to create, 0 to change, 0 to delete\napplied\n" {
			t.Errorf("%s: applying what was exported would do\n%s", by, plan)
		}
		is, err := w.Applications.Get(t.Context(), directory.SystemCall(), client.ID)
		if err != nil || is.ETag != was.ETag {
			t.Errorf("%s: the client was %s and is %+v, %v", by, was.ETag, is, err)
		}
	}
}
