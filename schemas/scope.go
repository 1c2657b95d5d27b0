package schemas

import "slices"

// GrantableScopes returns the part of the requested scopes that a token of a user can contain: the
// permissions that the user has, at or below the requested ones, and all identity scopes, which need no
// permission.
func GrantableScopes(asked, has, identity []string) []string {
	isPermission := func(scope string) bool { return !slices.Contains(identity, scope) }
	granted := slices.DeleteFunc(slices.Clone(asked), func(scope string) bool { return isPermission(scope) && !isCovered(has, scope) })
	permissions := slices.DeleteFunc(slices.Clone(asked), func(scope string) bool { return !isPermission(scope) })
	for _, permission := range has {
		if isPermission(permission) && isCovered(permissions, permission) && !isCovered(granted, permission) {
			granted = append(granted, permission)
		}
	}
	return granted
}

// IsManagementScope reports whether a scope is a permission of this server's own API, or
// lets a client change the account of the user.
func IsManagementScope(scope string) bool {
	return scope == AccountScope || CoversPermission("system", scope)
}

// ManagementScopes returns the scopes that are IsManagementScope.
func ManagementScopes(scopes []string) []string {
	return slices.DeleteFunc(slices.Clone(scopes), func(scope string) bool { return !IsManagementScope(scope) })
}

// isCovered reports whether a scope is among others, or below one of them.
func isCovered(scopes []string, scope string) bool {
	return slices.ContainsFunc(scopes, func(has string) bool { return CoversPermission(has, scope) })
}

// PlainScopes are the texts of the scopes that mean the same everywhere, and of the one that is
// everything in this service.
func PlainScopes() map[string]string {
	texts := map[string]string{"system": "Manage this service: its users, apps and flows"}
	for _, s := range AllIdentityScopes() {
		texts[s.Name] = s.Text
	}
	return texts
}
