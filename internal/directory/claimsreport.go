package directory

import (
	"context"
	"slices"

	"github.com/postern-id/postern/internal/claims"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// ClaimsReport is what an application learns about a user.
type ClaimsReport struct {
	ApplicationID string `json:"applicationId"`
	UserID        string `json:"userId"`
	// Scopes are the scopes of the tokens: the requested ones that the user can grant to the application.
	Scopes []string `json:"scopes"`
	// Documents are the claims about the user by target.
	Documents map[string]map[string]any `json:"documents"`
	// Claims are all claims of the application, with the reasons for their values.
	Claims []claims.Explanation `json:"claims"`
}

// ClaimsOf returns what an application would learn about a user now, with the scopes; nil is all that it may request.
// It shows attributes, groups and roles, so the caller needs the permissions to read these.
func (d *Directory) ClaimsOf(ctx context.Context, c Call, applicationID, userID string, scopes []string) (*ClaimsReport, error) {
	for _, needed := range []string{"system:applications:read", "system:users:read", "system:groups:read", "system:roles:read"} {
		if !c.Permits(needed) {
			return nil, schemas.Errorf(schemas.Forbidden, schemas.CodeForbidden, "the claims of a user contain attributes, groups and roles: this needs the permission %q as well", needed)
		}
	}
	app, err := store.Applications().Get(ctx, d.reader(c), applicationID)
	if err != nil {
		return nil, err
	}
	user, err := store.UserOf(ctx, d.reader(c), userID)
	if err != nil {
		return nil, err
	}
	of := &claims.Subject{User: user, Application: app, Unverified: !d.SendsMail}
	if of.Scope, err = d.grantable(ctx, app, userID, scopes); err != nil {
		return nil, err
	}
	if of.Facts, err = d.store.ClaimFacts(ctx, userID); err != nil {
		return nil, err
	}
	set, report := claims.Of(app), &ClaimsReport{ApplicationID: app.ID, UserID: user.ID, Scopes: of.Scope, Documents: map[string]map[string]any{}}
	for _, target := range claims.Targets() {
		report.Documents[target.Name] = set.Values(target.Name, of)
	}
	report.Claims = set.Explain(of)
	return report, d.addSettings(ctx, c, app, report)
}

// addSettings adds where users can set the attributes of the declared claims. It names flows to callers who may read
// them.
func (d *Directory) addSettings(ctx context.Context, c Call, app *schemas.Application, to *ClaimsReport) error {
	attributes := claims.AttributeClaims(app.OAuth())
	if len(attributes) == 0 || d.AttributeUses == nil {
		return nil
	}
	system, err := readSystem(ctx, d.reader(c))
	if err != nil {
		return err
	}
	s := d.newMisfitSearch(system)
	for i, read := range attributes {
		for _, attribute := range read {
			for _, m := range s.settings(system, app, attribute, nil) {
				if where := d.describeSetting(c, m); !slices.Contains(to.Claims[i].SetByUsers, where) {
					to.Claims[i].SetByUsers = append(to.Claims[i].SetByUsers, where)
				}
			}
		}
	}
	return nil
}

// describeSetting returns where users can set an attribute.
func (d *Directory) describeSetting(c Call, m misfit) string {
	switch {
	case m.flowID == "":
		return "the account page"
	case c.Permits(d.Flows.Noun().Read):
		return "the flow " + m.flow + ", node " + m.node
	}
	return "a flow"
}

// grantable returns the scopes of a user that an application may request, of the given ones.
func (d *Directory) grantable(ctx context.Context, app *schemas.Application, userID string, scopes []string) ([]string, error) {
	o := app.OAuth()
	identity, err := d.IdentityScopes(ctx, o)
	if err != nil {
		return nil, err
	}
	may := identity
	if o != nil && len(o.Scopes) > 0 {
		may = append(slices.Clone(o.Scopes), o.OwnScopes()...)
	}
	if scopes == nil {
		scopes = may
	}
	has, err := d.store.Permissions(ctx, userID)
	if err != nil {
		return nil, err
	}
	kept := schemas.GrantableScopes(scopes, has, identity)
	return slices.DeleteFunc(kept, func(s string) bool {
		covers := func(m string) bool { return schemas.CoversPermission(m, s) }
		return !slices.ContainsFunc(may, covers)
	}), nil
}
