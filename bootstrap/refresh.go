package bootstrap

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/postern-id/postern/flows"
	"github.com/postern-id/postern/internal/declare"
	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/schemas"
)

// Refresh updates a store of an earlier release: the API's own resource server gets the new
// permissions, the built-in flows get a version of this release, and built-in flows that the
// earlier release did not have are created. Edited flows stay, and deleted ones stay deleted.
// Running flows stay on the version they started with. After a change of the base URL, which is the address of the
// server, the console can sign in at the new one; see outdatedConsole.
func Refresh(ctx context.Context, d *directory.Directory, baseURL string) error {
	stale, err := outdatedResources(ctx, d, directory.SystemCall(), baseURL)
	if err != nil || len(stale) == 0 {
		return err
	}
	return d.Transact(ctx, directory.SystemCall(), func(call directory.Call) error {
		stale, err := outdatedResources(ctx, d, call, baseURL) // another instance may have updated them
		if err != nil {
			return err
		}
		for _, u := range stale {
			if err := u.write(ctx, call); err != nil {
				return fmt.Errorf("bootstrap: updating the %s: %w", u.name, err)
			}
		}
		return nil
	})
}

// update replaces a resource that an earlier release created, or creates one that it did not have.
type update struct {
	resource directory.Resource
	id       string // "" to create the resource
	name     string
	value    any
}

func (u update) write(ctx context.Context, call directory.Call) (err error) {
	if u.id == "" {
		_, err = u.resource.Create(ctx, call, document(u.value))
		return err
	}
	_, err = u.resource.Replace(ctx, call, u.id, "", document(u.value))
	return err
}

// outdatedServer returns the update of the API's own resource server if it lacks a
// permission of the seeded one. It is read-only, so it has no edits.
func outdatedServer(item *directory.Item, d *directory.Directory) ([]update, error) {
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

// Prepare computes what Refresh needs of the seed. Programs call it while they do something else.
func Prepare() { _, _ = systemServer() }

// systemServer returns the API's own resource server of a new store.
var systemServer = sync.OnceValues(func() (*schemas.ResourceServer, error) {
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
})

// outdatedConsole returns the update of the console's application after a change of the public host: a redirect URI at
// the new one. Those at the former one stay, for instances that still use it. Servers on this machine are not
// among them: their port changes often.
func outdatedConsole(ctx context.Context, d *directory.Directory, call directory.Call, baseURL string) ([]update, error) {
	base, err := url.Parse(baseURL)
	if err != nil || isLoopback(base.Hostname()) {
		return nil, err
	}
	item, err := d.Applications.Get(ctx, call, ConsoleID)
	if schemas.HasClass(err, schemas.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	is, at := item.Value.(*schemas.Application), consoleURL(baseURL)
	client := is.OAuth()
	if client == nil || slices.Contains(client.RedirectURIs, at) {
		return nil, nil
	}
	if slices.Contains(client.RedirectURIs, is.URL) { // it is where the hosted pages lead
		is.URL = at
	}
	client.RedirectURIs = append(client.RedirectURIs, at)
	return []update{{d.Applications, is.ID, "application " + is.Name, is}}, nil
}

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || err == nil && addr.IsLoopback()
}

// outdatedResources returns the updates of a store: that of the resource server, that of the console, and those of
// the built-in flows. A store without the resource server was not bootstrapped and has none.
func outdatedResources(ctx context.Context, d *directory.Directory, call directory.Call, baseURL string) ([]update, error) {
	item, err := d.ResourceServers.Find(ctx, call, directory.SystemServer)
	if err != nil || item == nil {
		return nil, err
	}
	stale, err := outdatedServer(item, d)
	if err != nil {
		return nil, err
	}
	console, err := outdatedConsole(ctx, d, call, baseURL)
	if err != nil {
		return nil, err
	}
	stale = append(stale, console...)
	ids := flowIDs()
	for _, handle := range slices.Sorted(maps.Keys(ids)) {
		u, err := outdatedFlow(ctx, d, call, handle, ids[handle])
		if err != nil {
			return nil, err
		}
		stale = append(stale, u...)
	}
	return stale, nil
}

// outdatedFlow returns the update of a built-in flow that is as an earlier release created it, or
// that is missing. Each start calls it, so it checks no flow, and parses the built-in flows only for an update.
func outdatedFlow(ctx context.Context, d *directory.Directory, call directory.Call, handle, id string) ([]update, error) {
	was, err := d.StoredFlow(ctx, call, id)
	if schemas.HasClass(err, schemas.NotFound) {
		return missingFlow(ctx, d, call, handle, id)
	}
	if err != nil {
		return nil, err
	}
	if !flows.IsFormerBuiltin(was) {
		return nil, nil
	}
	f, err := builtinFlow(handle, id)
	return []update{{d.Flows, id, "flow " + handle, f}}, err
}

// builtinFlow returns a built-in flow of this release.
func builtinFlow(handle, id string) (schemas.Flow, error) {
	builtin, err := flows.Builtin()
	if err != nil {
		return schemas.Flow{}, err
	}
	i := slices.IndexFunc(builtin, func(f schemas.Flow) bool { return f.Handle == handle })
	if i < 0 {
		return schemas.Flow{}, fmt.Errorf("bootstrap: there is no built-in flow %q", handle)
	}
	builtin[i].ID = id
	return builtin[i], nil
}

// missingFlow returns the creation of a built-in flow that earlier releases did not have, unless it
// was deleted, or another flow has its handle.
func missingFlow(ctx context.Context, d *directory.Directory, call directory.Call, handle, id string) ([]update, error) {
	if !slices.Contains(laterFlows(), handle) {
		return nil, nil
	}
	if deleted, err := d.FlowWasDeleted(ctx, call, id); deleted || err != nil {
		return nil, err
	}
	f, err := builtinFlow(handle, id)
	if err != nil {
		return nil, err
	}
	if other, err := d.Flows.Find(ctx, call, string(f.FlowType)+"/"+f.Handle); other != nil || err != nil {
		return nil, err
	}
	return []update{{d.Flows, "", "flow " + f.Handle, f}}, nil
}

// laterFlows lists the handles of the built-in flows that stores of earlier releases do not have.
// The others were deleted if they are missing, perhaps before the store recorded deletions.
func laterFlows() []string {
	return []string{"forgotten-password", "lost-passkey", "invitation", "change-address"}
}
