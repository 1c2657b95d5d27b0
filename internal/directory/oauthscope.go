package directory

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// permissionScopes returns the scopes that are permissions: all but the identity scopes.
func permissionScopes(scopes, identity []string) []string {
	return slices.DeleteFunc(slices.Clone(scopes), func(s string) bool { return slices.Contains(identity, s) })
}

// managedBy returns the permissions that a client with the scopes can obtain. The account
// scope can obtain all of them: the client can add a passkey to the account of an
// administrator who signs in.
func managedBy(scopes, identity []string) []string {
	if slices.Contains(scopes, schemas.AccountScope) {
		return append(permissionScopes(scopes, identity), systemPermission)
	}
	return permissionScopes(scopes, identity)
}

// scopeToken is the syntax of RFC 6749 §3.3.
var scopeToken = regexp.MustCompile(`^[\x21\x23-\x5b\x5d-\x7e]{1,200}$`)

// maxScopes limits the scopes of a client in both spellings.
const maxScopes = 200

// mergeScopes merges the two spellings of a client's scopes.
func mergeScopes(w *writeContext, o *schemas.OAuthProfile) {
	if o.Scope == "" {
		return
	}
	words := strings.Fields(o.Scope)
	slices.Sort(words)
	words = slices.Compact(words)
	if i := slices.IndexFunc(words, func(s string) bool { return !scopeToken.MatchString(s) }); i >= 0 {
		w.addInvalid(inConfig("scope"), "expected scopes (RFC 6749 §3.3) separated by spaces, got %.64q among them", words[i])
		return
	}
	if len(words) > maxScopes {
		w.addInvalid(inConfig("scope"), "expected at most %d scopes, got %d", maxScopes, len(words))
		return
	}
	if o.Scopes != nil && !slices.Equal(words, slices.Sorted(slices.Values(o.Scopes))) {
		w.addInvalid(inConfig("scope"), "expected the same scopes as in scopes; leave one of the two out")
	}
	if o.Scopes == nil {
		o.Scopes = words
	}
}

// checkScopes checks that the scopes of a client exist. Permissions become the client's
// own, so the caller must have them. Afterwards only the list of scopes is set.
func checkScopes(w *writeContext, o *schemas.OAuthProfile) {
	spelt := o.Scope != ""
	o.Scope = ""
	identity := w.identityScopes(o)
	var permissions, at []string
	for i, scope := range o.Scopes {
		path := inConfig(fmt.Sprintf("scopes[%d]", i))
		if spelt {
			path = inConfig("scope")
		}
		if scope == schemas.AccountScope && !w.call.Permits(systemPermission) {
			w.addForbidden(path, "with the scope %q a client can change the account of any user who signs in, including administrators; "+
				"only a user with the permission %q can grant it", scope, systemPermission)
		}
		if slices.Contains(identity, scope) {
			continue
		}
		permissions = append(permissions, scope)
		at = append(at, path)
	}
	checkPermissions(w, func(i int) string { return at[i] }, permissions, identity)
}

// ClientScopes returns the scopes that client_credentials may grant to a client, sorted:
// its registered scopes and the permissions of the application's roles.
func (d *Directory) ClientScopes(ctx context.Context, a *schemas.Application) ([]string, error) {
	granted, err := d.store.ApplicationPermissions(ctx, a.ID)
	if err != nil {
		return nil, fmt.Errorf("reading the permissions of an application: %w", err)
	}
	return clientScopes(a, granted), nil
}

// Granted returns the part of a token's scope that its subject still has: permissions that
// the user's roles grant now or that are below one of them. It uses the rule for issuing
// tokens (schemas.GrantableScopes): a holder of "system" can grant themselves a permission
// of another resource server and has it in later tokens. A token whose client is its own
// subject was issued to a client on its own behalf; see ClientScopes. Scopes that are no
// permissions stay.
func (d *Directory) Granted(ctx context.Context, subject, clientID string, scope []string) ([]string, error) {
	identity, err := d.scopesOfClient(ctx, clientID, scope)
	if err != nil || len(permissionScopes(scope, identity)) == 0 {
		return scope, err
	}
	has, err := d.permissionsNow(ctx, subject, clientID)
	if err != nil {
		return nil, err
	}
	return schemas.GrantableScopes(scope, has, identity), nil
}

// scopesOfClient returns the identity scopes of a client. It looks the client up if a scope is neither a standard
// scope nor a permission of this server.
func (d *Directory) scopesOfClient(ctx context.Context, clientID string, scope []string) ([]string, error) {
	identity, err := d.IdentityScopes(ctx, nil)
	if err != nil || !slices.ContainsFunc(permissionScopes(scope, identity), func(s string) bool { return !schemas.IsManagementScope(s) }) {
		return identity, err
	}
	a, err := d.Client(ctx, clientID)
	if schemas.HasClass(err, schemas.NotFound) {
		return identity, nil
	}
	if err != nil {
		return nil, err
	}
	return d.IdentityScopes(ctx, a.OAuth())
}

// LiveScope reports whether a valid token is live, and returns the part of its scope that Granted
// returns. For a user's token that is one query.
func (d *Directory) LiveScope(ctx context.Context, t schemas.TokenRef, subject string, scope []string) (live bool, granted []string, err error) {
	identity, err := d.scopesOfClient(ctx, t.Client, scope)
	if err != nil {
		return false, nil, err
	}
	if subject == t.Client || len(permissionScopes(scope, identity)) == 0 {
		live, err = d.store.TokenLive(ctx, t)
		if err == nil && live {
			granted, err = d.Granted(ctx, subject, t.Client, scope)
		}
		return live, granted, err
	}
	live, has, err := d.store.TokenPermissions(ctx, t, subject)
	return live, schemas.GrantableScopes(scope, has, identity), err
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

// Resource returns the identifier of the resource server for which clients can request tokens
// (RFC 8707) with this spelling of it: RFC 3986 §6.2.2.1 and §6.2.3. It is "" if there is none.
func (d *Directory) Resource(ctx context.Context, identifier string) (registered string, err error) {
	found, err := store.ResourceServers().Find(ctx, d.store, "identifier", identifier)
	if err != nil || found != nil {
		return orZero(found).Identifier, err
	}
	return resourceLike(ctx, d.store, identifier, "")
}

// ServerClaims returns the resource servers with the identifiers that have claims: their handles and claims.
func (d *Directory) ServerClaims(ctx context.Context, identifiers []string) (found []schemas.ResourceServer, err error) {
	for _, identifier := range identifiers {
		server, err := d.store.ServerClaims(ctx, identifier)
		if err != nil {
			return nil, err
		}
		if server != nil {
			found = append(found, *server)
		}
	}
	return found, nil
}

// resourceLike returns an identifier that is another spelling of the given one, "" for none. except is the id of
// a resource server that does not count.
func resourceLike(ctx context.Context, r store.Reader, identifier, except string) (string, error) {
	all, err := store.ResourceIdentifiers(ctx, r, except)
	if err != nil {
		return "", err
	}
	same := schemas.ComparableURL(identifier)
	i := slices.IndexFunc(all, func(other string) bool { return schemas.ComparableURL(other) == same })
	if i < 0 {
		return "", nil
	}
	return all[i], nil
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
