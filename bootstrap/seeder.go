package bootstrap

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/postern-id/postern/internal/declare"
	"github.com/postern-id/postern/schemas"
)

// seeder seeds a target. Each step keeps existing resources, so that an interrupted run can
// be repeated.
type seeder struct {
	target declare.Target
	report func(format string, args ...any)
	// changes counts created and changed resources.
	changes int
}

// ensure creates missing resources.
func (s *seeder) ensure(ctx context.Context, resources []declare.Resource, from declare.Secrets) error {
	return declare.Ensure(ctx, s.target, resources, from, func(e declare.Ensured) {
		if !e.Created {
			return
		}
		s.changes++
		s.report("created %s", e.Name())
		if to := administrators(e); to != "" {
			s.report("  it makes administrators of %s", to)
		}
		if e.Secret != "" {
			s.report("  client id: %s, client secret: %s   (shown once: save it)", e.ClientID, e.Secret)
		}
	})
}

// administrators lists the principals that a created role gives administrative permissions; "" for none. Only a
// role can do that: a new group has no permissions.
func administrators(e declare.Ensured) string {
	if e.Noun.Plural != "roles" || schemas.IsBuiltinID(e.ID) {
		return ""
	}
	var role schemas.Role
	e.Document.DecodeLoosely(schemas.RoleSchema(), &role)
	var names []string
	if slices.ContainsFunc(role.Permissions, schemas.IsAdministrative) {
		for _, p := range role.Assignments {
			names = append(names, fmt.Sprintf("%s %q", p.Type, p.ID))
		}
	}
	return strings.Join(names, ", ")
}

// ensureBase creates the base without administrators.
func (s *seeder) ensureBase(ctx context.Context, redirectURIs []string) error {
	resources, err := baseResources(redirectURIs)
	if err != nil {
		return err
	}
	if err := s.ensure(ctx, resources, declare.Secrets{}); err != nil {
		return err
	}
	for _, r := range resources {
		if r.Document.TextAt("id") == ConsoleID {
			return s.completeConsole(ctx, r, redirectURIs)
		}
	}
	return nil
}

// completeConsole adds redirect URIs to the console. In stores of the first schema version
// the console is no OAuth client; it becomes one.
func (s *seeder) completeConsole(ctx context.Context, seeded declare.Resource, redirectURIs []string) error {
	return s.updateResource(ctx, seeded.Noun, ConsoleID, func(d *schemas.Document) (*schemas.Document, string) {
		var console schemas.Application
		d.DecodeLoosely(schemas.ApplicationSchema(), &console)
		if console.OAuth() == nil {
			protocols := seeded.Document.At("inboundAuthConfig").JSON()
			return d.Edited(map[string]any{"inboundAuthConfig": protocols, "type": schemas.SinglePageApp}), "it is an OAuth client now"
		}
		has := console.OAuth().RedirectURIs
		missed := slices.DeleteFunc(slices.Clone(redirectURIs), func(uri string) bool { return slices.Contains(has, uri) })
		if len(missed) == 0 {
			return nil, ""
		}
		return d.Edited(map[string]any{redirectsPath: append(has, missed...)}), "redirect URIs added: " + strings.Join(missed, ", ")
	})
}

// addAdministrator adds a user to the group of administrators.
func (s *seeder) addAdministrator(ctx context.Context, userID string) error {
	groups, _ := declare.NounOf("groups")
	return s.updateResource(ctx, groups, AdministratorsID, func(d *schemas.Document) (*schemas.Document, string) {
		var group schemas.Group
		d.DecodeLoosely(schemas.GroupSchema(), &group)
		p := schemas.Principal{Type: schemas.UserPrincipal, ID: userID}
		if slices.Contains(group.Members, p) {
			return nil, ""
		}
		return d.Edited(map[string]any{"members": append(group.Members, p)}), "the administrator is a member now"
	})
}

// maxUpdateAttempts limits how often a change is retried after a concurrent change.
const maxUpdateAttempts = 5

// updateResource changes a resource. The function change returns nil if there is nothing to
// do. It runs again after a concurrent change.
func (s *seeder) updateResource(ctx context.Context, n declare.Noun, id string, change func(*schemas.Document) (*schemas.Document, string)) error {
	for try := 1; ; try++ {
		e, err := s.target.Get(ctx, n, id)
		if err != nil {
			return err
		}
		if e == nil {
			return fmt.Errorf("the %s with the id %s does not exist", schemas.DisplayName(n.Name), id)
		}
		d, what := change(e.Document)
		if d == nil {
			return nil
		}
		_, err = s.target.Replace(ctx, n, e, d)
		if err == nil {
			s.report("changed %s: %s", (&declare.Resource{Noun: n, Document: e.Document}).Name(), what)
			s.changes++
			return nil
		}
		if !schemas.HasClass(err, schemas.Precondition) || try == maxUpdateAttempts {
			return err
		}
	}
}
