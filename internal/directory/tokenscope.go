package directory

import (
	"context"
	"slices"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// Granted returns the part of a token's scope that its subject still has: permissions that
// the user's roles grant now or that are below one of them. It uses the rule for issuing
// tokens (schemas.GrantableScopes): a holder of "system" can grant themselves a permission
// of another resource server and has it in later tokens. A token whose client is its own
// subject was issued to a client on its own behalf; see ClientScopes. Scopes that are no
// permissions stay.
func (d *Directory) Granted(ctx context.Context, subject, clientID string, scope []string) ([]string, error) {
	if len(permissionScopes(scope)) == 0 {
		return scope, nil
	}
	has, err := d.permissionsNow(ctx, subject, clientID)
	if err != nil {
		return nil, err
	}
	return schemas.GrantableScopes(scope, has), nil
}

func (d *Directory) permissionsNow(ctx context.Context, subject, clientID string) ([]string, error) {
	if clientID == "" || clientID != subject {
		return d.store.Permissions(ctx, subject)
	}
	a, err := d.Client(ctx, clientID)
	if schemas.HasClass(err, schemas.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return d.ClientScopes(ctx, a)
}

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
