package declare_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/declare"
	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/store/storetest"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
)

// plain stores passwords unhashed, so that tests can read them.
type plain struct{}

func (plain) Hash(_ context.Context, password string) (string, error) {
	return "plain:" + password, nil
}

func (plain) Verify(_ context.Context, phc, password string) (ok, rehash bool, err error) {
	return phc == "plain:"+password, false, nil
}

// clear seals nothing.
type clear struct{}

func (clear) Seal(text []byte, _ string) []byte { return text }

func (clear) Open(sealed []byte, _ string) ([]byte, error) { return sealed, nil }

// fixture is a directory with the resources that files refer to: the unit "default", the type
// Person, flows, the resource server "system", and the administrator Ada.
type fixture struct {
	*directory.Directory
	t     testing.TB
	store *store.Store
}

const seed = `
organizationUnits:
  - {id: 01900000-0000-7000-8000-000000000010, handle: default, name: Default}
userTypes:
  - id: 01900000-0000-7000-8000-000000000020
    name: Person
    schema:
      type: object
      properties:
        username: {type: string, x-unique: true}
        email: {type: string}
        password: {type: string, x-credential: true}
        score: {type: number}
resourceServers:
  - id: 01900000-0000-7000-8000-000000000030
    handle: system
    name: System
    resources:
      - {handle: users, actions: [{handle: read}]}
flows:
  - id: 01900000-0000-7000-8000-000000000060
    handle: sign-in
    name: Sign in
    flowType: AUTHENTICATION
    nodes:
      - {id: key, use: passkey-authenticate, with: {mode: usernameless}, next: {success: done}}
      - {id: done, use: authorization-code}
  - id: 01900000-0000-7000-8000-000000000061
    handle: passkey-sign-up
    name: Sign up
    flowType: REGISTRATION
    nodes:
      - id: who
        use: prompt
        with: {inputs: [{identifier: username, type: TEXT_INPUT, label: Username, required: true}], actions: [{ref: continue, label: Continue}]}
        next: {continue: create}
      - {id: create, use: user-create, next: {created: key, taken: who}}
      - {id: key, use: passkey-register, next: {success: done, failure: key}}
      - {id: done, use: authorization-code}
users:
  - {id: 01900000-0000-7000-8000-000000000070, type: Person, attributes: {username: ada}}
groups:
  - {id: 01900000-0000-7000-8000-000000000040, name: Administrators, members: [{type: user, id: ada}]}
roles:
  - {id: 01900000-0000-7000-8000-000000000050, name: Administrator, permissions: [system], assignments: [{type: group, id: Administrators}]}
`

func openFixture(t testing.TB, driver, dsn string) *fixture {
	t.Helper()
	s := storetest.OpenEmpty(t, store.Config{Driver: driver, DSN: dsn})
	kinds := nodes.Kinds(nodes.Deps{})
	w := &fixture{t: t, store: s, Directory: directory.New(directory.Options{
		Store: s, Hasher: plain{}, DigestKey: []byte("0123456789abcdef0123456789abcdef"), Box: clear{},
		CheckFlow: func(text []byte, yaml bool, set schemas.Subflows) (*schemas.Flow, []schemas.Problem) {
			flow, _, problems := engine.CheckUsing(text, yaml, kinds, set)
			return flow, problems
		},
	})}
	w.ensure(seed)
	return w
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	return openFixture(t, "sqlite", ":memory:")
}

// each runs a test on both databases.
func each(t *testing.T, test func(t *testing.T, w *fixture)) {
	t.Run("sqlite", func(t *testing.T) { test(t, openFixture(t, "sqlite", filepath.Join(t.TempDir(), "store.db"))) })
	t.Run("postgres", func(t *testing.T) { test(t, openFixture(t, "postgres", storetest.EmptyPostgres(t))) })
}

// environ is an environment of variables NAME=value.
func environ(variables ...string) declare.Secrets {
	values := map[string]string{}
	for _, v := range variables {
		name, value, _ := strings.Cut(v, "=")
		values[name] = value
	}
	return declare.Secrets{Getenv: func(name string) string { return values[name] }}
}

// ensure applies a seed file and returns what it created.
func (w *fixture) ensure(text string, variables ...string) (created []string) {
	w.t.Helper()
	created, err := w.tryEnsure(text, variables...)
	if err != nil {
		w.t.Fatal(err)
	}
	return created
}

func (w *fixture) tryEnsure(text string, variables ...string) (created []string, err error) {
	resources, err := declare.ReadSeed("seed.yaml", []byte(text))
	if err != nil {
		return nil, err
	}
	err = w.Transact(w.t.Context(), directory.SystemCall(), func(call directory.Call) error {
		created = nil
		return declare.Ensure(w.t.Context(), declare.NewDirectory(w.Directory, call), resources, environ(variables...), func(e declare.Ensured) {
			if e.Created {
				created = append(created, e.Name())
			}
		})
	})
	return created, err
}

// export writes the store to a folder and returns the folder.
func (w *fixture) export() (dir string) {
	w.t.Helper()
	dir = w.t.TempDir()
	if err := declare.WriteFolder(dir, w.files(), false); err != nil {
		w.t.Fatal(err)
	}
	return dir
}

// files returns the files of an export, with the schema of flows.
func (w *fixture) files() map[string][]byte {
	w.t.Helper()
	files, err := declare.Export(w.t.Context(), w.Directory)
	if err != nil {
		w.t.Fatal(err)
	}
	declare.NameSchemas(files, "https://login.example.org/schemas/flow.json")
	return files
}

// apply applies a folder and returns the plan.
func (w *fixture) apply(dir string, o declare.Options) (string, error) {
	w.t.Helper()
	tree, err := declare.ReadTree(dir)
	if err != nil {
		return "", err
	}
	plan, err := declare.Apply(w.t.Context(), w.Directory, tree, o)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	plan.Write(&b)
	if plan.Applied {
		b.WriteString("applied\n")
	}
	return strings.ReplaceAll(b.String(), dir+string(filepath.Separator), ""), nil
}

// mustApply is apply for a correct folder.
func (w *fixture) mustApply(dir string, o declare.Options) string {
	w.t.Helper()
	plan, err := w.apply(dir, o)
	if err != nil {
		w.t.Fatal(err)
	}
	return plan
}

// write writes a file of a tree; an empty text removes it.
func write(t testing.TB, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if text == "" {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		return
	}
	datatest.WriteFile(t, path, text)
}

// edit replaces a text that a file of a tree must contain.
func edit(t testing.TB, dir, name, old, with string) {
	t.Helper()
	text := datatest.ReadFile(t, filepath.Join(dir, filepath.FromSlash(name)))
	if !strings.Contains(string(text), old) {
		t.Fatalf("%s has no %q:\n%s", name, old, text)
	}
	write(t, dir, name, strings.ReplaceAll(string(text), old, with))
}

// same compares two exports.
func same(t testing.TB, was, is map[string][]byte) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(was)) {
		if string(was[name]) != string(is[name]) {
			t.Errorf("%s was\n%s\nand is\n%s", name, was[name], is[name])
		}
	}
	if len(was) != len(is) {
		t.Errorf("there were %d files, and are %d", len(was), len(is))
	}
}

// many returns a seed with the given numbers of resources.
func many(applications, users, flows int) string {
	var b strings.Builder
	b.WriteString("organizationUnits:\n  - {handle: customers, name: Customers, parentId: default}\nflows:\n")
	for i := range flows {
		fmt.Fprintf(&b, "  - {handle: flow-%d, name: \"Flow <%d> & more: %d%%\", flowType: AUTHENTICATION, nodes: [{id: key, use: passkey-authenticate, with: {mode: usernameless}, next: {success: done}}, {id: done, use: authorization-code}]}\n", i, i, i)
	}
	b.WriteString("identityProviders:\n  - {handle: open, name: Open, issuer: \"https://login.example.org\", clientId: postern}\n")
	for i := range flows {
		fmt.Fprintf(&b, "  - {handle: client_%d, name: \"Corp %d\", issuer: \"https://login-%d.example.com/\", clientId: postern, clientSecret: {env: SECRET}, scopes: [email, openid]}\n", i, i, i)
	}
	b.WriteString("applications:\n")
	for i := range applications {
		fmt.Fprintf(&b, "  - name: \"App %d: ünïcode, 'quotes' # and all\"\n    ouId: customers\n    authFlowId: flow-%d\n    customizations: {theme: {dark: true, sizes: [1, 2.50, 1e3], none: null, family: \"a, b\"}, lines: \"a\\nb\\n\"}\n", i, i%flows)
		if i%2 == 0 {
			fmt.Fprintf(&b, "    inboundAuthConfig: [{type: oauth2, config: {clientId: \"client.%d\", redirectUris: [\"https://app-%d.example.com/cb\"], tokenEndpointAuthMethod: client_secret_basic, clientSecret: {env: SECRET}, backchannelLogoutUri: \"https://app-%d.example.com/out\", backchannelLogoutSessionRequired: true}}]\n", i, i, i)
		}
	}
	b.WriteString("users:\n")
	for i := range users {
		fmt.Fprintf(&b, "  - {type: Person, ouId: customers, attributes: {username: \"user%d@example.com\", email: \"user%d@example.com\", score: %d.5}}\n", i, i, i)
	}
	b.WriteString("groups:\n  - name: Everybody\n    members:\n")
	for i := range users {
		fmt.Fprintf(&b, "      - {type: user, id: \"user%d@example.com\"}\n", i)
	}
	b.WriteString("      - {type: group, id: Administrators}\nroles:\n  - name: Reader\n    permissions: [\"system:users:read\"]\n    assignments: [{type: group, id: Everybody}, {type: application, id: \"App 0: ünïcode, 'quotes' # and all\"}, {type: user, id: ada}]\n")
	return b.String()
}
