package directory

import (
	"fmt"
	"maps"
	"slices"

	"github.com/postern-id/postern/internal/claims"
	"github.com/postern-id/postern/schemas"
)

// Claims that users can set
//
// An application may decide by a claim what a user may do. If users can choose its value, they decide themselves: on
// the account page, in a prompt of a flow, or when they register. What an identity provider states is not theirs. Only attributes can be set by users. A claim with
// authoritative: true must not be one of these, whichever the order in which flows, user types and applications are
// stored; so it counts as a misfit.

// authoritative returns the paths of the authoritative claims of an application with an attribute, by the attribute.
func authoritative(a *schemas.Application) map[string]string {
	found, o := map[string]string{}, a.OAuth()
	for i, attributes := range claims.AttributeClaims(o) {
		for _, attribute := range attributes {
			if o.Claims[i].Authoritative {
				found[attribute] = inConfig(fmt.Sprintf("claims[%d]", i))
			}
		}
	}
	return found
}

// claimRules returns what checks of the whole system read of the claims of an application.
func claimRules(a *schemas.Application) []any { return []any{authoritative(a), runReads(a)} }

// changesClaims reports whether the change stores an application whose claims are checked with all flows.
func (c *systemChange) changesClaims() bool {
	for _, a := range c.applications {
		if a != nil && len(authoritative(a))+len(runReads(a)) > 0 {
			return true
		}
	}
	return false
}

// addSettable adds the authoritative claims that users can set with a concerned flow, or on the account page.
func (s *misfitSearch) addSettable(system *systemState, concerned func(flowID string) bool) {
	for _, id := range slices.Sorted(maps.Keys(system.applications)) {
		a := system.applications[id]
		if isUntrusted(a) {
			continue
		}
		paths := authoritative(a)
		for _, attribute := range slices.Sorted(maps.Keys(paths)) {
			for _, m := range s.settings(system, a, attribute, concerned) {
				m.kind, m.applicationID, m.application, m.member = settableClaim, a.ID, a.Name, paths[attribute]
				s.found = append(s.found, m)
			}
		}
	}
}

// settings returns where users of an application can set an attribute: a misfit without a flow is the account page.
func (s *misfitSearch) settings(system *systemState, a *schemas.Application, attribute string, concerned func(flowID string) bool) (found []misfit) {
	for _, id := range slices.Sorted(maps.Keys(system.types)) {
		t := system.types[id]
		isField := func(f schemas.ProfileField) bool { return f.Name == attribute }
		if a.Admits(t.Name, t.IdentifierScope) && slices.ContainsFunc(t.ProfileFields(), isField) {
			found = append(found, misfit{misfitKey: misfitKey{userType: t.Name, attribute: attribute}})
		}
	}
	for _, id := range slices.Sorted(maps.Keys(system.flows)) {
		f := system.flows[id]
		if concerned != nil && !concerned(id) || f.FlowType == schemas.Subflow || !writesAttributes(f) {
			continue
		}
		at := misfit{misfitKey: misfitKey{flowID: f.ID, attribute: attribute}, flow: f.Handle}
		if node, path, sets := s.setsFor(f, a, attribute); sets {
			at.node, at.path = node, path
			found = append(found, at)
		}
	}
	return found
}

// setsFor returns the node of a flow in which users of an application can set an attribute.
func (s *misfitSearch) setsFor(f *schemas.Flow, a *schemas.Application, attribute string) (node, path string, sets bool) {
	uses, starts := s.uses(f), s.starts[f.ID]
	if len(starts) == 0 {
		return "", "", false
	}
	for _, q := range uses.Questions {
		if slices.Contains(q.Attributes, attribute) {
			return q.Node, q.Path, true
		}
	}
	for _, c := range uses.Creations {
		admits := func(start flowStart) bool {
			t := c.Type
			if t == "" {
				t = start.application.NewUserType()
			}
			return a.Admits(t, s.types[t].scope)
		}
		if c.Inputs[attribute] != "" && !slices.Contains(c.Stated, c.Inputs[attribute]) && slices.ContainsFunc(starts, admits) {
			return c.Node, c.Path, true
		}
	}
	return "", "", false
}

// settable returns what is wrong with an authoritative claim, and how to fix it.
func (r misfitReader) settable(m misfit) string {
	application, where := "an application", "users can set it on the account page"
	if r.applications {
		application = fmt.Sprintf("the application %q", m.application)
	}
	switch {
	case m.flowID != "" && r.flows:
		where = fmt.Sprintf("users can set it in the flow %q at the node %q", m.flow, m.node)
	case m.flowID != "":
		where = "users can set it in a flow"
	}
	return fmt.Sprintf("a claim of %s from the attribute %q is authoritative, but %s; take the value from groups or roles, mark the attribute readOnly in the user type, "+
		"do not ask for it, or remove authoritative", application, m.attribute, where)
}
