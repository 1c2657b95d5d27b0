package directory

import (
	"context"
	"slices"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// CodeInsufficientScope is the code of the error that the token identifies the user,
// but was given to an application that may not manage accounts. Its class is
// Forbidden.
const CodeInsufficientScope = "insufficient_scope"

// MaxProofAge is how old the sign-in may be by which users change their own
// account: a stolen token, or a browser that was left open, must not be enough to
// add a passkey that outlives both.
const MaxProofAge = schemas.MaxProofAge

// MayManageAccount returns an error unless the caller may change how a user signs
// in. Callers who may not manage the user's account get Class Forbidden, users whose
// token is for another application CodeInsufficientScope, and users who signed in
// too long ago Class Unauthenticated, schemas.CodeStaleProof. Users who have a second
// factor must have signed in with one, or with a passkey, to add a passkey: else a stolen
// password would be enough to get one, which counts as two factors; the error is Class
// Forbidden, schemas.CodeFactorRequired. An unknown user is user_not_found, Class NotFound.
func (d *Directory) MayManageAccount(ctx context.Context, c Call, userID string) error {
	r := d.reader(c)
	if err := mayManage(ctx, r, c, userID, d.now()); err != nil || !c.is(userID) {
		return err
	}
	has, err := factorsOf(ctx, r, userID)
	if err != nil || has.TOTP == nil && (has.RecoveryCodes == nil || has.RecoveryCodes.Left == 0) {
		return err
	}
	return c.requireHeld()
}

// MayAccessAccount is MayManageAccount without the demand for a recent sign-in, for
// the end of a ceremony that was begun with one.
func (d *Directory) MayAccessAccount(ctx context.Context, c Call, userID string) error {
	return mayAccess(ctx, d.reader(c), c, userID)
}

// mayManage decides who may change how a user signs in, end the user's sessions and
// withdraw consents: those whom mayAccess admits, and of them users themselves only
// shortly after they signed in.
func mayManage(ctx context.Context, r store.Reader, c Call, userID string, now time.Time) error {
	if err := mayAccess(ctx, r, c, userID); err != nil {
		return err
	}
	if !c.actsAs(userID) || !c.AuthTime.IsZero() && now.Sub(c.AuthTime) <= MaxProofAge {
		return nil
	}
	return schemas.Errorf(schemas.Unauthenticated, schemas.CodeStaleProof,
		"this changes the account, so the user must have signed in within the last %d minutes: have the user sign in again "+
			"(an authorization request with max_age=%d, or a new run of the flow), and repeat the request with the token from that sign-in",
		int(MaxProofAge.Minutes()), int(MaxProofAge.Seconds()))
}

// mayAccess decides who may act on a user's account: administrators who have every
// permission that the user has, and users themselves with a token for accounts. A
// token that an ordinary application obtained by showing the sign-in is not one: with
// it every such application, and every script injected into one, could register a
// passkey for each of its users and keep their accounts.
func mayAccess(ctx context.Context, r store.Reader, c Call, userID string) error {
	u, err := store.Users().Get(ctx, r, userID)
	if err != nil {
		return err
	}
	if c.actsAs(userID) {
		return c.requireAccountScope(ctx, r)
	}
	has, err := store.PermissionsOf(ctx, r, principalOf(u))
	if err != nil {
		return err
	}
	beyond := slices.IndexFunc(has, func(p string) bool { return !c.Permits(p) })
	if beyond < 0 {
		return nil
	}
	return schemas.Errorf(schemas.Forbidden, schemas.CodeForbidden,
		"you may not do this: this user has the permission %q, which you do not have; leave it to somebody who has", has[beyond])
}

// mayRead decides who may list what a user signs in with, the user's sessions and
// consents. They tell of other applications and devices, so users need a token for
// accounts, be the sign-in ever so old. Whoever may read users may read them of any.
func mayRead(ctx context.Context, r store.Reader, c Call, userID string) error {
	if _, err := store.Users().Get(ctx, r, userID); err != nil {
		return err
	}
	if !c.actsAs(userID) || c.Permits("system:users:read") {
		return nil
	}
	return c.requireAccountScope(ctx, r)
}

// actsAs reports whether the caller is the user, and not by a token that may act for
// anybody.
func (c Call) actsAs(userID string) bool { return c.is(userID) && !c.Permits(systemPermission) }

// requireAccountScope returns an error unless the caller's token is for accounts: an
// access token with that scope, or the assertion of an application that an
// administrator registered with it. An assertion of no application, as
// POST /auth/passkey/finish gives it, is not.
func (c Call) requireAccountScope(ctx context.Context, r store.Reader) error {
	if c.Permits(schemas.AccountScope) {
		return nil
	}
	a, err := store.Applications().Get(ctx, r, c.Actor.Client)
	if err != nil && !schemas.HasClass(err, schemas.NotFound) {
		return err
	}
	if err == nil && managesAccounts(a) {
		return nil
	}
	return schemas.Errorf(schemas.Forbidden, CodeInsufficientScope,
		"this token is for an application that may not manage the accounts of its users: sign in to an application that an administrator registered with the scope %q, such as the account page of this service",
		schemas.AccountScope)
}

// managesAccounts reports whether an administrator gave an application the scope for
// accounts, or the one above all. Only callers with the permission system can (see
// managedBy), but a client that registers itself may name "system" among the scopes
// that it asks administrators for: that one does not count.
func managesAccounts(a *schemas.Application) bool {
	if a.OAuth() == nil || a.Registration == schemas.RegisteredByDocument {
		return false
	}
	return slices.ContainsFunc(a.OAuth().Scopes, func(s string) bool {
		return s == schemas.AccountScope || s == systemPermission && a.Registration == ""
	})
}
