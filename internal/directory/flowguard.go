package directory

import (
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// guardFlow lets only those write a flow who could not gain by it. What it waives
// opens the accounts of whoever it is told to, so that takes everything. And what
// it asks for it learns: at the door of an application that has permissions a
// flow could collect the passwords of those who have them too, or ask for less
// than it did. So it takes what the applications have that the flow is of. A sub-flow
// becomes part of flows when others put these again, unsuspecting: it takes what these
// take.
func guardFlow(w *work, old, f *schemas.Flow) error {
	path := "waive"
	if len(f.Waive) == 0 {
		path = "nodes" // it is what one of them uses
	}
	w.guardWaivers(path, f)
	if old == nil {
		return nil // nobody signs in with it yet
	}
	permissions, err := flowPermissions(w, old.ID, map[string]bool{})
	if err != nil {
		return err
	}
	w.require("", "an application that uses the flow", heldBy(permissions))
	return nil
}

// flowPermissions returns what the applications have that a flow is of, or that flows
// are of which use it.
func flowPermissions(w *work, id string, seen map[string]bool) ([]string, error) {
	if seen[id] {
		return nil, nil
	}
	seen[id] = true
	permissions, err := store.FlowPermissions(w.ctx, w.tx, id)
	if err != nil {
		return nil, err
	}
	users, err := store.Flows().Users(w.ctx, w.tx, id)
	if err != nil {
		return nil, err
	}
	for _, u := range users {
		more, err := flowPermissions(w, u.ID, seen)
		if err != nil {
			return nil, err
		}
		permissions = append(permissions, more...)
	}
	return permissions, nil
}

// guardWaivers refuses a flow that waives something to all who may not do
// everything, be it to write it or to let people in by it. What a flow uses waives
// for it as well.
func (w *work) guardWaivers(path string, f *schemas.Flow) {
	if waivers := f.Waivers(); len(waivers) > 0 && !w.call.Permits(systemPermission) {
		w.forbid(path, "a flow that waives the rule %q can take over the account of anybody, so only who has the permission %q may write or use one",
			waivers[0].Rule, systemPermission)
	}
}
