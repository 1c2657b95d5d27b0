package directory

import (
	"fmt"
	"maps"
	"slices"

	"github.com/postern-id/postern/internal/claims"
	"github.com/postern-id/postern/schemas"
)

// Claims with values of a run
//
// A claim can have the value of an input of a flow, or of the reply of a service. One of the flows of the application
// must have it: otherwise the claim would never have a value, and an application would take that for an answer. So it
// counts as a misfit.

// runReads returns the names of the values of runs that the claims of an application read, with the path of the first
// claim that does.
func runReads(a *schemas.Application) map[string]string {
	found, o := map[string]string{}, a.OAuth()
	if o == nil {
		return found
	}
	reads := claims.RunReads(o.Claims)
	for _, i := range slices.Backward(slices.Sorted(maps.Keys(reads))) {
		for _, name := range reads[i] {
			found[name] = inConfig(fmt.Sprintf("claims[%d]", i))
		}
	}
	return found
}

// addUnproduced adds the values that claims of applications read and none of their flows has, of applications with a
// concerned flow.
func (s *misfitSearch) addUnproduced(system *systemState, concerned func(flowID string) bool) {
	for _, id := range slices.Sorted(maps.Keys(system.applications)) {
		a := system.applications[id]
		reads, flows := runReads(a), a.StartedFlows()
		if len(reads) == 0 || isUntrusted(a) || concerned != nil && !slices.ContainsFunc(flows, concerned) {
			continue
		}
		produced, known := s.valuesOf(system, flows)
		for _, name := range slices.Sorted(maps.Keys(reads)) {
			if known && !slices.Contains(produced, name) {
				s.found = append(s.found, misfit{misfitKey: misfitKey{kind: unproducedValue, applicationID: a.ID, attribute: name},
					application: a.Name, member: reads[name], hint: schemas.Hint(name, produced)})
			}
		}
	}
}

// readsRunOf reports whether a claim of an application reads values of runs of the flow.
func (s *systemState) readsRunOf(flowID string) bool {
	for _, a := range s.applications {
		if slices.Contains(a.StartedFlows(), flowID) && len(runReads(a)) > 0 {
			return true
		}
	}
	return false
}

// valuesOf returns the values of runs of the flows. They are not known if a flow cannot run.
func (s *misfitSearch) valuesOf(system *systemState, flows []string) (names []string, known bool) {
	for _, id := range flows {
		f := system.flows[id]
		if f == nil {
			return nil, false
		}
		values := s.uses(f).Values
		if values == nil {
			return nil, false
		}
		names = append(names, values...)
	}
	return names, true
}

// unproduced returns what is wrong with a claim, and how to fix it.
func (r misfitReader) unproduced(m misfit) string {
	application := "an application"
	if r.applications {
		application = fmt.Sprintf("the application %q", m.application)
	}
	hint := ""
	if r.flows {
		hint = m.hint
	}
	return fmt.Sprintf("a claim of %s reads %q, which none of its flows has, or which is a secret;%s collect the input in one of its flows, store the reply there, or change the claim",
		application, m.attribute, hint)
}
