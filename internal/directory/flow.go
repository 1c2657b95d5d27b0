package directory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// flowResource is the Resource of the flows. It is not a collection: a change adds a
// version, and each version is proven first.
type flowResource struct{ d *Directory }

// Noun implements Resource. The Key is the type and the handle:
// "AUTHENTICATION/sign-in".
func (flowResource) Noun() Noun {
	return newNoun(Noun{Name: "flow", Schema: schemas.FlowSchema, Key: "handle", Filters: store.Flows().Filters(), Prefixes: store.Flows().Prefixes(), invalidCode: schemas.CodeInvalidFlow})
}

// List implements Resource.
func (r flowResource) List(ctx context.Context, c Call, q Query) (*Page, error) {
	return list(ctx, r.d.reader(c), r.Noun(), q, store.Flows(), func(f *schemas.Flow) *Item { return flowItem(f, nil) })
}

// Get implements Resource. The item includes the findings that the flow waives.
func (r flowResource) Get(ctx context.Context, c Call, id string) (*Item, error) {
	f, err := store.Flows().Get(ctx, r.d.reader(c), id)
	return r.item(ctx, c, f, err)
}

// Find implements Resource.
func (r flowResource) Find(ctx context.Context, c Call, key string) (*Item, error) {
	t, handle, _ := strings.Cut(key, "/")
	f, err := store.Flows().Find(ctx, r.d.reader(c), schemas.FlowType(t), handle)
	return r.item(ctx, c, f, err)
}

// item completes a flow that was read; nil if there is none.
func (r flowResource) item(ctx context.Context, c Call, f *schemas.Flow, err error) (*Item, error) {
	if err == nil && f != nil {
		err = withUsers(ctx, r.d.reader(c), f)
	}
	if err != nil || f == nil {
		return nil, err
	}
	return r.withWarnings(f)
}

// withWarnings checks a stored flow again: waivers are stored with the flow, but findings
// are not.
func (r flowResource) withWarnings(f *schemas.Flow) (*Item, error) {
	if len(f.Waivers()) == 0 {
		return flowItem(f, nil), nil
	}
	_, problems, err := r.d.prove(SystemCall(), f)
	return flowItem(f, problems), err
}

func flowItem(f *schemas.Flow, warnings []schemas.Problem) *Item {
	return &Item{ID: f.ID, ETag: etag(*f.UpdatedAt), Value: f, Warnings: warnings}
}

// Delete implements Resource. It refuses a flow that applications or other flows use.
// Unfinished runs of the flow end.
func (r flowResource) Delete(ctx context.Context, c Call, id, match string) error {
	return r.d.transact(ctx, c, func(w *writeContext) error {
		old, err := r.target(w, &target{id, match})
		if err != nil {
			return err
		}
		protectFlow(w, old)
		guardUse(w, old, nil)
		w.addUses("flow", id)
		if err := w.err(r.Noun()); err != nil {
			return err
		}
		if err := store.Flows().Delete(w.tx, id, old.ActiveVersion); err != nil {
			return err
		}
		r.touch(w, old, nil)
		w.recordEvent(r.Noun(), "deleted", id, r.d.digestFlow(old), "")
		return nil
	})
}

// target reads the flow to replace; nil if there is none.
func (r flowResource) target(w *writeContext, at *target) (*schemas.Flow, error) {
	return readTarget(w, r.Noun(), at, store.Flows().Get, func(f *schemas.Flow) time.Time { return *f.UpdatedAt })
}

// protectFlow refuses changes of a read-only flow by callers other than the program itself.
func protectFlow(w *writeContext, f *schemas.Flow) {
	if f.IsReadOnly && w.call.Actor.Type != schemas.SystemActor {
		w.addReadOnly("", "the flow %q is read-only; create a copy and use that in applications", f.Handle)
	}
}

// digestFlow returns the digest of a flow's definition, without its version.
func (d *Directory) digestFlow(f *schemas.Flow) string {
	return d.digest(recordedFlow(f))
}

func recordedFlow(f *schemas.Flow) *schemas.Flow {
	copied := *f
	copied.ActiveVersion, copied.CreatedAt, copied.UpdatedAt, copied.UsedBy = 0, nil, nil, nil
	return &copied
}

// CheckFlowText compiles and proves a definition in JSON or YAML without storing it, and reports
// where it would not fit the users that it is for. The definition can use stored sub-flows. The flow
// is nil if it would not be stored; otherwise the problems are warnings.
func (d *Directory) CheckFlowText(ctx context.Context, c Call, text []byte, yaml bool) (*schemas.Flow, []schemas.Problem, error) {
	subflows := d.storedSubflows(ctx, c)
	var flow *schemas.Flow
	var reading, busy error
	problems := schemas.CheckFlowText(text, yaml, func(text []byte, yaml bool) (found []schemas.Problem) {
		if flow, found, busy = d.checkFlow(c, text, yaml, subflows); flow == nil {
			return found
		}
		var misfits []schemas.Problem
		if misfits, reading = d.newMisfits(ctx, c, flow); slices.ContainsFunc(misfits, func(p schemas.Problem) bool { return !p.Warning }) {
			flow = nil
		}
		return append(misfits, found...)
	})
	if busy != nil {
		return nil, nil, busy
	}
	return flow, problems, errors.Join(subflows.err, reading)
}

// prove proves a flow that has no source text, with its Parts. The flow it returns is nil
// if it may not run.
func (d *Directory) prove(c Call, f *schemas.Flow) (*schemas.Flow, []schemas.Problem, error) {
	text, err := json.Marshal(f)
	if err != nil {
		return nil, nil, fmt.Errorf("directory: writing a flow as JSON: %w", err)
	}
	proven, problems, err := d.checkFlow(c, text, false, schemas.SubflowsOf(f.Parts))
	return proven, schemas.WithoutPlaces(problems), err
}

// StoredFlow returns a flow without the findings that it waives and without its users: unlike
// Flows.Get, it checks nothing.
func (d *Directory) StoredFlow(ctx context.Context, c Call, id string) (*schemas.Flow, error) {
	return store.Flows().Get(ctx, d.reader(c), id)
}

// FlowWasDeleted reports whether a flow with the id was deleted.
func (d *Directory) FlowWasDeleted(ctx context.Context, c Call, id string) (bool, error) {
	return store.FlowWasDeleted(ctx, d.reader(c), id)
}
