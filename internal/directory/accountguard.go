package directory

import (
	"context"
	"slices"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// CodeInsufficientScope is that of the error that a token speaks for the user, and
// was given to an application that may not see to the accounts of those who have
// permissions. Its class is Forbidden.
const CodeInsufficientScope = "insufficient_scope"

// MayManageAccount returns an error unless the caller may change what a user signs in
// with. The class is Forbidden; if the caller is the user, the code is
// CodeInsufficientScope. An unknown user is user_not_found, Class NotFound.
func (d *Directory) MayManageAccount(ctx context.Context, c Call, userID string) error {
	return mayManage(ctx, d.reader(c), c, userID)
}

// mayManage decides who may change what a user signs in with, and end the user's
// sessions: who has all that the user has, be it nothing. Users themselves may
// besides by what only they and this service have in hands. That they may not by
// every token that speaks for them is because whoever may write applications, and no
// more than that, could else lead an administrator to one of theirs, add a passkey of
// their own with the assertion that ends up there, and be the administrator.
func mayManage(ctx context.Context, r store.Reader, c Call, userID string) error {
	u, err := store.Users().Get(ctx, r, userID)
	if err != nil {
		return err
	}
	has, err := store.PermissionsOf(ctx, r, principalOf(u))
	if err != nil {
		return err
	}
	beyond := slices.IndexFunc(has, func(p string) bool { return !c.Permits(p) })
	if beyond < 0 {
		return nil
	}
	if !c.is(userID) {
		return schemas.Errorf(schemas.Forbidden, schemas.CodeForbidden,
			"you may not do this: this user has the permission %q, which you do not have; leave it to somebody who has", has[beyond])
	}
	if own, err := c.seesToAccounts(ctx, r); own || err != nil {
		return err
	}
	return schemas.Errorf(schemas.Forbidden, CodeInsufficientScope,
		"this user has the permission %q, which this token does not carry, so whoever it was given to could get it by a passkey of their own: sign in to an application that is registered with the scope %q, such as the account page of this service",
		has[beyond], schemas.AccountScope)
}

// seesToAccounts reports whether what the caller has in hands is good for the account
// of any user: an access token with the scope for that, or the assertion of an
// application that is registered with it. An assertion for no application is not: it
// carries what the user has if it was given to a page of this server. Who registers a client with that scope must have everything; see heldBy.
func (c Call) seesToAccounts(ctx context.Context, r store.Reader) (bool, error) {
	if c.Permits(schemas.AccountScope) {
		return true, nil
	}
	a, err := store.Applications().Get(ctx, r, c.Actor.Client)
	if schemas.HasClass(err, schemas.NotFound) {
		return false, nil
	}
	if err != nil || a.OAuth() == nil {
		return false, err
	}
	return slices.ContainsFunc(a.OAuth().Scopes, func(s string) bool { return s == schemas.AccountScope || s == systemPermission }), nil
}
