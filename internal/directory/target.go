package directory

import (
	"context"
	"slices"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// IsResource reports whether a resource server has the identifier, so that clients can
// request tokens for it (RFC 8707).
func (d *Directory) IsResource(ctx context.Context, identifier string) (bool, error) {
	found, err := store.ResourceServers().Find(ctx, d.store, "identifier", identifier)
	return found != nil, err
}

// IsResourceServer reports whether an application is the client of the resource server with
// the identifier: an administrator registered it with the scope that is the server's
// handle, and so is above all of its permissions.
func (d *Directory) IsResourceServer(ctx context.Context, a *schemas.Application, identifier string) (bool, error) {
	if a.OAuth() == nil {
		return false, nil
	}
	found, err := store.ResourceServers().Find(ctx, d.store, "identifier", identifier)
	if err != nil || found == nil {
		return false, err
	}
	return slices.Contains(a.OAuth().Scopes, found.Handle), nil
}
