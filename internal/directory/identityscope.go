package directory

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/postern-id/postern/internal/claims"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// Scopes without a permission
//
// A scope is a permission of a resource server, or it needs none: a standard scope, or a scope that an
// application declares to release claims. No name is both. A resource server from before a standard scope keeps
// its handle, and the scope is its permission. A new resource server cannot take the name of a scope, and a new
// scope of an application cannot take the name of a permission.

// IdentityScopes returns the scopes that need no permission for a client; nil is no particular one.
func (d *Directory) IdentityScopes(ctx context.Context, o *schemas.OAuthProfile) ([]string, error) {
	standard := d.identityScopes.Load()
	if standard == nil {
		found, err := standardScopes(ctx, d.store)
		if err != nil {
			return nil, err
		}
		standard = &found
		if len(found) == len(schemas.IdentityScopes()) { // no resource server takes the name of one later
			d.identityScopes.Store(standard)
		}
	}
	return append(slices.Clip(*standard), o.OwnScopes()...), nil
}

// standardScopes returns the standard scopes that are no permissions.
func standardScopes(ctx context.Context, r store.Reader) ([]string, error) {
	taken, err := store.ExistingKeys(ctx, r, "permission", schemas.NewerScopes())
	if err != nil {
		return nil, fmt.Errorf("reading the permissions with the names of standard scopes: %w", err)
	}
	return slices.DeleteFunc(schemas.IdentityScopes(), func(scope string) bool { return taken[scope] }), nil
}

// identityScopes is IdentityScopes within the write.
func (w *writeContext) identityScopes(o *schemas.OAuthProfile) []string {
	standard, err := standardScopes(w.ctx, w.tx)
	w.fail(err)
	return append(standard, o.OwnScopes()...)
}

// checkClaims checks the members about claims of a client.
func checkClaims(w *writeContext, a *schemas.Application, o *schemas.OAuthProfile) {
	for _, p := range claims.Check(o, a.AsksConsent()) {
		w.addInvalid(inConfig(p.Path), "%s", p.Message)
	}
	checkOwnScopes(w, o)
	standard := w.identityScopes(o)
	var servers, permissions []string
	for _, c := range o.Claims {
		servers = append(servers, c.ResourceServer)
		permissions = append(permissions, c.Scopes...)
	}
	known, err := store.ExistingKeys(w.ctx, w.tx, "permission", slices.Concat(servers, permissions))
	w.fail(err)
	for i, c := range o.Claims {
		if c.ResourceServer != "" && (!known[c.ResourceServer] || strings.Contains(c.ResourceServer, ":")) {
			w.addInvalid(inConfig(fmt.Sprintf("claims[%d].resourceServer", i)), "there is no resource server with the handle %.64q", c.ResourceServer)
		}
		for j, scope := range c.Scopes {
			if !known[scope] && !slices.Contains(standard, scope) {
				w.addInvalid(inConfig(fmt.Sprintf("claims[%d].scopes[%d]", i, j)),
					"there is no scope %.64q; to declare it for this application, add it to scopeClaims, with an empty list", scope)
			}
		}
	}
}

// checkServerClaims checks the claims of a resource server.
func checkServerClaims(w *writeContext, s *schemas.ResourceServer) {
	for _, p := range claims.CheckServer(s) {
		w.addInvalid(p.Path, "%s", p.Message)
	}
	var servers []string
	for _, c := range s.Claims {
		servers = append(servers, c.ResourceServer)
	}
	known, err := store.ExistingKeys(w.ctx, w.tx, "permission", servers)
	w.fail(err)
	for i, c := range s.Claims {
		if c.ResourceServer != "" && c.ResourceServer != s.Handle && (!known[c.ResourceServer] || strings.Contains(c.ResourceServer, ":")) {
			w.addInvalid(fmt.Sprintf("claims[%d].resourceServer", i), "there is no resource server with the handle %.64q", c.ResourceServer)
		}
	}
}

// checkOwnScopes refuses scopes of a client that are, or could become, permissions.
func checkOwnScopes(w *writeContext, o *schemas.OAuthProfile) {
	first := func(scope string) string { handle, _, _ := strings.Cut(scope, ":"); return handle }
	var handles []string
	for _, scope := range o.OwnScopes() {
		handles = append(handles, first(scope))
	}
	taken, err := store.ExistingKeys(w.ctx, w.tx, "permission", handles)
	w.fail(err)
	for _, scope := range o.OwnScopes() {
		path := schemas.MemberPath(inConfig("scopeClaims"), scope)
		switch handle := first(scope); {
		case slices.Contains(schemas.IdentityScopes(), handle):
			w.addInvalid(path, "%.64q is a standard scope, and the scope could be taken for a part of it; choose another name", handle)
		case !scopeToken.MatchString(scope):
			w.addInvalid(path, "expected the name of a scope (RFC 6749 §3.3): 1 to 200 printable ASCII characters without spaces, quotes and backslashes")
		case taken[handle] || schemas.IsManagementScope(scope) || schemas.IsManagementScope(handle):
			w.addInvalid(path, "%.64q is the handle of a resource server, whose permission the scope could be mistaken for; choose another name, "+
				"or declare claims that the permission releases (scopes)", handle)
		}
	}
	for scope := range maps.Keys(o.ScopeClaims) {
		if slices.Contains(schemas.NewerScopes(), scope) && taken[scope] {
			w.addInvalid(schemas.MemberPath(inConfig("scopeClaims"), scope), "it is a permission here, because a resource server has this handle; choose another name")
		}
	}
}

// checkScopeHandle refuses a new handle of a resource server that is the name of a scope without permissions.
func checkScopeHandle(w *writeContext, was, s *schemas.ResourceServer) {
	if s.Handle == was.Handle {
		return
	}
	if slices.Contains(schemas.IdentityScopes(), s.Handle) {
		w.addInvalid("handle", "%q is the name of a standard scope, which the permission could be mistaken for; choose another", s.Handle)
		return
	}
	application, err := store.ScopeOwner(w.ctx, w.tx, s.Handle)
	w.fail(err)
	if application != "" {
		w.addConflict("handle", "the application %.64q declares a scope with this name (scopeClaims), which needs no permission; choose another handle, or rename that scope", application)
	}
}

// withoutOwnScopes returns the scopes without those that applications declare: they are no permissions.
func (w *writeContext) withoutOwnScopes(scopes []string) []string {
	known, err := store.ExistingKeys(w.ctx, w.tx, "permission", scopes)
	w.fail(err)
	return slices.DeleteFunc(slices.Clone(scopes), func(s string) bool { return !known[s] && s != schemas.AccountScope })
}
