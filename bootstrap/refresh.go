package bootstrap

import (
	"context"
	"fmt"

	"github.com/postern-id/postern/flows"
	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/schemas"
)

// Refresh gives the built-in flows of a store that an earlier release filled a new
// version, as this release has them. One that somebody has edited, or deleted, is
// left as it is. Runs that are under way stay on the version they began with.
func Refresh(ctx context.Context, d *directory.Directory) error {
	builtin, err := flows.Builtin()
	if err != nil {
		return err
	}
	stale, err := outdated(ctx, d, directory.System(), builtin)
	if err != nil || len(stale) == 0 {
		return err
	}
	return d.Transact(ctx, directory.System(), func(call directory.Call) error {
		stale, err := outdated(ctx, d, call, builtin) // another instance may have been faster
		if err != nil {
			return err
		}
		for _, f := range stale {
			if _, err := d.Flows.Replace(ctx, call, f.ID, "", document(f)); err != nil {
				return fmt.Errorf("bootstrap: bringing the flow %s up to date: %w", f.Handle, err)
			}
		}
		return nil
	})
}

// outdated are those of the built-in flows that the store has as an earlier release
// made them.
func outdated(ctx context.Context, d *directory.Directory, call directory.Call, builtin []schemas.Flow) (stale []schemas.Flow, err error) {
	for _, f := range builtin {
		f.ID = flowIDs()[f.Handle]
		item, err := d.Flows.Get(ctx, call, f.ID)
		if schemas.HasClass(err, schemas.NotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if was, ok := item.Value.(*schemas.Flow); ok && flows.Former(was) {
			stale = append(stale, f)
		}
	}
	return stale, nil
}
