package directory

import (
	"context"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// administratorGuard keeps a transaction from leaving nobody who may do everything. It is one
// for the whole of it: what one write takes, another may give to somebody else.
type administratorGuard struct {
	begun bool
	held  bool // somebody could do everything before
}

// begin is called before the first write that may take permissions away.
func (a *administratorGuard) begin(ctx context.Context, tx *store.Tx, now time.Time) (err error) {
	if a.begun {
		return nil
	}
	a.begun = true
	a.held, err = hasAdministrator(ctx, tx, now)
	return err
}

// end refuses a transaction after which nobody can do what somebody could before.
func (a *administratorGuard) end(ctx context.Context, tx *store.Tx, now time.Time) error {
	if !a.held {
		return nil
	}
	still, err := hasAdministrator(ctx, tx, now)
	if err != nil || still {
		return err
	}
	return schemas.Errorf(schemas.Conflict, schemas.CodeLastAdministrator,
		"no active user would be left with the permission %q, and nobody could give it back. Give it first to another user, who is neither disabled nor locked", systemPermission)
}

// hasAdministrator reports whether a user who can sign in has the permission above all
// others.
func hasAdministrator(ctx context.Context, tx *store.Tx, now time.Time) (bool, error) {
	holders, err := store.ActiveHolders(ctx, tx, systemPermission, now, 1)
	return len(holders) > 0, err
}
