package directory

import (
	"context"

	"github.com/postern-id/postern/schemas"
)

// Granted returns what of the scope of a token its subject still has: of the
// permissions in it those that the user's roles grant by now, or below one of them.
// The rule is that by which tokens are issued (schemas.GrantableScopes): whoever may
// give themselves a permission of another resource server, by "system", has it in
// tokens once they have. A token whose client is its own subject was issued to a
// client on its own behalf; see ClientScopes. What is no permission stays.
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
