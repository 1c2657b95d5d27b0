package directory

import (
	"context"
	"slices"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// CodeInsufficientScope is the error code for a token that identifies the user but belongs
// to an application that may not manage accounts. Its class is Forbidden.
const CodeInsufficientScope = "insufficient_scope"

// MaxProofAge is the maximum age of the sign-in with which users change their own account.
// A stolen token or an unattended browser must not suffice to add a passkey that outlives
// both.
const MaxProofAge = schemas.MaxProofAge

// MayManageAccount returns an error unless the caller may change how the user signs in.
// Callers who may not manage the user's account get Class Forbidden, users whose token is
// for another application CodeInsufficientScope, and users who signed in too long ago Class
// Unauthenticated, schemas.CodeStaleProof. What else the account needs is in
// schemas.RequireAuthority. For an unknown user the error is user_not_found, Class NotFound.
func (d *Directory) MayManageAccount(ctx context.Context, c Call, userID string) error {
	_, err := d.ManagedAccount(ctx, c, userID)
	return err
}

// ManagedAccount is MayManageAccount and returns the user.
func (d *Directory) ManagedAccount(ctx context.Context, c Call, userID string) (*schemas.User, error) {
	return mayManage(ctx, d.reader(c), c, userID, d.now())
}

// MayAccessAccount is MayManageAccount without the check for a recent sign-in, for the end
// of a ceremony that started with one.
func (d *Directory) MayAccessAccount(ctx context.Context, c Call, userID string) error {
	_, err := mayAccess(ctx, d.reader(c), c, userID)
	return err
}

// mayManage checks whether the caller may change how a user signs in: mayAccess must pass, users
// themselves must have signed in recently, and the account must not need a better sign-in.
func mayManage(ctx context.Context, r store.Reader, c Call, userID string, now time.Time) (*schemas.User, error) {
	u, err := mayAccess(ctx, r, c, userID)
	if err != nil {
		return nil, err
	}
	if c.actsAs(userID) && (c.AuthTime.IsZero() || now.Sub(c.AuthTime) > MaxProofAge) {
		return nil, errStaleProof()
	}
	return u, store.CheckAuthority(ctx, r, c.requireAuthority(userID, now))
}

func errStaleProof() error {
	return &schemas.ProofRequired{MaxAge: MaxProofAge, Err: schemas.Errorf(schemas.Unauthenticated, schemas.CodeStaleProof,
		"this changes the account, so the user must have signed in within the last %d minutes: have the user sign in again "+
			"(an authorization request with max_age=%d, or a new run of the flow), and repeat the request with the token from that sign-in",
		int(MaxProofAge.Minutes()), int(MaxProofAge.Seconds()))}
}

// changeAccount runs do in a transaction if the caller may manage the user's account.
func (d *Directory) changeAccount(ctx context.Context, c Call, userID string, do func(*writeContext) error) error {
	return d.transact(ctx, c, func(w *writeContext) error {
		if _, err := mayManage(w.ctx, w.tx, w.call, userID, w.now); err != nil {
			return err
		}
		return do(w)
	})
}

// restrictAccount runs do in a transaction if the caller may act on the user's account, however
// long ago the user signed in. It is for changes that only take access away: a user who ends a
// session or withdraws a consent must not be kept from it.
func (d *Directory) restrictAccount(ctx context.Context, c Call, userID string, do func(*writeContext) error) error {
	return d.transact(ctx, c, func(w *writeContext) error {
		if _, err := mayAccess(w.ctx, w.tx, w.call, userID); err != nil {
			return err
		}
		return do(w)
	})
}

// mayAccess checks whether the caller may act on a user's account: administrators with
// every permission of the user, and the user with a token for accounts. The token of an
// ordinary application does not suffice. Otherwise every such application, and every script
// injected into one, could register a passkey for each of its users and keep access to
// their accounts.
func mayAccess(ctx context.Context, r store.Reader, c Call, userID string) (*schemas.User, error) {
	u, err := store.UserOf(ctx, r, userID)
	if err != nil {
		return nil, err
	}
	if c.actsAs(userID) {
		return u, c.requireAccountScope(ctx, r, u)
	}
	has, err := store.PermissionsOf(ctx, r, principalOf(u))
	if err != nil {
		return nil, err
	}
	missing, ok := c.lacks(has)
	if !ok {
		return u, nil
	}
	return nil, schemas.Errorf(schemas.Forbidden, schemas.CodeForbidden,
		"you may not do this: this user has the permission %q, which you do not have; ask a user who has it", missing)
}

// mayRead checks whether the caller may list a user's sign-in methods, sessions and
// consents. These name other applications and devices, so users need a token for accounts;
// its sign-in may be old. Callers who may read users may read them for any user.
func mayRead(ctx context.Context, r store.Reader, c Call, userID string) error {
	u, err := store.Users().Get(ctx, r, userID)
	if err != nil || !c.actsAs(userID) || c.Permits("system:users:read") {
		return err
	}
	return c.requireAccountScope(ctx, r, u)
}

// readAccount reads a part of a user's account if the caller may see it.
func readAccount[T any](ctx context.Context, d *Directory, c Call, userID string, read func(context.Context, store.Reader, string) (T, error)) (part T, err error) {
	r := d.reader(c)
	if err := mayRead(ctx, r, c, userID); err != nil {
		return part, err
	}
	return read(ctx, r, userID)
}

// actsAs reports whether the caller is the user and the token is not one that may act for
// any user.
func (c Call) actsAs(userID string) bool { return c.is(userID) && !c.Permits(systemPermission) }

// requireAccountScope returns an error unless the caller's token is for accounts: an access
// token with that scope, or the assertion of an application that an administrator
// registered with it. An assertion without an application, as POST /auth/passkey/finish
// returns it, is not. The application must still admit the user.
func (c Call) requireAccountScope(ctx context.Context, r store.Reader, u *schemas.User) error {
	a, err := c.application(ctx, r)
	switch {
	case err != nil:
		return err
	case a != nil && !a.Admits(u.Type, u.IdentifierScope):
		return schemas.Errorf(schemas.Forbidden, CodeInsufficientScope,
			"the application %q no longer admits users of the type %.64q, so it cannot manage this account: sign in to another application that manages accounts", a.Name, u.Type)
	case c.Permits(schemas.AccountScope), a != nil && managesAccounts(a):
		return nil
	}
	return schemas.Errorf(schemas.Forbidden, CodeInsufficientScope,
		"this token is for an application that may not manage the accounts of its users: sign in to an application that an administrator registered with the scope %q, such as the account page of this service",
		schemas.AccountScope)
}

// application returns the application of the caller's token, which names it by its id or by its client id; nil
// if there is none.
func (c Call) application(ctx context.Context, r store.Reader) (*schemas.Application, error) {
	name := c.Actor.Client
	if isCanonicalUUID(name) {
		a, err := store.Applications().Get(ctx, r, name)
		if !schemas.HasClass(err, schemas.NotFound) {
			return a, err
		}
	}
	if name == "" {
		return nil, nil
	}
	return store.Applications().Find(ctx, r, "clientId", name)
}

// ManagesAccounts reports whether the sign-ins of an application may change the accounts of their
// users; false if there is no such application.
func (d *Directory) ManagesAccounts(ctx context.Context, applicationID string) (bool, error) {
	a, err := store.Applications().Get(ctx, d.store, applicationID)
	if schemas.HasClass(err, schemas.NotFound) {
		return false, nil
	}
	return err == nil && managesAccounts(a), err
}

// managesAccounts reports whether an administrator gave an application the account scope or
// "system". Only callers with the permission system can do so (see managedBy). A
// self-registered client may list "system" among its scopes, so those clients do not count.
func managesAccounts(a *schemas.Application) bool {
	if a.OAuth() == nil || a.Registration == schemas.RegisteredByDocument {
		return false
	}
	return slices.ContainsFunc(a.OAuth().Scopes, func(s string) bool {
		return s == schemas.AccountScope || s == systemPermission && a.Registration == ""
	})
}
