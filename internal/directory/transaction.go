package directory

import (
	"cmp"
	"context"
	"errors"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// Transact runs do in one transaction: calls with the Call that do receives see each
// other's changes, and all are committed or none. Do may run more than once: in particular, a change
// that needs a check of the whole system is undone and made again (systemcheck.go).
func (d *Directory) Transact(ctx context.Context, c Call, do func(Call) error) error {
	ids := new(idSource)
	change, err := d.attempt(ctx, c, ids, nil, do)
	if !errors.Is(err, errUnchecked) {
		return err
	}
	select { // one change of this process at a time
	case d.systemTurn <- struct{}{}:
		defer func() { <-d.systemTurn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	return d.checkAndRepeat(ctx, c, ids, change, do)
}

// checkAndRepeat checks a change that was undone, and makes it again, until the check covers it.
func (d *Directory) checkAndRepeat(ctx context.Context, c Call, ids *idSource, change *systemChange, do func(Call) error) error {
	for range maxSystemChecks {
		accepted, err := d.checkSystem(ctx, c, change)
		if err != nil {
			return err
		}
		if change, err = d.attempt(ctx, c, ids, accepted, do); !errors.Is(err, errUnchecked) {
			return err
		}
	}
	return schemas.Errorf(schemas.Conflict, schemas.CodeConflict,
		"nothing was stored: other instances changed applications, flows or user types while this change was checked, %d times in a row; try again", maxSystemChecks)
}

// attempt runs do in a transaction. The error is errUnchecked, with the change, if it was undone
// because the verdict does not cover it.
func (d *Directory) attempt(ctx context.Context, c Call, ids *idSource, accepted *systemVerdict, do func(Call) error) (change *systemChange, err error) {
	err = d.store.Update(ctx, func(tx *store.Tx) error {
		inner, err := d.authorized(ctx, tx, c)
		if err != nil {
			return err
		}
		ids.rewind()
		change = newSystemChange()
		inner.tx, inner.DryRun, inner.guard, inner.change, inner.ids = tx, false, new(administratorGuard), change, ids
		if err := do(inner); err != nil {
			return err
		}
		if err := inner.guard.end(ctx, tx, d.now()); err != nil {
			return err
		}
		if err := endChange(ctx, tx, change, accepted); err != nil {
			return err
		}
		if c.DryRun {
			return errDryRun
		}
		return nil
	})
	if errors.Is(err, errDryRun) {
		err = nil
	}
	return change, err
}

// idSource generates the ids of new resources. A write that is made again uses the same ones.
type idSource struct {
	ids  []string
	used int
}

func (s *idSource) rewind() { s.used = 0 }

func (s *idSource) next() string {
	if s.used == len(s.ids) {
		s.ids = append(s.ids, schemas.NewID())
	}
	s.used++
	return s.ids[s.used-1]
}

// NewID returns the id of a new resource. In a transaction that is made again it returns the same ones.
func (c Call) NewID() string {
	if c.ids == nil {
		return schemas.NewID()
	}
	return c.ids.next()
}

// transact runs one write, in the transaction of the call or in its own.
func (d *Directory) transact(ctx context.Context, c Call, do func(*writeContext) error) error {
	if c.tx == nil {
		return d.Transact(ctx, c, func(inner Call) error { return d.transact(ctx, inner, do) })
	}
	w := &writeContext{ctx: ctx, call: c, tx: c.tx, now: d.now(), directory: d}
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
