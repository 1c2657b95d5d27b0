package directory

import (
	"context"

	"github.com/postern-id/postern/internal/store"
)

// Seed runs do in a transaction if the store is not marked as seeded, and marks it. If
// several instances start at once, one of them runs do; the others wait for it and get
// false.
func (d *Directory) Seed(ctx context.Context, c Call, do func(Call) error) (seeded bool, err error) {
	if done, err := store.Seeded(ctx, d.store); done || err != nil {
		return false, err
	}
	err = d.Transact(ctx, c, func(inner Call) error {
		first, err := inner.tx.MarkSeeded(d.now())
		if seeded = first; err != nil || !first {
			return err
		}
		return do(inner)
	})
	return seeded && err == nil, err
}

// Administrators returns the ids of at most limit administrators, oldest first.
func (d *Directory) Administrators(ctx context.Context, c Call, limit int) ([]string, error) {
	return store.PermissionHolders(ctx, d.reader(c), systemPermission, limit)
}
