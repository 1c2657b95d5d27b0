package directory

import (
	"context"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// administratorGuard prevents a transaction from removing the last administrator. One guard
// covers the whole transaction: what one write removes, a later write may grant to another
// user.
type administratorGuard struct {
	begun  bool
	before bool // there was an administrator before
}

// begin is called before the first write that may remove permissions.
func (a *administratorGuard) begin(ctx context.Context, tx *store.Tx, now time.Time) (err error) {
	if a.begun {
		return nil
	}
	a.begun = true
	a.before, err = hasAdministrator(ctx, tx, now)
	return err
}

// end refuses a transaction that removes the last administrator.
func (a *administratorGuard) end(ctx context.Context, tx *store.Tx, now time.Time) error {
	if !a.before {
		return nil
	}
	still, err := hasAdministrator(ctx, tx, now)
	if err != nil || still {
		return err
	}
	return schemas.Errorf(schemas.Conflict, schemas.CodeLastAdministrator,
		"no active user would be left with the permission %q, and no user could grant it again. Grant it first to another user, who is neither disabled nor locked", systemPermission)
}

// hasAdministrator reports whether a user who can sign in has the permission system.
func hasAdministrator(ctx context.Context, tx *store.Tx, now time.Time) (bool, error) {
	holders, err := store.ActiveHolders(ctx, tx, systemPermission, now, 1)
	return len(holders) > 0, err
}

// Administrators returns the ids of at most limit administrators, oldest first.
func (d *Directory) Administrators(ctx context.Context, c Call, limit int) ([]string, error) {
	return store.PermissionHolders(ctx, d.reader(c), systemPermission, limit)
}
