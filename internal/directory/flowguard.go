package directory

import (
	"github.com/postern-id/postern/schemas"
)

// guardFlow refuses a flow that would give the caller permissions. A waiver can open the
// account of any user, so it requires "system". For other rules see guardUse.
func guardFlow(w *writeContext, old, f *schemas.Flow) {
	path := "waive"
	if len(f.Waive) == 0 {
		path = "nodes" // a sub-flow has the waiver
	}
	w.guardWaivers(path, f)
	guardUse(w, old, f)
}

// guardUse refuses a change of a flow unless the caller has the permissions of the
// applications that use it, and of the users who may sign in through them: see
// signinguard.go. A sub-flow becomes part of other flows when these are stored again, so it
// requires the same permissions as they do. Old is nil for a new flow, f for a deleted one.
func guardUse(w *writeContext, old, f *schemas.Flow) {
	if isDefaultFlow(f) && !isDefaultFlow(old) {
		w.requireOfTypes("handle", "a user who may sign in through an application without a flow of its own, which gets the flow with this handle,", "use another handle, or ", nil)
	}
	if old != nil { // no application uses a new flow yet
		w.requireReach("the flow", old.ID)
	}
}

// guardWaivers refuses a flow with a waiver, its own or of a sub-flow, to callers without
// "system", whether they write the flow or make an application use it.
func (w *writeContext) guardWaivers(path string, f *schemas.Flow) {
	if waivers := f.Waivers(); len(waivers) > 0 && !w.call.Permits(systemPermission) {
		w.addForbidden(path, "a flow that waives the rule %q can take over any account; only a user with the permission %q may write or use it",
			waivers[0].Rule, systemPermission)
	}
}
