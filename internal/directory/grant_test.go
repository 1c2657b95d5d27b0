package directory

import (
	"context"
	"maps"
	"slices"
	"testing"

	"github.com/postern-id/postern/schemas"
)

// attempt is an operation that requires a permission: other callers who may write all
// resources are refused.
type attempt struct {
	name       string
	permission string
	do         func(ctx context.Context, c Call) error
}

const (
	reading = "shop:orders:read"  // registered scope of the application
	writing = "shop:orders:write" // the group's, by its role
)

// Each case needs new fixtures: permitted callers change them.
func TestNoGrantOfMissingPermissions(t *testing.T) {
	sequential(t)
	names := []string{}
	for _, a := range furnished(t, newFixture(t)).attempts(t) {
		names = append(names, a.name)
	}
	for i, name := range names {
		t.Run(name, func(t *testing.T) {
			h := furnished(t, newFixture(t))
			a := h.attempts(t)[i]
			before := h.state(t)
			for _, has := range [][]string{
				{}, {"system:roles:write", "system:groups:write", "system:applications:write"},
				{"shop:orders:" + map[string]string{reading: "write", writing: "read"}[a.permission]}, {"shop:order", "shop:orders:", "shop:"},
			} {
				err := a.do(t.Context(), as(h.ids["other"], has...))
				if !schemas.HasClass(err, schemas.Forbidden) || len(schemas.AsError(err).Errors) == 0 {
					t.Errorf("with %q: got %v, expected it to be forbidden", has, err)
				}
			}
			if after := h.state(t); !maps.Equal(before, after) {
				t.Errorf("something was left behind: %v became %v", before, after)
			}
			for _, has := range []string{a.permission, "shop:orders", "shop", "system"} {
				dry := as(h.ids["other"], has)
				dry.DryRun = true
				if err := a.do(t.Context(), dry); err != nil {
					t.Errorf("with %q: %v", has, err)
				}
			}
			if err := a.do(t.Context(), as(h.ids["other"], a.permission)); err != nil {
				t.Error(err)
			}
		})
	}
}

func (h *accessFixture) attempts(t testing.TB) []attempt {
	return slices.Concat(h.roleAttempts(t), h.groupAttempts(t), h.applicationAttempts(t), h.flowAttempts(t), h.providerAttempts(t))
}

func (h *accessFixture) roleAttempts(t testing.TB) []attempt {
	plain := h.create(t, h.Roles, object(t, "name", "Plain"))
	return []attempt{
		{"a new role that grants it", writing, func(ctx context.Context, c Call) error {
			_, err := h.Roles.Create(ctx, c, doc(t, object(t, "name", "New", "permissions", []string{writing})))
			return err
		}},
		{"another role that is to grant it", writing, h.replace(t, h.Roles, plain, object(t, "name", "Plain", "permissions", []string{writing}))},
		{"a role that is to grant it no more", writing, h.replace(t, h.Roles, h.ids["role"], object(t, "name", "Taken"))},
		{"the name of a role that grants it", writing, h.replace(t, h.Roles, h.ids["role"], object(t, "name", "Renamed", "permissions", []string{writing}))},
		{"the assignments of the role", writing, h.replace(t, h.Roles, h.ids["role"],
			object(t, "name", "Taken", "permissions", []string{writing}, "assignments", []schemas.Principal{h.other()}))},
		{"the end of the role", writing, func(ctx context.Context, c Call) error { return h.Roles.Delete(ctx, c, h.ids["role"], "") }},
		{"an assignment", writing, func(ctx context.Context, c Call) error {
			_, err := h.Assign(ctx, c, h.ids["role"], h.other())
			return err
		}},
		{"the end of an assignment", writing, func(ctx context.Context, c Call) error {
			_, err := h.Unassign(ctx, c, h.ids["role"], schemas.Principal{Type: schemas.GroupPrincipal, ID: h.ids["group"]})
			return err
		}},
	}
}

func (h *accessFixture) groupAttempts(t testing.TB) []attempt {
	inner := h.create(t, h.Groups, object(t, "name", "Inner"))
	_, err := h.AddMember(t.Context(), SystemCall(), h.ids["group"], schemas.Principal{Type: schemas.GroupPrincipal, ID: inner})
	must(t, err)
	outsiders := h.create(t, h.Groups, object(t, "name", "Outsiders", "members", []schemas.Principal{h.other()}))
	return []attempt{
		{"other members", writing, h.replace(t, h.Groups, h.ids["group"], object(t, "name", "Taken", "members", []schemas.Principal{h.other()}))},
		{"another name", writing, h.replace(t, h.Groups, h.ids["group"], object(t, "name", "Renamed", "members", []schemas.Principal{h.user(), {Type: schemas.GroupPrincipal, ID: inner}}))},
		{"no members", writing, h.replace(t, h.Groups, h.ids["group"], object(t, "name", "Taken"))},
		{"a member more", writing, func(ctx context.Context, c Call) error {
			_, err := h.AddMember(ctx, c, h.ids["group"], h.other())
			return err
		}},
		{"a member less", writing, func(ctx context.Context, c Call) error {
			_, err := h.RemoveMember(ctx, c, h.ids["group"], h.user())
			return err
		}},
		{"a group of members more", writing, func(ctx context.Context, c Call) error {
			_, err := h.AddMember(ctx, c, h.ids["group"], schemas.Principal{Type: schemas.GroupPrincipal, ID: outsiders})
			return err
		}},
		{"a member more of a group in it", writing, func(ctx context.Context, c Call) error {
			_, err := h.AddMember(ctx, c, inner, h.other())
			return err
		}},
	}
}

func (h *accessFixture) applicationAttempts(t testing.TB) []attempt {
	plain := h.create(t, h.Applications, machine(t, "Plain", "openid"))
	worker := h.create(t, h.Applications, machine(t, "Worker", "openid"))
	_, err := h.Assign(t.Context(), SystemCall(), h.ids["role"], schemas.Principal{Type: schemas.ApplicationPrincipal, ID: worker})
	must(t, err)
	redirects := `{"name": "Taken", "inboundAuthConfig": [{"type": "oauth2", "config": {"scopes": ["` + reading + `"], "redirectUris": ["https://evil.example/"]}}]}`
	return []attempt{
		{"a new client with it as a scope", reading, func(ctx context.Context, c Call) error {
			_, err := h.Applications.Create(ctx, c, doc(t, machine(t, "New", reading)))
			return err
		}},
		{"a client that is to have it as a scope", reading, h.replace(t, h.Applications, plain, machine(t, "Plain", "openid "+reading))},
		{"a client that is to have it no more", reading, h.replace(t, h.Applications, h.ids["application"], machine(t, "Taken", "openid"))},
		{"an application that is to be no client", reading, h.replace(t, h.Applications, h.ids["application"], `{"name": "Taken"}`)},
		{"where a client sends people", reading, h.replace(t, h.Applications, h.ids["application"], redirects)},
		{"the name of a client that has it", reading, h.replace(t, h.Applications, h.ids["application"], machine(t, "Renamed", reading))},
		{"the name of an application with the role", writing, h.replace(t, h.Applications, worker, machine(t, "Renamed", "openid"))},
		{"the secret of a client that has it", reading, func(ctx context.Context, c Call) error {
			_, err := h.RotateSecret(ctx, c, h.ids["application"], SecretRotation{})
			return err
		}},
		{"the secret of an application with the role", writing, func(ctx context.Context, c Call) error {
			_, err := h.RotateSecret(ctx, c, worker, SecretRotation{})
			return err
		}},
		{"the end of a client that has it", reading, func(ctx context.Context, c Call) error {
			return h.Applications.Delete(ctx, c, h.ids["application"], "")
		}},
		{"the end of an application with the role", writing, func(ctx context.Context, c Call) error {
			return h.Applications.Delete(ctx, c, worker, "")
		}},
	}
}

// machine returns a client that acts on its own behalf.
func machine(t testing.TB, name, scope string) string {
	return object(t, "name", name, "inboundAuthConfig", []any{map[string]any{"type": "oauth2", "config": map[string]any{
		"grantTypes": []string{"client_credentials"}, "scope": scope,
	}}})
}

func (h *accessFixture) replace(t testing.TB, r Resource, id, body string) func(context.Context, Call) error {
	return func(ctx context.Context, c Call) error {
		_, err := r.Replace(ctx, c, id, "", doc(t, body))
		return err
	}
}

// A change that grants nothing requires only the permission to write.
func TestHarmlessFlowChanges(t *testing.T) {
	h := furnished(t, newFixture(t))
	nobody := as(h.ids["other"])
	empty, unnamed := h.create(t, h.Groups, `{"name": "Empty"}`), h.create(t, h.Groups, `{"name": "Unnamed"}`)
	plain := h.create(t, h.Applications, machine(t, "Plain", "openid"))
	for name, do := range map[string]func(context.Context, Call) error{
		"what a group is for":                   h.replace(t, h.Groups, h.ids["group"], object(t, "name", "Taken", "description", "Those who", "members", []schemas.Principal{h.user()})),
		"the name of a group without a role":    h.replace(t, h.Groups, unnamed, `{"name": "Named"}`),
		"the members of a group without a role": h.replace(t, h.Groups, empty, object(t, "name", "Empty", "members", []schemas.Principal{h.user()})),
		"a client without permissions":          h.replace(t, h.Applications, plain, machine(t, "Plain", "openid profile")),
		"a role without permissions": func(ctx context.Context, c Call) error {
			_, err := h.Roles.Create(ctx, c, doc(t, object(t, "name", "New", "assignments", []schemas.Principal{h.other()})))
			return err
		},
	} {
		if err := do(t.Context(), nobody); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
