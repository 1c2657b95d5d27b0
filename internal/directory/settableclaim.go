package directory

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/postern-id/postern/internal/claims"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// Claims that users can set are found by package claims. A change that lets users set an authoritative claim is refused,
// whichever the order in which flows, user types and applications are stored; so it counts as a misfit.

// claims returns the state in the terms of package claims.
func (s *systemState) claims(d *Directory, uses func(*schemas.Flow) schemas.AttributeUses) *claims.System {
	reads := map[string]bool{} // the flows with values of runs that claims read
	for _, a := range s.applications {
		if len(runReads(a)) > 0 {
			for _, id := range a.StartedFlows() {
				reads[id] = true
			}
		}
	}
	return &claims.System{Applications: s.applications, Types: s.types, Flows: s.flows, Providers: s.providers, SendsMail: d.SendsMail, Uses: func(f *schemas.Flow) schemas.AttributeUses {
		if uses == nil || !writesAttributes(f) && !reads[f.ID] {
			return schemas.AttributeUses{}
		}
		return uses(f)
	}}
}

// SettableClaims returns the claims of all applications that users can set, with each place.
func (d *Directory) SettableClaims(ctx context.Context, c Call) (list []schemas.SettableClaim, err error) {
	read := func(r store.Reader) error {
		state, err := readSystem(ctx, r)
		if err == nil {
			list = state.claims(d, d.AttributeUses).Settings().All()
		}
		return err
	}
	if c.tx != nil || c.snapshot != nil {
		return list, read(d.reader(c))
	}
	return list, d.store.Snapshot(ctx, read)
}

// readsRuns reports whether the change stores an application whose claims read values of runs.
func (c *systemChange) readsRuns() bool {
	for _, a := range c.applications {
		if a != nil && len(runReads(a)) > 0 {
			return true
		}
	}
	return false
}

// addSettable adds the authoritative claims that users can set.
func (s *misfitSearch) addSettable(d *Directory, system *systemState) {
	if d.AcceptsSettable {
		return
	}
	isGuarded := func(a *schemas.Application) bool { return len(claims.Guarded(a)) > 0 }
	guarded := slices.SortedFunc(maps.Values(system.applications), func(a, b *schemas.Application) int { return strings.Compare(a.ID, b.ID) })
	if guarded = slices.DeleteFunc(guarded, func(a *schemas.Application) bool { return !isGuarded(a) }); len(guarded) == 0 {
		return
	}
	settings := system.claims(d, s.uses).Settings()
	for _, a := range guarded {
		for _, c := range settings.Of(a) {
			if c.Authoritative {
				key := misfitKey{kind: settableClaim, flowID: c.Place.FlowID, applicationID: a.ID, userType: c.Place.UserType,
					attribute: strings.Join([]string{c.Claim, c.Reads, string(c.Place.Kind), c.Place.Scope}, "\n")}
				s.found = append(s.found, misfit{misfitKey: key, flow: c.Place.Flow, application: a.Name, member: MemberOf(&c), node: c.Place.Node, path: c.Place.Path, claim: &c})
			}
		}
	}
}

// MemberOf returns the member of an application that declares a claim.
func MemberOf(c *schemas.SettableClaim) string {
	if strings.HasPrefix(c.Declared, "assertion.") {
		return c.Declared
	}
	return inConfig(c.Declared)
}

// settable returns what is wrong with an authoritative claim, and how to fix it.
func (r misfitReader) settable(c *schemas.SettableClaim) string {
	claim, where := "a claim of an application", c.Where
	if r.applications {
		claim = fmt.Sprintf("the claim %q (%s) of the application %q", c.Claim, c.Declared, c.Application)
	}
	if c.Place.FlowID != "" && !r.flows || c.Place.Kind == schemas.AtProvider && !r.flows || c.Place.Kind == schemas.OnAccountPage && !r.types {
		where = map[schemas.PlaceKind]string{schemas.OnAccountPage: "users can set it on the account page", schemas.AtProvider: "users can set it at an identity provider"}[c.Place.Kind]
		where = cmp.Or(where, "users can set it in a flow")
	}
	return fmt.Sprintf("%s is authoritative, but %s; %s, or %s", claim, where, c.Fix, claims.ReleaseFrom(c))
}

// claimWarnings returns the claims that users can set with a flow, which no rule protects, for a caller who may read
// applications.
func (d *Directory) claimWarnings(c Call, system *systemState, flowID string) (list []schemas.Problem) {
	if !c.Permits(d.Applications.Noun().Read) || !c.Permits(d.UserTypes.Noun().Read) {
		return nil
	}
	for _, found := range system.claims(d, d.AttributeUses).Settings().All() {
		if found.Place.FlowID == flowID && !found.Authoritative && len(list) < maxMisfits {
			list = append(list, claims.Problem(&found))
		}
	}
	return list
}
