package directory

import (
	"cmp"
	"context"
	"errors"

	"github.com/postern-id/postern/internal/store"
)

// Transact runs do in one transaction: calls with the Call that do receives see each
// other's changes, and all are committed or none. Do may run more than once.
func (d *Directory) Transact(ctx context.Context, c Call, do func(Call) error) error {
	err := d.store.Update(ctx, func(tx *store.Tx) error {
		inner, err := d.authorized(ctx, tx, c)
		if err != nil {
			return err
		}
		inner.tx, inner.DryRun, inner.guard, inner.chains, inner.fits = tx, false, new(administratorGuard), new(chainGuard), new(fitGuard)
		if err := do(inner); err != nil {
			return err
		}
		if err := inner.guard.end(ctx, tx, d.now()); err != nil {
			return err
		}
		if err := d.endChains(ctx, tx, inner.chains); err != nil {
			return err
		}
		if err := d.endFits(ctx, inner); err != nil {
			return err
		}
		if c.DryRun {
			return errDryRun
		}
		return nil
	})
	if errors.Is(err, errDryRun) {
		return nil
	}
	return err
}

// transact runs one write, in the transaction of the call or in its own.
func (d *Directory) transact(ctx context.Context, c Call, do func(*writeContext) error) error {
	if c.tx == nil {
		return d.Transact(ctx, c, func(inner Call) error { return d.transact(ctx, inner, do) })
	}
	w := &writeContext{ctx: ctx, call: c, tx: c.tx, now: d.now(), schemes: d.PrivateUseSchemes}
	if err := cmp.Or(do(w), w.failure); err != nil {
		return err
	}
	return w.keepEvents()
}

// errDryRun undoes a dry run.
var errDryRun = errors.New("directory: a dry run is undone")

// Snapshot calls do with a Call that reads all resources as of one moment, unaffected by
// concurrent writes. It cannot write.
func (d *Directory) Snapshot(ctx context.Context, c Call, do func(Call) error) error {
	return d.store.Snapshot(ctx, func(r store.Reader) error {
		c.snapshot = r
		return do(c)
	})
}

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
