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
	identity, err := d.IdentityScopes(ctx, app.OAuth())
	if err != nil {
		return nil, err
	}
	set, report := claims.Of(app, claims.Context{Identity: identity}), &ClaimsReport{ApplicationID: app.ID, UserID: user.ID, Scopes: of.Scope, Documents: map[string]map[string]any{}}
	for _, target := range claims.Targets() {
		report.Documents[target.Name] = set.Values(target.Name, of)
	}
	report.Claims = set.Explain(of)
	return report, d.addSettings(ctx, c, app, report)
}

// addSettings adds where users can set the values of the claims. It names flows to callers who may read them.
func (d *Directory) addSettings(ctx context.Context, c Call, app *schemas.Application, to *ClaimsReport) error {
	system, err := readSystem(ctx, d.reader(c))
	if err != nil {
		return err
	}
	for i, places := range system.claims(d, d.AttributeUses).Settings().PlacesOf(app) {
		for _, p := range places {
			if where := d.describePlace(c, &p); !slices.Contains(to.Claims[i].SetByUsers, where) {
				to.Claims[i].SetByUsers = append(to.Claims[i].SetByUsers, where)
			}
		}
	}
	return nil
}

// describePlace returns where users can set a claim.
func (d *Directory) describePlace(c Call, p *schemas.SettableClaim) string {
	switch {
	case p.Place.Kind == schemas.OnAccountPage:
		return "the account page"
	case p.Place.Kind == schemas.ByScope:
		return "the scope " + p.Place.Scope
	case p.Place.Kind == schemas.ByDeclaration:
		return p.Where
	case p.Place.Kind == schemas.AtProvider && c.Permits(d.IdentityProviders.Noun().Read):
		return "the identity provider " + p.Place.Provider
	case p.Place.Kind == schemas.AtProvider:
		return "an identity provider"
	case !c.Permits(d.Flows.Noun().Read):
		return "a flow"
	case p.Place.Kind == schemas.WithoutMail && p.Place.Provider != "":
		return "the identity provider " + p.Place.Provider + ", without verification"
	case p.Place.Kind == schemas.WithoutMail:
		return "the flow " + p.Place.Flow + ", node " + p.Place.Node + ", without verification"
	}
	return "the flow " + p.Place.Flow + ", node " + p.Place.Node
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
