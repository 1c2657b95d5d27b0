package directory

import (
	"slices"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// Call is the caller of an operation and how to run it.
type Call struct {
	Actor schemas.Actor
	// Permissions are the permissions that the actor's token grants.
	Permissions []string
	// Methods are the authentication methods of the user's sign-in (amr, RFC 8176).
	Methods []string
	// AuthTime is the time of the user's last authentication (auth_time); zero if the token
	// does not contain it.
	AuthTime time.Time
	// Session is the id of the token's session; "" for none.
	Session string
	// Token is the actor's token; nil for a call of the program itself. A write checks
	// the token and reads the actor's permissions again in its transaction.
	Token *schemas.TokenRef
	// Needs is the permission required for the call; "" for none. A write checks it again.
	Needs   string
	TraceID string
	// DryRun runs all checks and stores nothing: the result is what the write would return.
	DryRun bool

	tx       *store.Tx           // set by Transact; nil outside
	guard    *administratorGuard // belongs to tx
	snapshot store.Reader        // set by Snapshot; nil outside
}

// SystemCall returns a call of the program itself, which has every permission.
func SystemCall() Call {
	return Call{Actor: schemas.Actor{Type: schemas.SystemActor}, Permissions: []string{systemPermission}}
}

// UntrustedCall returns the call for a client that registers itself. It has every
// permission, because the server composes the application and users grant its scopes. Use
// it with Register only.
func UntrustedCall() Call { return Call{Permissions: []string{systemPermission}} }

// systemPermission is above every permission of Postern's own API.
const systemPermission = "system"

// Permits reports whether the actor has a permission or one above it. A holder of "system"
// also has every permission of other resource servers, because such a caller could grant
// them to itself.
func (c Call) Permits(permission string) bool {
	return slices.ContainsFunc(c.Permissions, func(has string) bool {
		return has == systemPermission || schemas.CoversPermission(has, permission)
	})
}

// lacks returns the first of the permissions that the actor does not have; ok is false if
// the actor has all.
func (c Call) lacks(permissions []string) (permission string, ok bool) {
	for _, p := range permissions {
		if !c.Permits(p) {
			return p, true
		}
	}
	return "", false
}
