package directory

import (
	"context"
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
	// ACR is the class of that sign-in as the token states it.
	ACR string
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
	// Reason is the caller's reason for a change of a flow, at most 200 characters; "" for none.
	// The version and its audit event carry it.
	Reason string

	own      bool                // users change their own account, which takes no permission
	tx       *store.Tx           // set by Transact; nil outside
	guard    *administratorGuard // belongs to tx
	change   *systemChange       // belongs to tx
	ids      *idSource           // belongs to tx
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

// A write reads the caller's permissions again in its own transaction. The token was
// checked when the request arrived, and the request may have waited since then: for a
// slow body, for password hashing, for other writes. An administrator whose role was
// removed in the meantime could otherwise still grant it to another account.
//
// Roles, groups, assignments and clients change only in serial writes, so none of them
// changes during a serial write. Sessions and users also change in other writes, so
// HoldToken locks them.

// codeInvalidToken is the code of the error for a revoked token.
const codeInvalidToken = "invalid_token"

// authorized returns the call with the permissions that its actor still has. A call
// without a token comes from the program itself and keeps its permissions.
func (d *Directory) authorized(ctx context.Context, tx *store.Tx, c Call) (Call, error) {
	if c.Token == nil {
		return c, nil
	}
	live, err := store.HoldToken(tx, *c.Token, c.userID())
	if err != nil {
		return c, err
	}
	if !live {
		return c, schemas.Errorf(schemas.Unauthenticated, codeInvalidToken,
			"the token was revoked, or its session ended, while the request was waiting; sign in again")
	}
	has, err := actorHas(ctx, tx, c.Actor)
	if err != nil {
		return c, err
	}
	c.Permissions = schemas.GrantableScopes(c.Permissions, has, schemas.IdentityScopes())
	if c.Needs != "" && !c.Permits(c.Needs) {
		return c, schemas.Errorf(schemas.Forbidden, schemas.CodeForbidden,
			"this needs the permission %q, which you lost while the request was waiting", c.Needs)
	}
	return c, nil
}

// userID returns the acting user; "" if a client acts on its own behalf.
func (c Call) userID() string {
	if c.Actor.Type != schemas.UserActor {
		return ""
	}
	return c.Actor.ID
}

// actorHas returns what an actor may do now; see Granted.
func actorHas(ctx context.Context, tx *store.Tx, actor schemas.Actor) ([]string, error) {
	if actor.Type == schemas.UserActor {
		return store.PermissionsOf(ctx, tx, schemas.Principal{Type: schemas.UserPrincipal, ID: actor.ID})
	}
	a, err := store.Applications().Find(ctx, tx, "clientId", actor.ID) // as tokens name it
	if err != nil || a == nil {
		return nil, err
	}
	granted, err := store.PermissionsOf(ctx, tx, schemas.Principal{Type: schemas.ApplicationPrincipal, ID: a.ID})
	return clientScopes(a, granted), err
}

// clientScopes are the scopes of a client that has been granted permissions.
func clientScopes(a *schemas.Application, granted []string) []string {
	scopes := slices.Clone(granted)
	if o := a.OAuth(); o != nil {
		scopes = append(scopes, o.Scopes...)
	}
	slices.Sort(scopes)
	return slices.Compact(scopes)
}
