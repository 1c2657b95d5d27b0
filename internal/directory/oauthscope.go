package directory

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// permissionScopes are the scopes that are permissions.
func permissionScopes(scopes []string) []string {
	return slices.DeleteFunc(slices.Clone(scopes), func(s string) bool { return slices.Contains(schemas.IdentityScopes(), s) })
}

// managedBy are the permissions that a client with the scopes can come by. The one for
// the account is worth all of them: it adds a passkey to the account of whoever
// signs in, and administrators do.
func managedBy(scopes []string) []string {
	if slices.Contains(scopes, schemas.AccountScope) {
		return append(permissionScopes(scopes), systemPermission)
	}
	return permissionScopes(scopes)
}

// scopeToken is RFC 6749 §3.3.
var scopeToken = regexp.MustCompile(`^[\x21\x23-\x5b\x5d-\x7e]{1,200}$`)

// maxScopes is how many scopes a client may have, however they are spelt.
const maxScopes = 200

// mergeScopes makes one list of the two spellings of a client's scopes.
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
		w.addInvalid(inConfig("scope"), "expected the same scopes as in scopes, got others; leave one of the two out")
	}
	if o.Scopes == nil {
		o.Scopes = words
	}
}

// checkScopes checks that the scopes of a client are known ones. Those that are
// permissions become the client's own, so they can only come from who has them.
// From here on they are a list alone.
func checkScopes(w *writeContext, o *schemas.OAuthProfile) error {
	spelt := o.Scope != ""
	o.Scope = ""
	var permissions, at []string
	for i, scope := range o.Scopes {
		path := inConfig(fmt.Sprintf("scopes[%d]", i))
		if spelt {
			path = inConfig("scope")
		}
		if scope == schemas.AccountScope && !w.call.Permits(systemPermission) {
			w.addForbidden(path, "with the scope %q a client acts for the account of whoever signs in to it, also of those who may do everything; "+
				"only somebody with the permission %q can give it", scope, systemPermission)
		}
		if slices.Contains(schemas.IdentityScopes(), scope) {
			continue
		}
		permissions = append(permissions, scope)
		at = append(at, path)
	}
	return checkPermissions(w, func(i int) string { return at[i] }, permissions, schemas.IdentityScopes())
}

// ClientScopes returns the scopes that a client may be given by
// client_credentials, sorted: those it is registered with, and the permissions of
// roles assigned to the application.
func (d *Directory) ClientScopes(ctx context.Context, a *schemas.Application) ([]string, error) {
	granted, err := d.store.ApplicationPermissions(ctx, a.ID)
	if err != nil {
		return nil, fmt.Errorf("reading what an application may do: %w", err)
	}
	return clientScopes(a, granted), nil
}
