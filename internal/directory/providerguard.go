package directory

import (
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
	var named []string // the flows that name it
	err := forEachFlow(w.ctx, w.tx, func(f *schemas.Flow) error {
		if !names(f, was) && !names(f, is) {
			return nil
		}
		if was != is && names(f, was) {
			w.inUse = append(w.inUse, store.Use{ResourceRef: schemas.ResourceRef{Type: "flow", ID: f.ID}, Name: f.Handle, How: "names it"})
		}
		named = append(named, f.ID)
		return nil
	})
	w.fail(err)
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

// names reports whether a flow or one of its parts names the provider with the handle.
func names(f *schemas.Flow, handle string) bool {
	for _, part := range f.Parts {
		if names(part, handle) {
			return true
		}
	}
	return slices.ContainsFunc(namedProviders(f), func(named namedProvider) bool { return named.handle == handle })
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
