package directory

import (
	"context"

	"github.com/postern-id/postern/internal/store"
)

// IsResource reports whether there is a resource server with the identifier, so
// that tokens can be asked for by it (RFC 8707).
func (d *Directory) IsResource(ctx context.Context, identifier string) (bool, error) {
	found, err := store.ResourceServers().Find(ctx, d.store, "identifier", identifier)
	return found != nil, err
}
