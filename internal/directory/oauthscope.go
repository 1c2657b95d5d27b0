package directory

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// permissionScopes returns the scopes that are permissions.
func permissionScopes(scopes []string) []string {
	return slices.DeleteFunc(slices.Clone(scopes), func(s string) bool { return slices.Contains(schemas.IdentityScopes(), s) })
}

// managedBy returns the permissions that a client with the scopes can obtain. The account
// scope can obtain all of them: the client can add a passkey to the account of an
// administrator who signs in.
func managedBy(scopes []string) []string {
	if slices.Contains(scopes, schemas.AccountScope) {
		return append(permissionScopes(scopes), systemPermission)
	}
	return permissionScopes(scopes)
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
		if slices.Contains(schemas.IdentityScopes(), scope) {
			continue
		}
		permissions = append(permissions, scope)
		at = append(at, path)
	}
	checkPermissions(w, func(i int) string { return at[i] }, permissions, schemas.IdentityScopes())
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
