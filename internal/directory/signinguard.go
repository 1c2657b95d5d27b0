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
func (w *writeContext) requireReach(what string, ids ...string) error {
	if w.call.Permits(systemPermission) {
		return nil
	}
	reach, err := store.ReachOf(w.ctx, w.tx, ids, defaultFlows())
	if err != nil {
		return err
	}
	w.requirePermissions("", "an application that uses "+what, managedBy(reach.Applications))
	w.requireOfUsers("", "a user who may sign in through an application that uses "+what, restrictTypes, reach.Users)
	return nil
}

// restrictTypes is the remedy for a caller who lacks a permission of users.
const restrictTypes = "restrict the application to user types whose users have no permissions (allowedUserTypes), or "

// requireOfUsers refuses the write unless the caller has all the permissions of users who
// may sign in. Who describes such a user, and remedy what else the caller can do.
func (w *writeContext) requireOfUsers(path, who, remedy string, permissions []string) {
	beyond := slices.IndexFunc(permissions, func(p string) bool { return !w.call.Permits(p) })
	if beyond < 0 {
		return
	}
	w.addForbidden(path, "%s has the permission %q, which you do not have: this change could make such a user enter a password for you; %sask a user with the permission %q to make it",
		who, permissions[beyond], remedy, systemPermission)
}

// guardSignIn lets a caller change what an application asks or shows at a sign-in only with
// all permissions of the users who may sign in before or after the change. A new application
// with the default flows asks for nothing that others do not ask for.
func guardSignIn(w *writeContext, was, a *schemas.Application) error {
	if w.call.Permits(systemPermission) {
		return nil
	}
	path, err := changedSignIn(w, was, a)
	if path == "" || err != nil {
		return err
	}
	return w.requireOfTypes(path, allowedTypes(was, a))
}

// requireOfTypes refuses the write unless the caller has the permissions of all users of the
// types, or of all users if no type is given.
func (w *writeContext) requireOfTypes(path string, types []string) error {
	permissions, err := store.UserPermissions(w.ctx, w.tx, types)
	w.requireOfUsers(path, "a user who may sign in to this application", restrictTypes, permissions)
	return err
}

// guardRemoval refuses to delete an application unless the caller has the permissions of the
// users who may sign in there: another application could then be made with its ids.
func guardRemoval(w *writeContext, a *schemas.Application) error {
	if w.call.Permits(systemPermission) || !signsIn(a) {
		return nil
	}
	return w.requireOfTypes("", a.AllowedUserTypes)
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
func changedSignIn(w *writeContext, was, a *schemas.Application) (string, error) {
	if was.ID == "" {
		return ownFlow(w, a)
	}
	shows := func(app *schemas.Application) string {
		text, _ := json.Marshal(app.Customizations) // it was read as JSON
		return fmt.Sprintf("%q %q %q %s", app.LogoURL, app.TosURI, app.PolicyURI, text)
	}
	switch {
	case a.AuthFlowID != was.AuthFlowID:
		return "authFlowId", nil
	case a.RegistrationFlowID != was.RegistrationFlowID:
		return "registrationFlowId", nil
	case !slices.Equal(slices.Sorted(slices.Values(a.AllowedUserTypes)), slices.Sorted(slices.Values(was.AllowedUserTypes))):
		return "allowedUserTypes", nil
	case a.ClientID != was.ClientID && was.ClientID != "" && signsIn(was):
		return "clientId", nil
	case a.Verified && !was.Verified:
		return "verified", nil
	case shows(a) != shows(was):
		return "customizations", nil
	}
	return "", nil
}

// ownFlow returns the path of a flow of an application that is not the default one, "" if
// it has the defaults.
func ownFlow(w *writeContext, a *schemas.Application) (string, error) {
	for _, one := range []struct{ path, id, handle string }{
		{"authFlowId", a.AuthFlowID, DefaultSignIn}, {"registrationFlowId", a.RegistrationFlowID, DefaultSignUp},
	} {
		f, err := store.Flows().Get(w.ctx, w.tx, one.id)
		if schemas.HasClass(err, schemas.NotFound) {
			continue // checkFlowType reports it
		}
		if err != nil {
			return "", err
		}
		if f.Handle != one.handle {
			return one.path, nil
		}
	}
	return "", nil
}

// guardAttributes lets a caller change the schema of a user type only with all permissions
// of its users: forms show the titles of its attributes.
func guardAttributes(w *writeContext, old, t *schemas.UserType) error {
	if w.call.Permits(systemPermission) || string(old.Schema) == string(t.Schema) {
		return nil
	}
	permissions, err := store.UserPermissions(w.ctx, w.tx, []string{old.Name})
	w.requireOfUsers("schema", fmt.Sprintf("a user of the type %q", old.Name), "", permissions)
	return err
}
