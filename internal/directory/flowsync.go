package directory

import (
	"context"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// SyncedFlow is a flow that is kept as a file.
type SyncedFlow struct {
	Handle  string
	Version int  // the active one
	New     bool // this version was made now
}

// SyncFlowsFromFiles makes flows what the documents say, and read-only: whoever wants to
// change one changes its document. Flows that were held before and are in no
// document can be changed by the API again, and stay as they are. It is all done in
// one transaction, or nothing is; only the program itself may ask for it. Documents
// name flows by type and handle, and runs stay on the version they began with. Flows
// take the sub-flows as they are then, so one whose sub-flow has changed has a new
// version too.
func (d *Directory) SyncFlowsFromFiles(ctx context.Context, documents []*schemas.Document) ([]SyncedFlow, error) {
	r := flowResource{d}
	documents = inOrderOfUse(documents)
	var held []SyncedFlow
	err := d.Transact(ctx, SystemCall(), func(c Call) error {
		held = nil
		kept := map[string]bool{}
		for _, document := range documents {
			p, err := r.proveDocument(ctx, c, document)
			if err != nil {
				return err
			}
			p.flow.IsReadOnly = true
			before, after, err := r.holdFlow(ctx, c, p)
			if err != nil {
				return err
			}
			kept[after.ID] = true
			held = append(held, SyncedFlow{after.Handle, after.ActiveVersion, before == nil || before.ActiveVersion != after.ActiveVersion})
		}
		return d.transact(ctx, c, func(w *writeContext) error { return r.release(w, kept) })
	})
	return held, err
}

// holdFlow writes one flow; before is nil if there was none.
func (r flowResource) holdFlow(ctx context.Context, c Call, p *provenFlow) (before, after *schemas.Flow, err error) {
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

// release makes the held flows writable that are not to be kept so.
func (r flowResource) release(w *writeContext, kept map[string]bool) error {
	return forEach(w, store.Flows().List, store.Page{}, func(f *schemas.Flow) string { return f.ID }, func(f *schemas.Flow) error {
		if !f.IsReadOnly || kept[f.ID] {
			return nil
		}
		before := r.d.digestFlow(f)
		f.IsReadOnly, f.UpdatedAt = false, &w.now
		if err := store.Flows().Replace(w.tx, f, f.ActiveVersion); err != nil {
			return err
		}
		w.recordEvent(r.Noun(), "released", f.ID, before, r.d.digestFlow(f))
		return nil
	})
}
