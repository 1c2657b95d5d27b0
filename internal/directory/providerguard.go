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

// guardProvider lets only those write a provider who could not gain by it. Who decides
// how it is asked gets close to being whoever has linked it: so it takes what they have.
// And at the door of an application that has permissions it could send people to
// somebody who has them sign in there: so it takes what guardFlow asks for, of every
// flow that names it, or will. Flows find a provider by its handle, so it keeps that
// while they do. Old is nil for a new one, p for one that is to go.
func guardProvider(w *work, old, p *schemas.IdentityProvider) error {
	was, is := handleOf(old), handleOf(p)
	if old != nil {
		if err := w.requireLinked(old); err != nil {
			return err
		}
	}
	return eachOf(w, store.Flows().List, store.Page{}, func(f *schemas.Flow) string { return f.ID }, func(f *schemas.Flow) error {
		if !names(f, was) && !names(f, is) {
			return nil
		}
		if was != is && names(f, was) {
			w.inUse = append(w.inUse, store.Use{ResourceRef: schemas.ResourceRef{Type: "flow", ID: f.ID}, Name: f.Handle, How: "names it"})
		}
		permissions, err := store.FlowPermissions(w.ctx, w.tx, f.ID)
		w.require("", "an application whose flow names this identity provider", heldBy(permissions))
		return err
	})
}

// requireLinked refuses the write unless the caller has all that those have who sign
// in by the provider.
func (w *work) requireLinked(p *schemas.IdentityProvider) error {
	has, err := store.ProviderPermissions(w.ctx, w.tx, p.ID)
	w.require("", "somebody who signs in by this identity provider", has)
	return err
}

func handleOf(p *schemas.IdentityProvider) string {
	return idOf(p, func(p *schemas.IdentityProvider) string { return p.Handle })
}

// namedProvider is where a flow names an identity provider.
type namedProvider struct{ path, handle string }

// missing says that there is none of that handle, and with a hint which was meant.
func (n namedProvider) missing(hint string) schemas.Problem {
	mend := "; make it first"
	if hint != "" {
		mend = hint + "; else make it first"
	}
	return schemas.Problem{Path: n.path, Message: fmt.Sprintf("there is no identity provider %.64q%s", n.handle, mend)}
}

// namedProviders lists the identity providers that a flow names.
func namedProviders(f *schemas.Flow) (list []namedProvider) {
	for i, n := range f.Nodes {
		var with struct {
			Provider string `json:"provider"`
		}
		if n.Use != federatedKind || json.Unmarshal(n.With, &with) != nil || with.Provider == "" {
			continue // what does not fit has been noted
		}
		list = append(list, namedProvider{fmt.Sprintf("nodes[%d].with.provider", i), with.Provider})
	}
	return list
}

// names reports whether a flow, or a sub-flow as the flow uses it, names the provider
// with the handle.
func names(f *schemas.Flow, handle string) bool {
	for _, part := range f.Parts {
		if names(part, handle) {
			return true
		}
	}
	return slices.ContainsFunc(namedProviders(f), func(named namedProvider) bool { return named.handle == handle })
}

// checkNamedProviders notes which of the providers that a flow names there are not.
func checkNamedProviders(w *work, f *schemas.Flow) error {
	for _, named := range namedProviders(f) {
		p, err := store.IdentityProviders().Find(w.ctx, w.tx, "handle", named.handle)
		if err != nil {
			return err
		}
		if p == nil {
			hint, err := w.providerHint(named.handle)
			if err != nil {
				return err
			}
			w.problems = append(w.problems, named.missing(hint))
		}
	}
	return nil
}

// providerHint says which identity provider was probably meant.
func (w *work) providerHint(handle string) (string, error) {
	var known []string
	table := store.IdentityProviders()
	err := eachOf(w, table.List, store.Page{}, table.ID, func(p *schemas.IdentityProvider) error {
		known = append(known, p.Handle)
		return nil
	})
	return schemas.Hint(handle, known), err
}
