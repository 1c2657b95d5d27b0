package directory

import (
	"context"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// BrokenFlow is a stored flow whose runs fail. If an identity provider is missing, only the
// runs that reach it fail.
type BrokenFlow struct {
	Flow *schemas.Flow
	// Findings are the errors of the flow, without warnings.
	Findings []schemas.Problem
}

// BrokenFlows reports every flow whose active version may not run or has errors. All stored
// flows were proven, but a target may have been removed from the configuration, a flow file
// may name a provider that does not exist, and the rules may be stricter than those of the
// release that stored the flow. Sub-flows are checked where they are used.
func (d *Directory) BrokenFlows(ctx context.Context, c Call, report func(BrokenFlow)) error {
	r, providers := d.reader(c), map[string]bool{}
	return forEachFlow(ctx, r, func(f *schemas.Flow) error { return d.checkStoredFlow(ctx, r, f, providers, report) })
}

// checkStoredFlow reports one flow if it is broken. Providers caches whether the provider
// with a handle exists.
func (d *Directory) checkStoredFlow(ctx context.Context, r store.Reader, f *schemas.Flow, providers map[string]bool, report func(BrokenFlow)) error {
	if f.FlowType == schemas.Subflow || ctx.Err() != nil {
		return ctx.Err()
	}
	problems, err := d.checkStored(f)
	if err != nil {
		return err
	}
	broken := BrokenFlow{Flow: f}
	for _, p := range problems {
		if !p.Warning {
			broken.Findings = append(broken.Findings, p)
		}
	}
	missing, err := missingProviders(ctx, r, f, providers)
	if err != nil {
		return err
	}
	broken.Findings = append(broken.Findings, missing...)
	if len(broken.Findings) > 0 {
		report(broken)
	}
	return nil
}

func (d *Directory) checkStored(f *schemas.Flow) ([]schemas.Problem, error) {
	if d.CheckStored != nil {
		return d.CheckStored(f), nil
	}
	_, problems, err := d.prove(SystemCall(), f)
	return problems, err
}

// missingProviders lists the identity providers that a flow or its parts name and that do
// not exist.
func missingProviders(ctx context.Context, r store.Reader, f *schemas.Flow, known map[string]bool) (missing []schemas.Problem, err error) {
	for _, named := range namedProviders(f) {
		there, looked := known[named.handle]
		if !looked {
			p, err := store.IdentityProviders().Find(ctx, r, "handle", named.handle)
			if err != nil {
				return nil, err
			}
			there = p != nil
			known[named.handle] = there
		}
		if !there {
			missing = append(missing, named.missing(""))
		}
	}
	for _, u := range schemas.UsesOf(f.Parts) {
		more, err := missingProviders(ctx, r, f.Parts[u.Handle], known)
		if err != nil {
			return nil, err
		}
		for _, p := range more {
			p.Path, p.Message = "", "in the sub-flow "+u.Handle+": "+p.Message
			missing = append(missing, p)
		}
	}
	return missing, nil
}
