package schemas

import "slices"

// GrantableScopes returns what of the scopes asked for a token about a user can
// carry: of permissions what the user has, be it those or others below them; the
// scopes that need no permission all.
func GrantableScopes(asked, has []string) []string {
	identity := IdentityScopes()
	isPermission := func(scope string) bool { return !slices.Contains(identity, scope) }
	granted := slices.DeleteFunc(slices.Clone(asked), func(scope string) bool { return isPermission(scope) && !covered(has, scope) })
	permissions := slices.DeleteFunc(slices.Clone(asked), func(scope string) bool { return !isPermission(scope) })
	for _, permission := range has {
		if isPermission(permission) && covered(permissions, permission) && !covered(granted, permission) {
			granted = append(granted, permission)
		}
	}
	return granted
}

// covered reports whether a scope is among others, or below one of them.
func covered(scopes []string, scope string) bool {
	return slices.ContainsFunc(scopes, func(has string) bool { return Covers(has, scope) })
}

// PlainScopes are the scopes that mean the same everywhere, and the one that is
// everything in this service.
func PlainScopes() map[string]string {
	return map[string]string{
		"openid":         "Know who you are",
		"profile":        "See your name and profile",
		"email":          "See your email address",
		"address":        "See your postal address",
		"phone":          "See your phone number",
		"offline_access": "Stay connected while you are away",
		AccountScope:     "Manage your passkeys and sessions",
		"system":         "Manage this service: its users, apps and flows",
	}
}
