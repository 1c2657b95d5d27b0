package bootstrap

import (
	"context"
	"fmt"
	"slices"

	"github.com/postern-id/postern/flows"
	"github.com/postern-id/postern/internal/declare"
	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/schemas"
)

// Refresh updates a store of an earlier release: the API's own resource server gets the new
// permissions, and the built-in flows a version of this release. Edited or deleted flows
// stay. Running flows stay on the version they started with.
func Refresh(ctx context.Context, d *directory.Directory) error {
	if err := refreshSystem(ctx, d); err != nil {
		return err
	}
	builtin, err := flows.Builtin()
	if err != nil {
		return err
	}
	stale, err := outdatedFlows(ctx, d, directory.SystemCall(), builtin)
	if err != nil || len(stale) == 0 {
		return err
	}
	return d.Transact(ctx, directory.SystemCall(), func(call directory.Call) error {
		stale, err := outdatedFlows(ctx, d, call, builtin) // another instance may have done it
		if err != nil {
			return err
		}
		for _, f := range stale {
			if _, err := d.Flows.Replace(ctx, call, f.ID, "", document(f)); err != nil {
				return fmt.Errorf("bootstrap: updating the flow %s: %w", f.Handle, err)
			}
		}
		return nil
	})
}

// refreshSystem adds missing permissions to the API's own resource server. It is read-only,
// so it has no edits.
func refreshSystem(ctx context.Context, d *directory.Directory) error {
	seeded, err := systemServer()
	if err != nil {
		return err
	}
	lacking, err := resourceServerUpdate(ctx, d, directory.SystemCall(), seeded)
	if err != nil || lacking == nil {
		return err
	}
	return d.Transact(ctx, directory.SystemCall(), func(call directory.Call) error {
		is, err := resourceServerUpdate(ctx, d, call, seeded) // another instance may have done it
		if err != nil || is == nil {
			return err
		}
		is.Resources = seeded.Resources
		if _, err := d.ResourceServers.Replace(ctx, call, is.ID, "", document(is)); err != nil {
			return fmt.Errorf("bootstrap: updating the resource server %s: %w", is.Handle, err)
		}
		return nil
	})
}

// resourceServerUpdate returns the API's own resource server if it lacks a permission of
// the seeded one; otherwise nil.
func resourceServerUpdate(ctx context.Context, d *directory.Directory, call directory.Call, seeded *schemas.ResourceServer) (*schemas.ResourceServer, error) {
	item, err := d.ResourceServers.Find(ctx, call, directory.SystemServer)
	if err != nil || item == nil {
		return nil, err
	}
	is := item.Value.(*schemas.ResourceServer)
	has := is.AllPermissions()
	if slices.ContainsFunc(seeded.AllPermissions(), func(p string) bool { return !slices.Contains(has, p) }) {
		return is, nil
	}
	return nil, nil
}

// systemServer returns the API's own resource server of a new store.
func systemServer() (*schemas.ResourceServer, error) {
	resources, err := declare.ReadSeed("seed.yaml", seedText)
	if err != nil {
		return nil, fmt.Errorf("bootstrap: %w", err)
	}
	for _, r := range resources {
		if r.Noun.Plural == "resourceServers" && textOf(r.Document, "handle") == directory.SystemServer {
			seeded := new(schemas.ResourceServer)
			if problems := r.Document.Decode(schemas.ResourceServerSchema(), seeded); len(problems) > 0 {
				return nil, fmt.Errorf("bootstrap: seed.yaml: %s", problems[0])
			}
			return seeded, nil
		}
	}
	return nil, fmt.Errorf("bootstrap: seed.yaml has no resource server %q", directory.SystemServer)
}

// outdatedFlows returns the built-in flows that the store has as an earlier release created
// them.
func outdatedFlows(ctx context.Context, d *directory.Directory, call directory.Call, builtin []schemas.Flow) (stale []schemas.Flow, err error) {
	for _, f := range builtin {
		f.ID = flowIDs()[f.Handle]
		item, err := d.Flows.Get(ctx, call, f.ID)
		if schemas.HasClass(err, schemas.NotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if was, ok := item.Value.(*schemas.Flow); ok && flows.IsFormerBuiltin(was) {
			stale = append(stale, f)
		}
	}
	return stale, nil
}
