package directory

import (
	"context"
	"fmt"
	"slices"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// storedSubflows provides the active versions of the stored sub-flows.
type storedSubflows struct {
	ctx    context.Context
	reader store.Reader
	err    error // the first error: later lookups find nothing
}

func (d *Directory) storedSubflows(ctx context.Context, c Call) *storedSubflows {
	return &storedSubflows{ctx: ctx, reader: d.reader(c)}
}

// Subflow implements schemas.Subflows.
func (s *storedSubflows) Subflow(handle string) (*schemas.Flow, []schemas.Problem) {
	if s.err != nil {
		return nil, nil
	}
	var f *schemas.Flow
	f, s.err = store.Flows().Find(s.ctx, s.reader, schemas.Subflow, handle)
	return f, nil
}

// Handles implements schemas.Subflows. It returns the first page of them.
func (s *storedSubflows) Handles() []string {
	if s.err != nil {
		return nil
	}
	var found []schemas.Flow
	found, s.err = store.Flows().List(s.ctx, s.reader, store.Page{Limit: pageSize, Member: "flowType", Value: string(schemas.Subflow)})
	var handles []string
	for _, f := range found {
		handles = append(handles, f.Handle)
	}
	slices.Sort(handles)
	return handles
}

// checkParts checks that the sub-flows of a flow still exist. A restored version keeps its
// parts, even deleted ones.
func checkParts(w *writeContext, p *provenFlow) {
	if p.document == nil {
		return
	}
	for _, u := range p.flow.Uses {
		_, err := store.Flows().Get(w.ctx, w.tx, u.ID)
		if schemas.HasClass(err, schemas.NotFound) {
			w.addConflict("nodes", "the sub-flow %q has been deleted meanwhile", u.Handle)
			continue
		}
		w.fail(err)
	}
}

// withUsers sets the flows that use a stored sub-flow.
func withUsers(ctx context.Context, r store.Reader, f *schemas.Flow) (err error) {
	if f.FlowType == schemas.Subflow {
		f.UsedBy, err = store.Flows().Users(ctx, r, f.ID)
	}
	return err
}

// outdatedUseWarnings warns about flows that use an earlier version of a sub-flow: they
// keep it until they are stored again.
func outdatedUseWarnings(f *schemas.Flow) (warnings []schemas.Problem) {
	for _, u := range f.UsedBy {
		if u.Version < f.ActiveVersion {
			warnings = append(warnings, schemas.Problem{Rule: "subflow", Warning: true, Message: fmt.Sprintf(
				"the %s flow %q (%s) still uses version %d; store it again, unchanged, to use version %d", u.FlowType, u.Handle, u.ID, u.Version, f.ActiveVersion)})
		}
	}
	return warnings
}

// inOrderOfUse sorts documents of flows: each follows the sub-flows that it uses. In a
// cycle, which is refused later, the order does not matter.
func inOrderOfUse(documents []*schemas.Document) []*schemas.Document {
	byHandle := map[string]*schemas.Document{}
	for _, d := range documents {
		if handle, ok := schemas.SubflowHandle(d); ok {
			byHandle[handle] = d
		}
	}
	var sorted []*schemas.Document
	seen := map[*schemas.Document]bool{}
	var visit func(d *schemas.Document)
	visit = func(d *schemas.Document) {
		if d == nil || seen[d] {
			return
		}
		seen[d] = true
		for _, m := range schemas.SubflowMentions(d) {
			visit(byHandle[m.Handle])
		}
		sorted = append(sorted, d)
	}
	for _, d := range documents {
		visit(d)
	}
	return sorted
}
