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
	stale, err := outdatedResources(ctx, d, directory.SystemCall())
	if err != nil || len(stale) == 0 {
		return err
	}
	return d.Transact(ctx, directory.SystemCall(), func(call directory.Call) error {
		stale, err := outdatedResources(ctx, d, call) // another instance may have updated them
		if err != nil {
			return err
		}
		for _, u := range stale {
			if _, err := u.resource.Replace(ctx, call, u.id, "", document(u.value)); err != nil {
				return fmt.Errorf("bootstrap: updating the %s: %w", u.name, err)
			}
		}
		return nil
	})
}

// update replaces a resource that an earlier release created.
type update struct {
	resource directory.Resource
	id, name string
	value    any
}

// outdatedServer returns the update of the API's own resource server if it lacks a
// permission of the seeded one. It is read-only, so it has no edits.
func outdatedServer(ctx context.Context, d *directory.Directory, call directory.Call) ([]update, error) {
	item, err := d.ResourceServers.Find(ctx, call, directory.SystemServer)
	if err != nil || item == nil {
		return nil, err
	}
	seeded, err := systemServer()
	if err != nil {
		return nil, err
	}
	is := item.Value.(*schemas.ResourceServer)
	has := is.AllPermissions()
	if !slices.ContainsFunc(seeded.AllPermissions(), func(p string) bool { return !slices.Contains(has, p) }) {
		return nil, nil
	}
	is.Resources = seeded.Resources
	return []update{{d.ResourceServers, is.ID, "resource server " + is.Handle, is}}, nil
}

// systemServer returns the API's own resource server of a new store.
func systemServer() (*schemas.ResourceServer, error) {
	resources, err := declare.ReadSeed("seed.yaml", seedText)
	if err != nil {
		return nil, fmt.Errorf("bootstrap: %w", err)
	}
	for _, r := range resources {
		if r.Noun.Plural == "resourceServers" && r.Document.TextAt("handle") == directory.SystemServer {
			seeded := new(schemas.ResourceServer)
			if problems := r.Document.Decode(schemas.ResourceServerSchema(), seeded); len(problems) > 0 {
				return nil, fmt.Errorf("bootstrap: seed.yaml: %s", problems[0])
			}
			return seeded, nil
		}
	}
	return nil, fmt.Errorf("bootstrap: seed.yaml has no resource server %q", directory.SystemServer)
}

// outdatedResources returns the updates of a store: that of the resource server, and those of
// the built-in flows that are as an earlier release created them.
func outdatedResources(ctx context.Context, d *directory.Directory, call directory.Call) ([]update, error) {
	stale, err := outdatedServer(ctx, d, call)
	if err != nil {
		return nil, err
	}
	builtin, err := flows.Builtin()
	if err != nil {
		return nil, err
	}
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
			stale = append(stale, update{d.Flows, f.ID, "flow " + f.Handle, f})
		}
	}
	return stale, nil
}
