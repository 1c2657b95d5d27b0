package directory

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/flows/chains"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/store/storetest"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
)

// countedStatements counts the statements of writes, and keeps the different ones.
type countedStatements struct {
	n    atomic.Int64
	sent sync.Map
}

func (c *countedStatements) Read(_ context.Context, q string) (string, error)   { return q, nil }
func (c *countedStatements) Write(_ context.Context, commit func() error) error { return commit() }
func (c *countedStatements) Statement(q string) (string, error) {
	c.n.Add(1)
	c.sent.Store(q, true)
	return q, nil
}

// checksSystem sets the checks of the whole system.
func checksSystem(t *testing.T, w *fixture) *accessFixture {
	t.Helper()
	h := furnished(t, w)
	kinds := nodes.Kinds(nodes.Deps{})
	h.Options.CheckChains = (&chains.Checker{Kinds: kinds}).NewWays
	h.Options.AttributeUses = func(f *schemas.Flow) schemas.AttributeUses {
		if g, _ := engine.CompileStored(f, kinds); g != nil {
			return g.AttributeUses()
		}
		return schemas.AttributeUses{}
	}
	return h
}

func passkeyFlow(handle string) string {
	return `{"handle": "` + handle + `", "name": "` + handle + `", "flowType": "AUTHENTICATION", "nodes": ` + passkeyNodes + `}`
}

// systemWrites returns writes of each kind of resource. Each makes another change every time.
func systemWrites(t *testing.T, h *accessFixture) map[string]func() error {
	flow := h.create(t, h.Flows, passkeyFlow("measured"))
	app := h.create(t, h.Applications, object(t, "name", "Measured", "authFlowId", flow))
	provider := h.create(t, h.IdentityProviders, corp(t, "handle", "measured", "name", "Measured"))
	staff := h.create(t, h.UserTypes, userType("Measured", `{"type": "object"}`))
	own := h.create(t, h.UserTypes, userType("Scoped", `{"type": "object"}`))
	group := h.create(t, h.Groups, object(t, "name", "Measured"))
	shop := h.create(t, h.ResourceServers, object(t, "name", "Measured", "handle", "measured", "resources", []any{map[string]any{"name": "Orders", "handle": "orders"}}))
	n, enabled, scope := 0, false, "global"
	every := func(name string) string { return fmt.Sprint(name, " ", n) }
	create := func(r Resource, body func() string) func() error {
		return func() error {
			n++
			_, err := r.Create(t.Context(), SystemCall(), doc(t, body()))
			return err
		}
	}
	replace := func(r Resource, id string, body func() string) func() error {
		return func() error {
			n++
			_, err := r.Replace(t.Context(), SystemCall(), id, "", doc(t, body()))
			return err
		}
	}
	remove := func(r Resource, body func() string) func() error {
		return func() error {
			n++
			item, err := r.Create(t.Context(), SystemCall(), doc(t, body()))
			if err != nil {
				return err
			}
			return r.Delete(t.Context(), SystemCall(), item.ID, "")
		}
	}
	newFlow := func() string { return passkeyFlow(fmt.Sprint("new-", n)) }
	newApp := func() string { return object(t, "name", every("New"), "authFlowId", flow) }
	newType := func() string { return userType(fmt.Sprint("New", n), `{"type": "object"}`) }
	scoped := func() string {
		scope = map[string]string{"global": "userType", "userType": "global"}[scope]
		return object(t, "name", "Scoped", "schema", map[string]any{"type": "object"}, "identifierScope", scope)
	}
	twice := func(write func() error) func() error { return func() error { return errors.Join(write(), write()) } } // there and back
	return map[string]func() error{
		"application": create(h.Applications, newApp),
		"role": create(h.Roles, func() string {
			return object(t, "name", every("Role"), "permissions", []string{"system:users:read"})
		}),
		"flow of an application": twice(replace(h.Applications, app, func() string {
			enabled = !enabled
			return object(t, "name", "Measured", "authFlowId", flow, "isRegistrationFlowEnabled", enabled)
		})),
		"flow": replace(h.Flows, flow, func() string {
			return strings.Replace(passkeyFlow("measured"), `"name": "measured"`, fmt.Sprintf(`"name": "m%d"`, n), 1)
		}),
		"new flow":          create(h.Flows, newFlow),
		"identity provider": replace(h.IdentityProviders, provider, func() string { return corp(t, "handle", "measured", "name", every("M")) }),
		"schema of a user type": replace(h.UserTypes, staff, func() string {
			return userType("Measured", fmt.Sprintf(`{"type": "object", "title": "T%d"}`, n))
		}),
		"name of a user type":             remove(renaming{t, h.UserTypes}, newType),
		"identifier scope of a user type": twice(replace(h.UserTypes, own, scoped)),
		"new user type":                   create(h.UserTypes, newType),
		"deleted user type":               remove(h.UserTypes, newType),
		"deleted application":             remove(h.Applications, newApp),
		"deleted flow":                    remove(h.Flows, newFlow),
		"deleted identity provider":       remove(h.IdentityProviders, func() string { return corp(t, "handle", fmt.Sprint("new-", n), "name", every("New")) }),
		"group":                           replace(h.Groups, group, func() string { return object(t, "name", every("G")) }),
		"deleted group":                   remove(h.Groups, func() string { return object(t, "name", every("New")) }),
		"deleted unit":                    remove(h.Units, func() string { return object(t, "name", every("New"), "handle", fmt.Sprint("new-", n)) }),
		"resource server": replace(h.ResourceServers, shop, func() string {
			return object(t, "name", every("Measured"), "handle", "measured", "resources", []any{map[string]any{"name": "Orders", "handle": "orders"}})
		}),
		"user": create(h.Users, func() string {
			return object(t, "type", "Person", "attributes", map[string]any{"username": fmt.Sprint("new", n)})
		}),
	}
}

// renaming renames what it deletes before.
type renaming struct {
	t testing.TB
	Resource
}

func (r renaming) Delete(ctx context.Context, c Call, id, match string) error {
	_, err := r.Replace(ctx, c, id, match, doc(r.t, userType("Renamed"+id[len(id)-8:], `{"type": "object"}`)))
	if err != nil {
		return err
	}
	return r.Resource.Delete(ctx, c, id, "")
}

// wantPointReads checks that a statement reads no whole table that grows with the system.
func wantPointReads(t *testing.T, file, q string) {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	must(t, err)
	defer db.Close()
	steps, err := db.Query("EXPLAIN QUERY PLAN "+q, make([]any, strings.Count(q, "?"))...)
	if err != nil {
		return // not a statement with a plan
	}
	defer steps.Close()
	for steps.Next() {
		var id, parent, unused int
		var step string
		must(t, steps.Scan(&id, &parent, &unused, &step))
		scanned, isScan := strings.CutPrefix(step, "SCAN ")
		name, _, _ := strings.Cut(scanned, " ")
		for _, table := range []string{"applications", "oauth_profiles", "flows", "flow_versions", "users", "user_types"} {
			if isScan && (name == table || regexp.MustCompile(`\b`+table+`\s+(AS\s+)?`+regexp.QuoteMeta(name)+`\b`).MatchString(q)) {
				t.Errorf("%s\nreads all %s: %s", q, table, step)
			}
		}
	}
}

// A write sends the same statements however many flows and applications there are: its transaction
// stops all sign-ins of a SQLite store.
func TestWritesDoNotReadTheSystem(t *testing.T) {
	for driver, dsn := range map[string]func(testing.TB) string{
		"sqlite":   func(t testing.TB) string { return filepath.Join(t.TempDir(), "store.db") },
		"postgres": storetest.EmptyPostgres,
	} {
		t.Run(driver, func(t *testing.T) {
			counted := new(countedStatements)
			file := dsn(t)
			s := storetest.OpenEmpty(t, store.Config{Driver: driver, DSN: file, Hooks: counted})
			w := &fixture{store: s}
			w.Directory = New(Options{Store: s, Hasher: plainHasher{}, DigestKey: []byte("0123456789abcdef0123456789abcdef"), Box: plainCipher{}})
			w.furnish(t)
			h := checksSystem(t, w)
			writes := systemWrites(t, h)
			measure := func() map[string]int64 {
				sent := map[string]int64{}
				for name, write := range writes {
					before := counted.n.Load()
					if err := write(); err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					sent[name] = counted.n.Load() - before
				}
				return sent
			}
			counted.sent.Clear() // new resource servers are compared with the scopes of all clients
			measure()            // the first writes differ: see Directory.naming
			few := measure()
			for i := range 40 {
				f := h.create(t, h.Flows, passkeyFlow(fmt.Sprint("other-", i)))
				h.create(t, h.Applications, object(t, "name", fmt.Sprint("Other ", i), "authFlowId", f))
			}
			for name, n := range measure() {
				if n != few[name] {
					t.Errorf("%s: %d statements with 40 more flows and applications, %d before", name, n, few[name])
				}
			}
			if driver == "sqlite" {
				counted.sent.Range(func(q, _ any) bool {
					wantPointReads(t, file, q.(string))
					return true
				})
			}
		})
	}
}

const passwordNodes = `[
	{"id": "who", "use": "prompt", "with": {"inputs": [{"identifier": "username", "type": "TEXT_INPUT", "required": true}], "actions": [{"ref": "go"}]}, "next": "find"},
	{"id": "find", "use": "user-resolve", "with": {"by": ["username"], "from": "username", "conceal": true}, "next": "check"},
	{"id": "check", "use": "password-authenticate", "next": {"success": "done", "failure": "who"}},
	{"id": "done", "use": "authorization-code"}]`

// A change that another instance makes while a change is checked counts: the check is repeated.
func TestChecksSeeConcurrentChanges(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		h := checksSystem(t, w)
		flow, app := h.create(t, h.Flows, passkeyFlow("one")), ""
		app = h.create(t, h.Applications, object(t, "name", "Shop", "authFlowId", flow))
		other := New(h.Options)
		checks, check := 0, h.Options.CheckChains
		h.Directory.Options.CheckChains = func(ctx context.Context, before, after *schemas.SignInSystem) ([]schemas.Problem, error) {
			if checks++; checks == 1 {
				_, err := other.Applications.Create(ctx, SystemCall(), doc(t, object(t, "name", "Meanwhile", "authFlowId", flow)))
				must(t, err)
			}
			names := ""
			for _, a := range before.Applications {
				names += a.Name + " "
			}
			if strings.Contains(names, "Meanwhile") != (checks > 1) {
				t.Errorf("check %d reads %s", checks, names)
			}
			return check(ctx, before, after)
		}
		weak := strings.Replace(passkeyFlow("one"), passkeyNodes, passwordNodes, 1)
		_, err := h.Flows.Replace(t.Context(), SystemCall(), flow, "", doc(t, strings.Replace(passkeyFlow("one"), `"name": "one"`, `"name": "two"`, 1)))
		must(t, err)
		if checks != 2 {
			t.Errorf("%d checks, expected a second one after the other change", checks)
		}
		_, err = h.Flows.Replace(t.Context(), SystemCall(), flow, "", doc(t, weak))
		if !schemas.HasCode(err, schemas.CodeNewWay) {
			t.Errorf("a weaker flow: %v", err)
		}
		_, err = h.Applications.Get(t.Context(), SystemCall(), app)
		must(t, err)
	})
}

// If the ways are not known, changes that may open one are refused, and those that only remove ways are not.
func TestUnknownWays(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		h := checksSystem(t, w)
		flow, second := h.create(t, h.Flows, passkeyFlow("one")), h.create(t, h.Flows, passkeyFlow("two"))
		app := h.create(t, h.Applications, object(t, "name", "Shop", "authFlowId", flow, "recoveryFlowId", second))
		gone := h.create(t, h.Applications, object(t, "name", "Gone", "authFlowId", flow))
		kinds := nodes.Kinds(nodes.Deps{})
		h.Directory.Options.CheckChains = (&chains.Checker{Kinds: kinds, MaxMoves: 1}).NewWays
		weak := strings.Replace(passkeyFlow("one"), passkeyNodes, passwordNodes, 1)
		_, err := h.Flows.Replace(t.Context(), SystemCall(), flow, "", doc(t, weak))
		if !schemas.HasCode(err, schemas.CodeUnknownWays) || !strings.Contains(err.Error(), "not known") {
			t.Errorf("a change that may open a way: %v", err)
		}
		_, err = h.Applications.Replace(t.Context(), SystemCall(), app, "", doc(t, object(t, "name", "Shop", "authFlowId", flow)))
		must(t, err)
		must(t, h.Applications.Delete(t.Context(), SystemCall(), gone, ""))
		must(t, h.Flows.Delete(t.Context(), SystemCall(), second, ""))
		ended, end := context.WithCancel(t.Context())
		end()
		if _, err := h.Flows.Replace(ended, SystemCall(), flow, "", doc(t, weak)); !errors.Is(err, context.Canceled) {
			t.Errorf("after the caller left: %v", err)
		}
	})
}

// A change that deletes an application and gives its client id to another one is compared with the deleted one.
func TestClientIDsThatMoveInOneTransaction(t *testing.T) {
	client := func(name, flow string) string {
		return object(t, "name", name, "authFlowId", flow, "inboundAuthConfig", []any{map[string]any{"type": "oauth2", "config": map[string]any{
			"clientId": "shop", "redirectUris": []string{"https://shop.example.com/back"}}}})
	}
	each(t, func(t *testing.T, w *fixture) {
		h := checksSystem(t, w)
		strong := h.create(t, h.Flows, passkeyFlow("one"))
		weak := h.create(t, h.Flows, strings.Replace(passkeyFlow("weak"), passkeyNodes, passwordNodes, 1))
		shop := h.create(t, h.Applications, client("Shop", strong))
		move := func(flow string) error {
			return h.Transact(t.Context(), SystemCall(), func(c Call) error {
				if err := h.Applications.Delete(t.Context(), c, shop, ""); err != nil {
					return err
				}
				_, err := h.Applications.Create(t.Context(), c, doc(t, client("Other", flow)))
				return err
			})
		}
		if err := move(weak); !schemas.HasCode(err, schemas.CodeNewWay) {
			t.Errorf("to a weaker application: %v", err)
		}
		must(t, move(strong))
	})
}
