package directory

import (
	"context"
	"maps"
	"slices"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// checkWays refuses a change that opens a new way to sign in as another user: a chain of runs that
// reaches tokens of an application with less than was needed before.
func (d *Directory) checkWays(ctx context.Context, before, after *systemState) error {
	was := before.signIns()
	was.Former = before.former
	opened, err := d.CheckChains(ctx, was, after.signIns())
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return schemas.Errorf(schemas.Invalid, schemas.CodeUnknownWays,
			"nothing was stored: whether this change lets attackers in is %s. Changes that only take flows or permissions from applications are always possible", err)
	case len(opened) > 0:
		return schemas.Errorf(schemas.Invalid, schemas.CodeNewWay,
			"nothing was stored: after this change, an attacker would need less than before to get another user's tokens. Ask for more in the flow, "+
				"or let a user with the permission %q accept the change with a waiver of the rule chain that states the reason, at a node of the attack", systemPermission).
			WithProblems(opened)
	}
	return nil
}

// Chains returns the ways to sign in to the applications, a chains.Report. A system that is too
// large for the analysis is unknown_ways, Class Invalid.
func (d *Directory) Chains(ctx context.Context, c Call) (any, error) {
	system, err := d.SignInSystem(ctx, c)
	if err != nil {
		return nil, err
	}
	report, err := d.AnalyzeChains(ctx, system)
	if err != nil && ctx.Err() == nil {
		return nil, schemas.Errorf(schemas.Invalid, schemas.CodeUnknownWays, "the ways to sign in are %s", err)
	}
	return report, err
}

// SignInSystem returns the applications, the flows that they can start, and, for a caller who may read applications and
// user types, the claims that users can set.
func (d *Directory) SignInSystem(ctx context.Context, c Call) (s *schemas.SignInSystem, err error) {
	read := func(r store.Reader) error {
		state, err := readSystem(ctx, r)
		if err != nil {
			return err
		}
		s = state.signIns()
		if c.Permits(d.Applications.Noun().Read) && c.Permits(d.UserTypes.Noun().Read) {
			s.Claims = state.claims(d, d.AttributeUses).Settings().All()
		}
		s.Grants, err = providerGrants(ctx, r)
		return err
	}
	if c.tx != nil || c.snapshot != nil {
		return s, read(d.reader(c))
	}
	return s, d.store.Snapshot(ctx, read)
}

// providerGrants returns what accounts at identity providers can get.
func providerGrants(ctx context.Context, r store.Reader) (list []schemas.ProviderGrant, err error) {
	providers, err := store.MappingProviders(ctx, r)
	for i := range providers {
		if g := schemas.GrantsOf(&providers[i]); g != nil {
			list = append(list, *g)
		}
	}
	return list, err
}

// ProviderGrants returns what accounts at identity providers can get without an administrator.
func (d *Directory) ProviderGrants(ctx context.Context, c Call) ([]schemas.ProviderGrant, error) {
	return providerGrants(ctx, d.reader(c))
}

// signIns returns the state in the terms of package chains.
func (s *systemState) signIns() *schemas.SignInSystem {
	system := &schemas.SignInSystem{Flows: map[string]*schemas.Flow{}}
	for _, id := range slices.Sorted(maps.Keys(s.applications)) {
		app := systemApplication(s.applications[id], s.grants[id])
		for _, flowID := range app.FlowIDs {
			if f := s.flows[flowID]; f != nil {
				system.Flows[flowID] = f
			}
		}
		system.Applications = append(system.Applications, app)
	}
	return system
}

// systemApplication describes an application, which has permissions through roles.
func systemApplication(a *schemas.Application, granted []string) schemas.SystemApplication {
	app := schemas.SystemApplication{ID: a.ID, Name: a.Name, FlowIDs: a.StartedFlows(), Account: managesAccounts(a)}
	if o := a.OAuth(); o == nil || !slices.Contains(o.GrantTypes, schemas.GrantClientCredentials) {
		return app
	}
	for _, scope := range clientScopes(a, granted) {
		app.ManagesUsers = app.ManagesUsers || scope == systemPermission || schemas.CoversPermission(scope, "system:users:write")
		app.Unlimited = app.Unlimited || scope == systemPermission
	}
	return app
}
