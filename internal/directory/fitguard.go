package directory

import (
	"context"
	"maps"
	"slices"

	"github.com/postern-id/postern/internal/claims"
	"github.com/postern-id/postern/schemas"
)

// A flow that creates users must set the attributes that their type requires, and no others: a
// sign-up would otherwise fail at its end, for every user. Whether it does depends on the flow, on
// the user types, and on the applications, which decide the type if the flow names none. So each of
// them is refused if it introduces a misfit. Misfits that are stored already, from an earlier
// release or from flow files, do not prevent other changes; the server warns about them at startup.

// checkFits refuses a change that introduces a misfit. It covers a whole transaction, which may store
// a flow and the user type that it needs in any order.
func (d *Directory) checkFits(call Call, c *systemChange, before, after *systemState) error {
	found := d.introducedMisfits(before, after, c)
	if len(found) == 0 {
		return nil
	}
	problems := d.describeMisfits(call, c.noun, found)
	if c.document != nil && c.noun == "flow" {
		problems = c.document.Locate(problems)
	}
	effect := "make a flow fail for all of its users"
	switch found[0].kind {
	case settableClaim:
		effect = "let users set an authoritative claim"
	case unproducedValue:
		effect = "leave a claim without a value"
	}
	return schemas.Errorf(schemas.Invalid, schemas.CodeFlowDoesNotFit, "this change would %s: %s", effect, problems[0]).WithProblems(problems)
}

// setsAttributes reports whether a change of an application can make a flow create other users, or let users set
// its claims. Clients that register themselves start the flows that other applications start too.
func setsAttributes(was, a *schemas.Application) bool {
	return !slices.Equal(claims.Guarded(was), claims.Guarded(a)) || !slices.Equal(was.AllowedUserTypes, a.AllowedUserTypes) && len(claims.Guarded(a)) > 0 ||
		!isUntrusted(a) && (!slices.Equal(was.StartedFlows(), a.StartedFlows()) || !slices.Equal(was.AllowedUserTypes, a.AllowedUserTypes) || was.OUID != a.OUID || isUntrusted(was) ||
			!maps.Equal(runReads(was), runReads(a)))
}

func isUntrusted(a *schemas.Application) bool { return a.Registration != "" && !a.Verified }

// maxMisfits limits how many problems the error lists.
const maxMisfits = 20

// describeMisfits returns the problems for a caller, each once. They name resources only if the
// caller may read them, or has written them.
func (d *Directory) describeMisfits(c Call, noun string, found []misfit) []schemas.Problem {
	sees := func(of Resource) bool { return of.Noun().Name == noun || c.Permits(of.Noun().Read) }
	reader := misfitReader{flows: sees(d.Flows), types: sees(d.UserTypes), applications: sees(d.Applications)}
	var problems []schemas.Problem
	for _, m := range found {
		p := schemas.Problem{Message: reader.message(m)}
		switch noun {
		case "flow":
			p.Path, p.Node = m.path, m.node
		case "application":
			p.Path = m.member
			if m.claim != nil {
				p.Rule = schemas.RuleClaim
			}
		case "userType":
			p.Path = "schema"
		case "identityProvider":
			p.Path = "mapping.attributes"
		}
		known := slices.ContainsFunc(problems, func(q schemas.Problem) bool { return q.Message == p.Message })
		if !known && len(problems) < maxMisfits {
			problems = append(problems, p)
		}
	}
	return problems
}

// Misfits reports the stored flows that do not fit the users that they are for, each with the first
// reason.
func (d *Directory) Misfits(ctx context.Context, c Call, report func(flow, reason string)) error {
	if d.AttributeUses == nil {
		return nil
	}
	system, err := readSystem(ctx, d.reader(c))
	if err != nil {
		return err
	}
	reported := map[string]bool{}
	search := newMisfitSearch(system, d.AttributeUses)
	search.addFlows(system, nil)
	for _, m := range search.found {
		if !reported[m.flowID] {
			reported[m.flowID] = true
			report(m.flow, misfitReader{flows: true, types: true, applications: true}.message(m))
		}
	}
	return nil
}
