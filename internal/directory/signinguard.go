package directory

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// Users trust the sign-in page of this server. A caller who controls what the page asks can
// make users enter anything: an input that is labeled "Password" and stored as an attribute
// looks like any other, and no check of a flow can detect it. So a caller needs every
// permission of the users who may sign in there to change what a sign-in asks or shows;
// such a caller gains nothing from their passwords. This concerns flows and sub-flows,
// identity providers, the schemas of user types, and of applications the flows, the
// appearance, the allowed user types and the client id. It includes restricting the types
// and deleting an application: otherwise a caller could first exclude the administrators,
// or take over the client id of the application, and then replace the flow. Administrators
// would still visit the page.

// defaultFlows returns the types and handles of the flows of applications that name none.
// All users may sign in with them, because the next application may use them.
func defaultFlows() [][2]string {
	return [][2]string{{string(schemas.Authentication), DefaultSignIn}, {string(schemas.Registration), DefaultSignUp}}
}

func isDefaultFlow(f *schemas.Flow) bool {
	return f != nil && slices.Contains(defaultFlows(), [2]string{string(f.FlowType), f.Handle})
}

// requireReach refuses the write unless the caller has every permission of the applications
// that use the flows, and of the users who may sign in through these applications.
func (w *writeContext) requireReach(what string, ids ...string) {
	if w.isUnlimited() {
		return
	}
	reach, err := store.ReachOf(w.ctx, w.tx, ids, defaultFlows())
	if w.fail(err) {
		return
	}
	w.requirePermissions("", "an application that uses "+what, managedBy(w.withoutOwnScopes(reach.Applications), w.identityScopes(nil)))
	w.requireOfUsers("", "a user who may sign in through an application that uses "+what, restrictTypes, reach.Users)
}

// restrictTypes is the remedy for a caller who lacks a permission of users.
const restrictTypes = "restrict the application to user types whose users have no permissions (allowedUserTypes), or "

// requireOfTypes refuses the write unless the caller has the permissions of all users of the
// types, or of all users if no type is given. See requireOfUsers.
func (w *writeContext) requireOfTypes(path, who, remedy string, types []string) {
	if w.isUnlimited() {
		return
	}
	permissions, err := store.UserPermissions(w.ctx, w.tx, types)
	w.fail(err)
	w.requireOfUsers(path, who, remedy, permissions)
}

// requireOfUsers refuses the write unless the caller has all the permissions of users who
// may sign in. Who describes such a user, and remedy what else the caller can do.
func (w *writeContext) requireOfUsers(path, who, remedy string, permissions []string) {
	if missing, ok := w.call.lacks(permissions); ok {
		w.addForbidden(path, "%s has the permission %q, which you do not have: this change could make such a user enter a password for you; %sask a user with the permission %q to make it",
			who, missing, remedy, systemPermission)
	}
	w.requireProof(path, who, permissions)
}

// isUnlimited reports whether the caller has every permission that the users may have, and has
// proved enough to use them: see proofguard.go.
func (w *writeContext) isUnlimited() bool { return w.call.Permits(systemPermission) && !w.lacksProof() }

// guardSignIn lets a caller change what an application asks or shows at a sign-in only with
// all permissions of the users who may sign in before or after the change. A new application
// with the default flows asks for nothing that others do not ask for.
func guardSignIn(w *writeContext, was, a *schemas.Application) {
	if w.isUnlimited() {
		return
	}
	if path := changedSignIn(w, was, a); path != "" {
		w.requireOfTypes(path, signsInHere, restrictTypes, allowedTypes(was, a))
	}
}

// signsInHere describes the users of an application.
const signsInHere = "a user who may sign in to this application"

// guardRemoval refuses to delete an application unless the caller has the permissions of the
// users who may sign in there: another application could then be made with its ids.
func guardRemoval(w *writeContext, a *schemas.Application) {
	if signsIn(a) && !w.call.Permits(systemPermission) {
		w.requireOfTypes("", signsInHere, restrictTypes, a.AllowedUserTypes)
	}
}

// signsIn reports whether users sign in to an application: it is not a client that only
// acts on its own behalf.
func signsIn(a *schemas.Application) bool {
	o := a.OAuth()
	return o == nil || len(o.GrantTypes) != 1 || o.GrantTypes[0] != schemas.GrantClientCredentials
}

// allowedTypes returns the user types that an application allows before or after a change,
// none if it allows all. A new application has no id before.
func allowedTypes(was, a *schemas.Application) []string {
	if len(a.AllowedUserTypes) == 0 || was.ID != "" && len(was.AllowedUserTypes) == 0 {
		return nil
	}
	return slices.Concat(was.AllowedUserTypes, a.AllowedUserTypes)
}

// changedSignIn returns the path of a member whose change decides what users are asked or
// shown at a sign-in, "" if there is none.
func changedSignIn(w *writeContext, was, a *schemas.Application) string {
	if was.ID == "" {
		return ownFlow(w, a)
	}
	shows := func(app *schemas.Application) string {
		text, _ := json.Marshal(app.Customizations) // it was read as JSON
		return fmt.Sprintf("%q %q %q %s", app.LogoURL, app.TosURI, app.PolicyURI, text)
	}
	flowsWere := was.Flows()
	for i, f := range a.Flows() {
		if *f.ID != *flowsWere[i].ID {
			return f.Path
		}
	}
	switch {
	case !slices.Equal(slices.Sorted(slices.Values(a.AllowedUserTypes)), slices.Sorted(slices.Values(was.AllowedUserTypes))):
		return "allowedUserTypes"
	case a.ClientID != was.ClientID && was.ClientID != "" && signsIn(was):
		return "clientId"
	case a.Verified && !was.Verified:
		return "verified"
	case shows(a) != shows(was):
		return "customizations"
	case a.OUID != was.OUID && differs(brandOf(w, was.OUID), brandOf(w, a.OUID)):
		return "ouId" // the pages show the logo of the unit
	}
	return ""
}

// ownFlow returns the path of a flow of an application that is not the default one, "" if
// it has the defaults.
func ownFlow(w *writeContext, a *schemas.Application) string {
	for _, f := range a.OptionalFlows() {
		if *f.ID != "" {
			return f.Path
		}
	}
	for _, one := range []struct{ path, id, handle string }{
		{"authFlowId", a.AuthFlowID, DefaultSignIn}, {"registrationFlowId", a.RegistrationFlowID, DefaultSignUp},
	} {
		f, err := store.Flows().Get(w.ctx, w.tx, one.id)
		if schemas.HasClass(err, schemas.NotFound) || w.fail(err) {
			continue // checkFlowType reports an unknown flow
		}
		if f.Handle != one.handle {
			return one.path
		}
	}
	return ""
}

// guardAttributes lets a caller change the schema of a user type only with all permissions
// of its users: forms show the titles of its attributes.
func guardAttributes(w *writeContext, old, t *schemas.UserType) {
	if string(old.Schema) != string(t.Schema) {
		w.requireOfTypes("schema", fmt.Sprintf("a user of the type %q", old.Name), "", []string{old.Name})
	}
}

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
		w.requireOfTypes("handle", "a user who may sign in to an application without a flow of its own, which would use the flow with this handle,", "use another handle, or ", nil)
	} else if f != nil && (w.isBuiltin(f) || w.isBuiltin(old)) {
		w.requireOfTypes("handle", "a user who may sign in to an application for which an administrator selects this built-in flow", "copy it to another handle, or ", nil)
	}
	if old != nil { // no application uses a new flow yet
		w.requireReach("the flow", old.ID)
	}
}

// isBuiltin reports whether a flow has the handle of a flow of the program. Administrators select such
// a flow by its name, later and without reading it again, so a change takes what the widest selection
// takes.
func (w *writeContext) isBuiltin(f *schemas.Flow) bool {
	return f != nil && f.FlowType != schemas.Subflow && slices.Contains(w.directory.BuiltinFlows, f.Handle)
}

// guardWaivers refuses a flow with a waiver, its own or of a sub-flow, to callers without
// "system", whether they write the flow or make an application use it.
func (w *writeContext) guardWaivers(path string, f *schemas.Flow) {
	if waivers := f.Waivers(); len(waivers) > 0 && !w.call.Permits(systemPermission) {
		w.addForbidden(path, "a flow that waives the rule %q can take over any account; only a user with the permission %q may write or use it",
			waivers[0].Rule, systemPermission)
	}
}
