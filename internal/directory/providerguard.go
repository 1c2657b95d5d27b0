package directory

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// federatedKind is the kind of node that names an identity provider.
const federatedKind = "federated-oidc"

// guardProvider refuses a change of an identity provider that would give the caller
// permissions. The provider decides who its linked users are, so the caller needs their
// permissions. A provider in a flow decides where users go to sign in: another provider
// could ask them for passwords or claim to be any of them. So the caller also needs what a
// change of each flow requires that names the provider before or after the change: the
// permissions of the applications that use the flow, and of the users who may sign in
// through them (signinguard.go). Flows refer to a provider by its handle, which therefore
// cannot change while a flow names it. Old is nil for a new provider, p for a deleted one.
func guardProvider(w *writeContext, old, p *schemas.IdentityProvider) {
	was, is := orZero(old).Handle, orZero(p).Handle
	if old != nil {
		w.requireLinked(old)
	}
	flows, err := w.directory.flowNames(w.ctx, w.tx)
	if w.fail(err) {
		return
	}
	if was != is {
		for _, f := range flows.naming[was] {
			w.inUse = append(w.inUse, store.Use{ResourceRef: schemas.ResourceRef{Type: "flow", ID: f.id}, Name: f.handle, How: "names it"})
		}
	}
	var named []string
	for _, handle := range []string{was, is} {
		for _, f := range flows.naming[handle] {
			if !slices.Contains(named, f.id) {
				named = append(named, f.id)
			}
		}
	}
	w.requireReach("a flow that names this identity provider", named...)
}

// requireLinked refuses the write unless the caller has all permissions of the provider's
// linked users.
func (w *writeContext) requireLinked(p *schemas.IdentityProvider) {
	has, err := store.ProviderPermissions(w.ctx, w.tx, p.ID)
	w.fail(err)
	w.requirePermissions("", "a user who signs in with this identity provider", has)
}

// namedProvider is a place where a flow names an identity provider.
type namedProvider struct{ path, handle string }

// missing returns the problem of an unknown provider, with a hint.
func (n namedProvider) missing(hint string) schemas.Problem {
	fix := "; create it first"
	if hint != "" {
		fix = hint + " Otherwise create it first"
	}
	return schemas.Problem{Path: n.path, Message: fmt.Sprintf("there is no identity provider %.64q%s", n.handle, fix)}
}

// namedProviders lists the identity providers that a flow names.
func namedProviders(f *schemas.Flow) (list []namedProvider) {
	for i, n := range f.Nodes {
		var with struct {
			Provider string `json:"provider"`
		}
		if n.Use != federatedKind || json.Unmarshal(n.With, &with) != nil || with.Provider == "" {
			continue // reported already
		}
		list = append(list, namedProvider{fmt.Sprintf("nodes[%d].with.provider", i), with.Provider})
	}
	return list
}

// flowNames has the flows that name each identity provider, themselves or in a part, at a revision of
// the system.
type flowNames struct {
	revision int64
	naming   map[string][]flowName // by the handles of the providers
}

type flowName struct{ id, handle string }

// flowNames returns the flows that name each identity provider. It reads all flows if they have changed
// since the last time, which happens before the transaction: see readFlowNames.
func (d *Directory) flowNames(ctx context.Context, r store.Reader) (*flowNames, error) {
	revision, err := store.SystemRevision(ctx, r)
	if err != nil {
		return nil, err
	}
	if known := d.naming.Load(); known != nil && known.revision == revision && !store.ChangesSystem(r) {
		return known, nil
	}
	n := &flowNames{revision, map[string][]flowName{}}
	return n, forEachFlow(ctx, r, func(f *schemas.Flow) error {
		for _, handle := range providersOf(f) {
			n.naming[handle] = append(n.naming[handle], flowName{f.ID, f.Handle})
		}
		return nil
	})
}

// readFlowNames prepares flowNames for a write of an identity provider.
func (d *Directory) readFlowNames(ctx context.Context) error {
	return d.store.Snapshot(ctx, func(r store.Reader) error {
		n, err := d.flowNames(ctx, r)
		if err == nil {
			d.naming.Store(n)
		}
		return err
	})
}

// providersOf lists the handles of the identity providers that a flow or one of its parts names, sorted.
func providersOf(f *schemas.Flow) (handles []string) {
	for _, named := range namedProviders(f) {
		handles = append(handles, named.handle)
	}
	for _, part := range f.Parts {
		handles = append(handles, providersOf(part)...)
	}
	slices.Sort(handles)
	return slices.Compact(handles)
}

// checkNamedProviders reports the unknown providers that a flow names.
func checkNamedProviders(w *writeContext, f *schemas.Flow) {
	for _, named := range namedProviders(f) {
		p, err := store.IdentityProviders().Find(w.ctx, w.tx, "handle", named.handle)
		if !w.fail(err) && p == nil {
			w.problems = append(w.problems, named.missing(w.providerHint(named.handle)))
		}
	}
}

// providerHint suggests a provider with a similar handle.
func (w *writeContext) providerHint(handle string) string {
	var known []string
	table := store.IdentityProviders()
	err := forEach(w.ctx, w.tx, table.List, store.Page{}, table.ID, func(p *schemas.IdentityProvider) error {
		known = append(known, p.Handle)
		return nil
	})
	w.fail(err)
	return schemas.Hint(handle, known)
}
