package directory

import (
	"context"
	"slices"
	"strconv"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// provenFlow is a flow to be written. It is proven before the transaction, because a proof
// takes long. It depends on no stored data but versions of sub-flows, which never change.
type provenFlow struct {
	document *schemas.Document // nil without a document
	flow     *schemas.Flow     // as far as the document is readable
	valid    bool              // it may run
	findings []schemas.Problem
}

// proveDocument proves the flow of a document.
func (r flowResource) proveDocument(ctx context.Context, c Call, d *schemas.Document) (*provenFlow, error) {
	subflows := r.d.storedSubflows(ctx, c)
	d = d.WithoutAbsent(schemas.FlowSchema())
	flow, findings, err := r.d.checkFlow(c, d.JSON(), false, subflows)
	if err != nil {
		return nil, err
	}
	p := &provenFlow{document: d, flow: flow, valid: flow != nil, findings: d.Locate(schemas.WithoutPlaces(findings))}
	if flow == nil {
		p.flow = new(schemas.Flow)
		d.DecodeLoosely(schemas.FlowSchema(), p.flow) // findings cover what does not fit
	}
	p.flow.Uses, p.flow.UsedBy = schemas.UsesOf(p.flow.Parts), nil
	return p, subflows.err
}

// Create implements Resource. A definition that breaks a rule is invalid_flow, with all
// findings.
func (r flowResource) Create(ctx context.Context, c Call, d *schemas.Document) (*Item, error) {
	p, err := r.proveDocument(ctx, c, d)
	if err != nil {
		return nil, err
	}
	return r.put(ctx, c, p, nil, nil)
}

// Replace implements Resource: it creates a new version and leaves earlier ones unchanged.
// The type of a flow never changes. The item of a sub-flow warns about flows that still use
// an earlier version.
func (r flowResource) Replace(ctx context.Context, c Call, id, match string, d *schemas.Document) (*Item, error) {
	p, err := r.proveDocument(ctx, c, d)
	if err != nil {
		return nil, err
	}
	return r.put(ctx, c, p, &target{id, match}, nil)
}

// FlowVersion returns a version of a flow, with its number as ActiveVersion.
func (d *Directory) FlowVersion(ctx context.Context, c Call, id string, n int) (*Item, error) {
	f, err := store.Flows().Version(ctx, d.reader(c), id, n)
	if err != nil {
		return nil, err
	}
	return flowResource{d}.withWarnings(f)
}

// RestoreFlow creates a new version of a flow with the definition of version n. The
// definition is proven again, because the kinds of nodes may have changed.
func (d *Directory) RestoreFlow(ctx context.Context, c Call, id string, n int) (*Item, error) {
	f, err := store.Flows().Version(ctx, d.reader(c), id, n)
	if err != nil {
		return nil, err
	}
	proven, findings, err := d.prove(c, f)
	if err != nil {
		return nil, err
	}
	p := &provenFlow{flow: f, valid: proven != nil, findings: findings}
	return flowResource{d}.put(ctx, c, p, &target{id: id}, func(w *writeContext) {
		w.action, w.detail = "restored", map[string]string{"version": strconv.Itoa(n)}
	})
}

// put creates a flow or gives the target its next version.
func (r flowResource) put(ctx context.Context, c Call, p *provenFlow, at *target, mark func(*writeContext)) (*Item, error) {
	var item *Item
	err := r.d.transact(ctx, c, func(w *writeContext) error {
		f := *p.flow
		w.document = p.document
		if mark != nil {
			mark(w)
		}
		old, err := r.target(w, at)
		if err != nil {
			return err
		}
		if err := r.validate(w, p, at, old, &f); err != nil {
			return err
		}
		if err := r.write(w, old, &f); err != nil {
			return err
		}
		if err := withUsers(w.ctx, w.tx, &f); err != nil {
			return err
		}
		item = flowItem(&f, slices.Concat(p.findings, outdatedUseWarnings(&f)))
		return nil
	})
	return item, err
}

// validate returns an error with all problems of a flow.
func (r flowResource) validate(w *writeContext, p *provenFlow, at *target, old, f *schemas.Flow) error {
	if !p.valid {
		w.shape = slices.Clone(p.findings)
	}
	checkID(w, at, f.ID)
	checkReason(w)
	if p.document != nil {
		checkText(w, p.document)
	}
	if old != nil {
		protectFlow(w, old)
		if f.FlowType != old.FlowType {
			w.addInvalid("flowType", "expected %s, got %.64q: the type of a flow never changes; create a new flow", old.FlowType, f.FlowType)
		}
	}
	guardFlow(w, old, f)
	checkParts(w, p)
	if !isFromFile(w, f) {
		checkNamedProviders(w, f)
	}
	other, err := store.Flows().Find(w.ctx, w.tx, f.FlowType, f.Handle)
	if !w.fail(err) && other != nil && other.ID != orZero(old).ID {
		w.addConflict("handle", "%q already belongs to another %s flow (%s); choose another", f.Handle, f.FlowType, other.ID)
	}
	return w.err(r.Noun())
}

// isFromFile reports whether the write stores a flow from a file. Such flows are stored before
// anything can be created over HTTP.
func isFromFile(w *writeContext, f *schemas.Flow) bool {
	return f.IsReadOnly && w.call.Actor.Type == schemas.SystemActor
}

// write writes f unless it is unchanged.
func (r flowResource) write(w *writeContext, old, f *schemas.Flow) error {
	f.IsReadOnly = f.IsReadOnly && w.call.Actor.Type == schemas.SystemActor || old != nil && old.IsReadOnly
	if old == nil {
		return r.insert(w, f)
	}
	f.ID, f.CreatedAt = old.ID, old.CreatedAt
	before, after := r.d.digestFlow(old), r.d.digestFlow(f)
	if before == after {
		f.ActiveVersion, f.UpdatedAt = old.ActiveVersion, old.UpdatedAt
		return nil
	}
	f.UpdatedAt = &w.now
	if err := store.Flows().Replace(w.tx, f, old.ActiveVersion); err != nil {
		return err
	}
	r.touch(w, old, f)
	if err := recordAuthor(w, f); err != nil {
		return err
	}
	w.recordEvent(r.Noun(), "replaced", f.ID, before, after, r.d.memberChanges(r.Noun(), recordedFlow(old), recordedFlow(f))...)
	return nil
}

func (r flowResource) insert(w *writeContext, f *schemas.Flow) error {
	if f.ID == "" {
		f.ID = w.call.NewID()
	}
	f.CreatedAt, f.UpdatedAt = &w.now, &w.now
	if err := store.Flows().Insert(w.tx, f); err != nil {
		return err
	}
	r.touch(w, nil, f)
	if err := recordAuthor(w, f); err != nil {
		return err
	}
	w.recordEvent(r.Noun(), "created", f.ID, "", r.d.digestFlow(f))
	return nil
}
