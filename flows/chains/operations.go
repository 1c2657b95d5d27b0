package chains

import "strings"

// actor is what an operation of the API needs.
type actor int

const (
	accountToken    actor = iota + 1 // a token of an application that may change the account of its user
	userManager                      // a client that manages users
	unlimitedClient                  // a client with the permission system
)

// operation is an endpoint of the API that changes what a sign-in to an account rests on.
type operation struct {
	endpoint string // the method and the path, as in the routes of the server
	by       actor
	// gives lists what the attacker has afterwards. A user's own token limits credentials to what its
	// sign-in proved.
	gives []kind
}

// operations lists the endpoints that change what a sign-in rests on. A test in package server
// compares them and those of Unaffecting with the routes: a new route has to be in one of the lists.
func operations() []operation {
	return []operation{
		{"POST /register/passkey/finish", accountToken, []kind{aPasskey}},
		{"PUT /users/me/password", accountToken, []kind{aPassword}},
		{"POST /users/me/factors/totp/finish", accountToken, []kind{anApp}},
		{"POST /users/me/factors/recovery-codes/finish", accountToken, []kind{codes}},
		{"DELETE /users/me/factors/{factor}", accountToken, []kind{noApp, noCodes}},
		{"POST /users/me/former-password", accountToken, []kind{aPasskey, noApp, noCodes, noAddress}},

		// They set a password, enter an address as verified or remove it, and enable the user.
		{"PUT /users/{id}", userManager, []kind{aPassword, aMailbox, noAddress}},
		{"PATCH /users/{id}", userManager, []kind{aPassword, aMailbox, noAddress}},
		{"DELETE /users/{id}/factors/{factor}", userManager, []kind{noApp, noCodes}},
		// An invitation is for users without a credential, so the client removes these first.
		{"POST /users/{id}/invitation", userManager, []kind{invited}},
		{"DELETE /users/{id}/passkeys/{credentialId}", userManager, nil},
		{"DELETE /users/{id}/identities/{identityId}", userManager, nil},

		{"POST /register/passkey/finish", unlimitedClient, []kind{aPasskey}},
	}
}

// Unaffecting lists the other endpoints that change something, with the reason why an attacker gains
// nothing from them that the analysis has to know.
func Unaffecting() map[string]string {
	const (
		begins   = "begins a ceremony, whose end is listed"
		runs     = "runs of flows are explored"
		takes    = "takes something from the account, and gives nothing"
		tokens   = "issues or ends tokens of a sign-in that was made already"
		setup    = "a change of the system is compared as a whole, or takes the permissions that it gives"
		creates  = "concerns no existing account"
		personal = "sets attributes that neither identify a user nor prove anything; conditions are assumed to hold"
	)
	list := map[string]string{
		"POST /register/passkey/start": begins, "POST /users/me/factors/totp/start": begins, "POST /users/me/factors/recovery-codes/start": begins,
		"POST /auth/passkey/start": begins, "POST /flow/execute": runs,
		"POST /auth/passkey/finish": "a run whose assertion is no token of an application and no session, with at most the permissions of the console's flow",
		"POST /oauth2/token":        tokens, "POST /oauth2/authorize": tokens, "POST /oauth2/auth/callback": tokens, "POST /oauth2/introspect": tokens,
		"POST /oauth2/revoke": tokens, "POST /oauth2/userinfo": tokens, "POST /oauth2/logout": tokens, "POST /oidc/logout": tokens,
		"DELETE /users/me": takes, "DELETE /users/{id}": takes, "DELETE /users/me/password": takes, "POST /account/lock": takes,
		"DELETE /users/{id}/failed-guesses": "guesses are not considered", "DELETE /users/{id}/invitation": takes,
		"DELETE /users/me/passkeys/{credentialId}": takes, "DELETE /users/me/identities/{identityId}": takes,
		"DELETE /identity-providers/{id}/identities": takes,
		"PATCH /users/me/passkeys/{credentialId}":    "changes a name", "PATCH /users/{id}/passkeys/{credentialId}": "changes a name",
		"PATCH /users/me/profile": personal, "POST /users": creates,
		"PUT /users/{id}/attribute-owners/{attribute}":    "decides who changes the attribute: the client, which can set it, or a provider with which the user signs in",
		"DELETE /users/{id}/attribute-owners/{attribute}": "decides who changes the attribute: the client, which can set it, or a provider with which the user signs in",
		"POST /mcp": "its tools are listed by their names", "POST /flows/check": "stores nothing",
	}
	for _, of := range []string{"me", "{id}"} {
		for _, part := range []string{"/sessions", "/sessions/{sid}", "/consents/{applicationId}"} {
			list["DELETE /users/"+of+part] = takes
		}
	}
	for _, noun := range []string{"organization-units", "user-types", "resource-servers", "identity-providers", "flows", "applications", "groups", "roles"} {
		list["POST /"+noun] = setup
		for _, method := range []string{"PUT", "PATCH", "DELETE"} {
			list[method+" /"+noun+"/{id}"] = setup
		}
	}
	for _, endpoint := range []string{
		"POST /flows/{id}/restore", "POST /flows/batch", "POST /applications/{id}/client-secret", "POST /applications/{id}/revoke-tokens", "POST /revoke-tokens",
		"POST /signing-keys/rotate", "POST /oauth2/dcr/register", "PUT /groups/{id}/members/{type}/{principalId}",
		"DELETE /groups/{id}/members/{type}/{principalId}", "PUT /roles/{id}/assignments/{type}/{principalId}",
		"DELETE /roles/{id}/assignments/{type}/{principalId}",
		// The tools of POST /mcp that change something.
		"service_create_application", "service_update_application", "service_create_flow", "service_update_flow", "service_revoke_tokens",
	} {
		list[endpoint] = setup
	}
	return list
}

// Operations lists the endpoints that change what a sign-in to an account rests on, as the analysis
// knows them: a method and a path.
func Operations() (endpoints []string) {
	for _, o := range operations() {
		endpoints = append(endpoints, o.endpoint)
	}
	return endpoints
}

// operations returns the operations of an actor that give something.
func (by actor) operations() (list []operation) {
	for _, o := range operations() {
		if o.by == by && len(o.gives) > 0 {
			list = append(list, o)
		}
	}
	return list
}

// names lists the endpoints of operations.
func names(list []operation) string {
	var names []string
	for _, o := range list {
		names = append(names, o.endpoint)
	}
	return strings.Join(names, ", ")
}
