package directory

import (
	"slices"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// Call is who asks for something, and how it is to be done.
type Call struct {
	Actor schemas.Actor
	// Permissions are what the actor's token grants.
	Permissions []string
	// Methods are how the user whose token it is has signed in (amr, RFC 8176).
	Methods []string
	// AuthTime is when that user last proved who they are (auth_time); zero if the
	// token does not contain it.
	AuthTime time.Time
	// Session is the id of the session that the token belongs to; "" for none.
	Session string
	// Token is the actor's token; nil for a call of the program itself. A write checks
	// the token and reads the actor's permissions again in its transaction.
	Token *schemas.TokenRef
	// Needs is the permission that admitted the call; "" if it needed none. A write
	// checks it again.
	Needs   string
	TraceID string
	// DryRun has everything checked and nothing kept: the result is what it would
	// have been.
	DryRun bool

	tx       *store.Tx           // of Transact; nil outside of one
	guard    *administratorGuard // goes with tx
	snapshot store.Reader        // of Snapshot; nil outside of one
}

// SystemCall is a call of the program itself, which may do everything.
func SystemCall() Call {
	return Call{Actor: schemas.Actor{Type: schemas.SystemActor}, Permissions: []string{systemPermission}}
}

// UntrustedCall is a call of a client that registers itself and for which nobody vouches.
// It has every permission, as what it registers is made by the server, with the
// scopes that people may give it a part of; so it is for Register alone.
func UntrustedCall() Call { return Call{Permissions: []string{systemPermission}} }

// systemPermission is above every permission of Postern's own API.
const systemPermission = "system"

// Permits reports whether the actor has a permission, or one above it. Who has
// the one above all of Postern's own has every other too, also those of other
// resource servers: they could give it to themselves.
func (c Call) Permits(permission string) bool {
	return slices.ContainsFunc(c.Permissions, func(has string) bool {
		return has == systemPermission || schemas.CoversPermission(has, permission)
	})
}
