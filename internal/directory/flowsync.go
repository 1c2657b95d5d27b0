package directory

import (
	"context"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// SyncedFlow is a flow that is stored from a file.
type SyncedFlow struct {
	Handle  string
	Version int  // the active version
	New     bool // the sync created this version
}

// SyncFlowsFromFiles stores the flows of the documents and makes them read-only: to change
// one, change its document. Flows that were stored from files before and have no document
// any more become writable and stay unchanged. All flows are stored in one transaction, on
// behalf of the program itself. Documents name flows by type and handle, and runs stay on
// the version they started with. A flow whose sub-flow changed gets a new version too.
func (d *Directory) SyncFlowsFromFiles(ctx context.Context, documents []*schemas.Document) ([]SyncedFlow, error) {
	r := flowResource{d}
	documents = inOrderOfUse(documents)
	var synced []SyncedFlow
	err := d.Transact(ctx, SystemCall(), func(c Call) error {
		synced = nil
		kept := map[string]bool{}
		for _, document := range documents {
			p, err := r.proveDocument(ctx, c, document)
			if err != nil {
				return err
			}
			p.flow.IsReadOnly = true
			before, after, err := r.syncFlow(ctx, c, p)
			if err != nil {
				return err
			}
			kept[after.ID] = true
			synced = append(synced, SyncedFlow{after.Handle, after.ActiveVersion, before == nil || before.ActiveVersion != after.ActiveVersion})
		}
		return d.transact(ctx, c, func(w *writeContext) error { return r.release(w, kept) })
	})
	return synced, err
}

// syncFlow writes one flow; before is nil for a new flow.
func (r flowResource) syncFlow(ctx context.Context, c Call, p *provenFlow) (before, after *schemas.Flow, err error) {
	before, err = store.Flows().Find(ctx, c.tx, p.flow.FlowType, p.flow.Handle)
	if err != nil {
		return nil, nil, err
	}
	var at *target
	if before != nil {
		at = &target{id: before.ID}
	}
	item, err := r.put(ctx, c, p, at, nil)
	if err != nil {
		return nil, nil, err
	}
	return before, item.Value.(*schemas.Flow), nil
}

// release makes the read-only flows writable that are not in kept.
func (r flowResource) release(w *writeContext, kept map[string]bool) error {
	return forEachFlow(w.ctx, w.tx, func(f *schemas.Flow) error {
		if !f.IsReadOnly || kept[f.ID] {
			return nil
		}
		before := r.d.digestFlow(f)
		f.IsReadOnly, f.UpdatedAt = false, &w.now
		if err := store.Flows().Replace(w.tx, f, f.ActiveVersion); err != nil {
			return err
		}
		if err := recordAuthor(w, f); err != nil {
			return err
		}
		w.recordEvent(r.Noun(), "released", f.ID, before, r.d.digestFlow(f))
		return nil
	})
}
