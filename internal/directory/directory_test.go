package directory

import (
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
)

// accessFixture is a world with one resource of every noun, and their ids by name.
type accessFixture struct {
	*fixture
	ids map[string]string
}

// passkeyNodes are the nodes of a minimal sign-in flow.
const passkeyNodes = `[{"id": "key", "use": "passkey-authenticate", "next": "done"}, {"id": "done", "use": "authorization-code"}]`

const signInFlow = `{"handle": "sign-in", "name": "In", "flowType": "AUTHENTICATION", "nodes": ` + passkeyNodes + `}`

const signUpFlow = `{"handle": "passkey-sign-up", "name": "Up", "flowType": "REGISTRATION", "nodes": [
	{"id": "who", "use": "prompt", "next": "create", "with": {"inputs": [{"identifier": "username", "type": "TEXT_INPUT", "required": true}],
		"actions": [{"ref": "go", "label": "Go"}]}},
	{"id": "create", "use": "user-create", "next": {"created": "key", "taken": "who"}},
	{"id": "key", "use": "passkey-register", "next": "done"},
	{"id": "done", "use": "authorization-code"}]}`

// furnished adds one resource of every noun to a world.
func furnished(t testing.TB, w *fixture) *accessFixture {
	t.Helper()
	w.Options.CheckFlow = func(text []byte, yaml bool, subflows schemas.Subflows) (*schemas.Flow, []schemas.Problem) {
		flow, g, problems := engine.CheckUsing(text, yaml, nodes.Kinds(nodes.Deps{}), subflows)
		if g != nil {
			problems = g.Warnings()
		}
		return flow, problems
	}
	h := &accessFixture{fixture: w, ids: map[string]string{"unit": w.unit, "user": schemas.NewID(), "other": schemas.NewID()}}
	must(t, w.store.Update(t.Context(), func(tx *store.Tx) error {
		for _, id := range []string{h.ids["user"], h.ids["other"]} {
			u := schemas.User{ID: id, Type: "Person", OUID: w.unit, CreatedAt: w.now(), UpdatedAt: w.now()}
			if err := store.Users().Insert(tx, &u); err != nil {
				return err
			}
		}
		return nil
	}))
	system, err := w.ResourceServers.Find(t.Context(), SystemCall(), SystemServer)
	must(t, err)
	h.ids["system"] = system.ID
	h.ids["signin"] = w.create(t, w.Flows, signInFlow)
	h.ids["signup"] = w.create(t, w.Flows, signUpFlow)
	h.ids["child"] = w.create(t, w.Units, object(t, "handle", "taken", "name", "Taken", "parentId", w.unit))
	h.ids["server"] = w.create(t, w.ResourceServers, `{"handle": "shop", "name": "Shop", "identifier": "https://shop.example.com",
		"resources": [{"handle": "orders", "actions": [{"handle": "read"}, {"handle": "write"}]}]}`)
	h.ids["provider"] = w.create(t, w.IdentityProviders, corp(t, "handle", "taken"))
	h.ids["application"] = w.create(t, w.Applications, `{"name": "Taken", "clientId": "taken",
		"inboundAuthConfig": [{"type": "oauth2", "config": {"grantTypes": ["client_credentials"], "scopes": ["shop:orders:read"]}}]}`)
	h.ids["group"] = w.create(t, w.Groups, object(t, "name", "Taken", "members", []schemas.Principal{h.user()}))
	h.ids["role"] = w.create(t, w.Roles, object(t, "name", "Taken", "permissions", []string{"shop:orders:write"},
		"assignments", []schemas.Principal{{Type: schemas.GroupPrincipal, ID: h.ids["group"]}}))
	return h
}

func (h *accessFixture) user() schemas.Principal {
	return schemas.Principal{Type: schemas.UserPrincipal, ID: h.ids["user"]}
}

func (h *accessFixture) other() schemas.Principal {
	return schemas.Principal{Type: schemas.UserPrincipal, ID: h.ids["other"]}
}

// state counts what a refused write must not change: the resources of each noun and the
// events.
func (h *accessFixture) state(t testing.TB) map[string]int {
	t.Helper()
	state := map[string]int{}
	for _, r := range h.Resources() {
		page, err := r.List(t.Context(), SystemCall(), Query{Limit: 1})
		must(t, err)
		state[r.Noun().Plural] = page.Total
	}
	state["events"] = len(h.events(t))
	return state
}

// events returns the actions of the audit log, newest first.
func (h *accessFixture) events(t testing.TB) (actions []string) {
	t.Helper()
	events, err := h.store.Events(t.Context(), schemas.EventQuery{Limit: 10000})
	must(t, err)
	for _, e := range events {
		actions = append(actions, e.Action)
	}
	return actions
}
