package directory

import (
	"context"
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// signIns are flows, applications and a provider that a Person with "shop:orders:write" may
// reach, and others for users of the type Robot only.
type signIns struct {
	*accessFixture
	flow, robotFlow, part, robotPart string // of the applications below; the flows contain the parts
	app, robotApp, plain, client     string
	provider                         string
	acme, plainUnit                  string // organization units, with and without a logo
}

func newSignIns(t *testing.T, w *fixture) *signIns {
	t.Helper()
	s := &signIns{accessFixture: furnished(t, w)}
	s.create(t, s.UserTypes, `{"name": "Robot", "schema": {"type": "object"}}`)
	s.part, s.robotPart = s.create(t, s.Flows, s.sub("shared")), s.create(t, s.Flows, s.sub("robots"))
	s.flow, s.robotFlow = s.create(t, s.Flows, s.using("in", "shared")), s.create(t, s.Flows, s.using("robots-in", "robots"))
	s.app = s.create(t, s.Applications, object(t, "name", "Shop", "authFlowId", s.flow))
	s.robotApp = s.create(t, s.Applications, object(t, "name", "Robots", "authFlowId", s.robotFlow, "allowedUserTypes", []string{"Robot"}))
	s.plain = s.create(t, s.Applications, object(t, "name", "Plain"))
	s.client = s.create(t, s.Applications, clientNamed(t, "wiki"))
	s.provider = s.create(t, s.IdentityProviders, corp(t, "handle", "club"))
	s.acme = s.create(t, s.Units, `{"handle": "acme", "name": "Acme", "logoUrl": "https://acme.example/logo.png"}`)
	s.plainUnit = s.create(t, s.Units, `{"handle": "plain", "name": "Plain"}`)
	s.writeFlow(t, "club", "")
	club, err := store.Flows().Find(t.Context(), s.store, schemas.Authentication, "by-club")
	must(t, err)
	s.create(t, s.Applications, object(t, "name", "Club", "authFlowId", club.ID))
	return s
}

// clientNamed returns an application with an OAuth client without permissions.
func clientNamed(t *testing.T, clientID string) string {
	t.Helper()
	return object(t, "name", "Wiki", "inboundAuthConfig", []any{map[string]any{"type": "oauth2",
		"config": map[string]any{"clientId": clientID, "redirectUris": []string{"https://wiki.example/back"}}}})
}

// sub creates a sub-flow and a flow that uses it; more is added to the prompt.
func (s *signIns) sub(handle string, more ...string) string {
	return `{"handle": "` + handle + `", "name": "Part", "flowType": "SUBFLOW", "outcomes": {"passed": "It went on."}, "nodes": [
		{"id": "more", "use": "prompt", "with": {"title": "More` + strings.Join(more, "") + `", "actions": [{"ref": "go"}]}, "next": "passed"}]}`
}

func (s *signIns) using(handle, part string, more ...string) string {
	return `{"handle": "` + handle + `", "name": "In` + strings.Join(more, "") + `", "flowType": "AUTHENTICATION", "nodes": [
		{"id": "part", "use": "flow", "with": {"flow": "` + part + `"}, "next": {"passed": "key"}},
		{"id": "key", "use": "passkey-authenticate", "next": "done"}, {"id": "done", "use": "authorization-code"}]}`
}

// writer may write the resources that affect a sign-in and has only the additional
// permissions.
func (s *signIns) writer(more ...string) Call {
	return as(s.ids["other"], append(more, "system:flows", "system:applications", "system:user-types", "system:organization-units", "system:users:read", "system:identity-providers")...)
}

// changes returns the changes of what the permission's holder is asked or shown at a
// sign-in.
func (s *signIns) changes(t *testing.T) map[string]func(context.Context, Call) error {
	shop := func(pairs ...any) func(context.Context, Call) error {
		return s.replace(t, s.Applications, s.app, object(t, append([]any{"name", "Shop", "authFlowId", s.flow}, pairs...)...))
	}
	robots := func(pairs ...any) func(context.Context, Call) error {
		return s.replace(t, s.Applications, s.robotApp, object(t, append([]any{"name", "Robots", "authFlowId", s.robotFlow}, pairs...)...))
	}
	created := func(r Resource, body string) func(context.Context, Call) error {
		return func(ctx context.Context, c Call) error {
			_, err := r.Create(ctx, c, doc(t, body))
			return err
		}
	}
	return map[string]func(context.Context, Call) error{
		"another version of the flow":     s.replace(t, s.Flows, s.flow, s.using("in", "shared", " again")),
		"a sub-flow of it":                s.replace(t, s.Flows, s.part, s.sub("shared", " again")),
		"an earlier version":              func(ctx context.Context, c Call) error { _, err := s.RestoreFlow(ctx, c, s.flow, 1); return err },
		"the default flow":                s.replace(t, s.Flows, s.ids["signin"], strings.Replace(signInFlow, `"In"`, `"Mine"`, 1)),
		"the default flow to register":    s.replace(t, s.Flows, s.ids["signup"], strings.Replace(signUpFlow, `"Up"`, `"Mine"`, 1)),
		"another flow to sign in":         s.replace(t, s.Applications, s.plain, object(t, "name", "Plain", "authFlowId", s.robotFlow)),
		"the default flow to sign in":     s.replace(t, s.Applications, s.app, object(t, "name", "Shop")),
		"a flow to recover accounts":      shop("recoveryFlowId", s.flow),
		"another flow to register":        shop("registrationFlowId", s.create(t, s.Flows, strings.Replace(signUpFlow, "passkey-sign-up", "up", 1))),
		"a logo":                          shop("logoUrl", "https://pictures.example/logo.png"),
		"terms of service":                shop("tosUri", "https://pictures.example/terms"),
		"a theme":                         shop("customizations", map[string]any{"theme": map[string]any{"logoUrl": "https://pictures.example/logo.png"}}),
		"persons among the allowed types": robots("allowedUserTypes", []string{"Robot", "Person"}),
		"all types":                       robots(),
		"persons excluded":                s.replace(t, s.Applications, s.plain, object(t, "name", "Plain", "allowedUserTypes", []string{"Robot"})),
		"persons excluded, and a flow":    s.replace(t, s.Applications, s.plain, object(t, "name", "Plain", "allowedUserTypes", []string{"Robot"}, "authFlowId", s.robotFlow)),
		"the application deleted":         func(ctx context.Context, c Call) error { return s.Applications.Delete(ctx, c, s.plain, "") },
		"the logo of a unit":              s.replace(t, s.Units, s.acme, `{"handle": "acme", "name": "Acme", "logoUrl": "https://other.example/logo.png"}`),
		"the name of a unit with a logo":  s.replace(t, s.Units, s.acme, `{"handle": "acme", "name": "Umbrella", "logoUrl": "https://acme.example/logo.png"}`),
		"a unit below one with a logo":    s.replace(t, s.Units, s.plainUnit, `{"handle": "plain", "name": "Plain", "parentId": "acme"}`),
		"an application in its unit":      shop("ouId", s.acme),
		"another client id":               s.replace(t, s.Applications, s.client, clientNamed(t, "mine")),
		"a new application with a flow":   created(s.Applications, object(t, "name", "New", "authFlowId", s.robotFlow)),
		"a new one with a flow to register": created(s.Applications, object(t, "name", "New",
			"registrationFlowId", s.create(t, s.Flows, strings.Replace(signUpFlow, "passkey-sign-up", "other", 1)))),
		"the title of an attribute": s.replace(t, s.UserTypes, s.person(t, ""), s.person(t, "Password")),
		"the provider of a flow":    s.replace(t, s.IdentityProviders, s.provider, corp(t, "handle", "club", "clientId", "mine")),
	}
}

// person returns the user type Person with another title of the nickname; with "" it
// returns the id of the type.
func (s *signIns) person(t *testing.T, title string) string {
	t.Helper()
	person, err := store.UserTypes().Find(t.Context(), s.store, "name", schemas.PersonName)
	must(t, err)
	if title == "" {
		return person.ID
	}
	var schema map[string]any
	must(t, json.Unmarshal(person.Schema, &schema))
	schema["properties"].(map[string]any)["nickname"].(map[string]any)["title"] = title
	return object(t, "name", person.Name, "ouId", person.OUID, "schema", schema)
}

// Changing what the holder of a permission is asked or shown at a sign-in requires the
// permission.
func TestAudit04ChangesNeedThePermissionsOfTheUsers(t *testing.T) {
	sequential(t)
	each(t, func(t *testing.T, w *fixture) {
		s := newSignIns(t, w)
		before := s.state(t)
		changes := s.changes(t)
		after := s.state(t) // the changes contain the creation of flows
		for name, do := range changes {
			err := do(t.Context(), s.writer())
			if !schemas.HasClass(err, schemas.Forbidden) {
				t.Errorf("%s: got %v, expected it to be forbidden", name, err)
				continue
			}
			// The scopes of applications with the default flows are checked first.
			text, missing := schemas.AsError(err).Description.DefaultValue, `a user `
			if strings.HasPrefix(name, "the default flow") && name != "the default flow to sign in" {
				missing = "an application that uses the flow"
			}
			if !strings.Contains(text, missing) || !strings.Contains(text, `has the permission "shop:orders:`) || !strings.Contains(text, "; ") || strings.Contains(text, s.ids["user"]) {
				t.Errorf("%s: the error does not say what is missing and what to do: %s", name, text)
			}
		}
		if now := s.state(t); !maps.Equal(now, after) || maps.Equal(before, after) {
			t.Errorf("something was left behind: %v became %v", after, now)
		}
		for name, do := range changes {
			for _, has := range []Call{s.writer("shop:orders"), s.writer("system")} {
				has.DryRun = true
				if err := do(t.Context(), has); err != nil {
					t.Errorf("%s, by a caller with the permission: %v", name, err)
				}
			}
		}
	})
}

// If only users without permissions sign in, the permission to write suffices.
func TestAudit04FlowsWithoutPermittedUsers(t *testing.T) {
	sequential(t)
	each(t, func(t *testing.T, w *fixture) {
		s := newSignIns(t, w)
		free := s.create(t, s.Flows, s.using("free", "robots"))
		spare := s.create(t, s.Applications, object(t, "name", "Spare", "allowedUserTypes", []string{"Robot"}))
		robots := func(pairs ...any) string {
			return object(t, append([]any{"name", "Robots", "allowedUserTypes", []string{"Robot"}}, pairs...)...)
		}
		for _, change := range []struct {
			name string
			do   func(context.Context, Call) error
		}{
			{"a flow that no application has", s.replace(t, s.Flows, free, s.using("free", "robots", " again"))},
			{"the flow of robots", s.replace(t, s.Flows, s.robotFlow, s.using("robots-in", "robots", " again"))},
			{"a part of it", s.replace(t, s.Flows, s.robotPart, s.sub("robots", " again"))},
			{"what the application of robots shows, and another flow", s.replace(t, s.Applications, s.robotApp, robots("authFlowId", free, "tosUri", "https://robots.example/"))},
			{"an application of robots goes", func(ctx context.Context, c Call) error { return s.Applications.Delete(ctx, c, spare, "") }},
			{"nothing that shows", s.replace(t, s.Applications, s.app, object(t, "name", "Shop", "authFlowId", s.flow, "description", "Shoes"))},
			{"a new application with the default flows", func(ctx context.Context, c Call) error {
				_, err := s.Applications.Create(ctx, c, doc(t, object(t, "name", "New", "logoUrl", "https://pictures.example/logo.png")))
				return err
			}},
			{"a new application for robots", func(ctx context.Context, c Call) error {
				_, err := s.Applications.Create(ctx, c, doc(t, object(t, "name", "Others", "authFlowId", s.flow, "allowedUserTypes", []string{"Robot"})))
				return err
			}},
			{"the type of robots", func(ctx context.Context, c Call) error {
				robot, err := store.UserTypes().Find(ctx, s.store, "name", "Robot")
				must(t, err)
				return s.replace(t, s.UserTypes, robot.ID, `{"name": "Robot", "schema": {"type": "object", "properties": {"model": {"type": "string", "title": "Password"}}}}`)(ctx, c)
			}},
		} {
			if err := change.do(t.Context(), s.writer()); err != nil {
				t.Errorf("%s: %v", change.name, err)
			}
		}
	})
}

// Holders in nested groups and with direct assignments count, and the caller's current
// permissions suffice.
func TestAudit04HoldersInGroups(t *testing.T) {
	s := newSignIns(t, newFixture(t))
	outer := s.create(t, s.Groups, object(t, "name", "Outer", "members", []schemas.Principal{{Type: schemas.GroupPrincipal, ID: s.ids["group"]}}))
	s.create(t, s.Roles, object(t, "name", "Reader", "permissions", []string{"shop:orders:read"},
		"assignments", []schemas.Principal{{Type: schemas.GroupPrincipal, ID: outer}}))
	change := s.replace(t, s.Flows, s.flow, s.using("in", "shared", " again"))
	if err := change(t.Context(), s.writer("shop:orders:write")); !schemas.HasClass(err, schemas.Forbidden) || !strings.Contains(err.Error(), `"shop:orders:read"`) {
		t.Errorf("got %v", err)
	}
	must(t, change(t.Context(), s.writer("shop:orders:write", "shop:orders:read")))
}
