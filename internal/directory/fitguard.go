package directory

import (
	"context"
	"slices"

	"github.com/postern-id/postern/schemas"
)

// A flow that creates users must set the attributes that their type requires, and no others: a
// sign-up would otherwise fail at its end, for every user. Whether it does depends on the flow, on
// the user types, and on the applications, which decide the type if the flow names none. So each of
// them is refused if it introduces a misfit. Misfits that are stored already, from an earlier
// release or from flow files, do not prevent other changes; the server warns about them at startup.

// fitGuard refuses a transaction that introduces a misfit. One guard covers the whole transaction:
// it may store a flow and the user type that it needs in any order.
type fitGuard struct {
	before map[misfitKey]bool // nil: not begun
	noun   string             // of the writes, "" if they are of several nouns
	// document is that of the flow that is written, if it is the only write.
	document *schemas.Document
}

// guardFits is called before the first write that may introduce a misfit.
func (d *Directory) guardFits(w *writeContext, noun string) {
	guard := w.call.fits
	if d.AttributeUses == nil || guard == nil {
		return
	}
	if guard.before != nil {
		if guard.document = nil; guard.noun != noun {
			guard.noun = ""
		}
		return
	}
	guard.before, guard.noun = map[misfitKey]bool{}, noun
	if noun == "flow" {
		guard.document = w.document
	}
	found, err := d.misfits(w.ctx, w.tx)
	w.fail(err)
	for _, m := range found {
		guard.before[m.misfitKey] = true
	}
}

// endFits refuses the transaction if it introduced a misfit.
func (d *Directory) endFits(ctx context.Context, c Call) error {
	guard := c.fits
	if guard.before == nil {
		return nil
	}
	found, err := d.misfits(ctx, c.tx)
	if err != nil {
		return err
	}
	found = slices.DeleteFunc(found, func(m misfit) bool { return guard.before[m.misfitKey] })
	if len(found) == 0 {
		return nil
	}
	problems := d.describeMisfits(c, guard.noun, found)
	if guard.document != nil {
		problems = guard.document.Locate(problems)
	}
	return schemas.Errorf(schemas.Invalid, schemas.CodeFlowDoesNotFit,
		"this change would make a flow fail for all of its users: %s", problems[0]).WithProblems(problems)
}

// setsAttributes reports whether a change of an application can make a flow create other users.
// Clients that register themselves start the flows that other applications start too.
func setsAttributes(was, a *schemas.Application) bool {
	return !isUntrusted(a) && (!slices.Equal(startedFlows(was), startedFlows(a)) || !slices.Equal(was.AllowedUserTypes, a.AllowedUserTypes) || isUntrusted(was))
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
		case "userType":
			p.Path = "schema"
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
	found, err := d.misfits(ctx, d.reader(c))
	if err != nil {
		return err
	}
	reported := map[string]bool{}
	for _, m := range found {
		if !reported[m.flowID] {
			reported[m.flowID] = true
			report(m.flow, misfitReader{flows: true, types: true, applications: true}.message(m))
		}
	}
	return nil
}
