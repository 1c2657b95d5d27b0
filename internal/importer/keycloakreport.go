package importer

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// withoutKeycloakClients removes what every realm has.
func withoutKeycloakClients(raw any) {
	realm, _ := raw.(map[string]any)
	if clients, ok := realm["clients"].([]any); ok {
		realm["clients"] = slices.DeleteFunc(clients, func(c any) bool {
			object, _ := c.(map[string]any)
			return isKeycloakClient(textOf(object["clientId"]))
		})
	}
	if roles, ok := realm["roles"].(map[string]any); ok {
		if byClient, ok := roles["client"].(map[string]any); ok {
			for client := range byClient {
				if isKeycloakClient(client) {
					delete(byClient, client)
				}
			}
		}
	}
}

// placeholder is a place that the environment of Keycloak fills in when it imports a realm. Keys of
// translations, such as ${role_admin}, are in lower case.
var placeholder = regexp.MustCompile(`\$\{(?:env\.)?([A-Z][A-Z0-9_]*)[^}]*\}`)

// anyPlaceholder is a place that a property of Keycloak fills in, too, in a text that is never a key of a translation.
var anyPlaceholder = regexp.MustCompile(`\$\{(?:env\.)?([^}:]+)[^}]*\}`)

// placeholderNames returns the names of placeholders, each once.
func placeholderNames(text string) (names []string) { return appendMatches(nil, placeholder, text) }

func appendMatches(names []string, pattern *regexp.Regexp, text string) []string {
	for _, m := range pattern.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(names, m[1]) {
			names = append(names, m[1])
		}
	}
	return names
}

// unfilled returns the names of the placeholders in the members that are imported.
func unfilled(raw any, t reflect.Type) (names []string) {
	eachReadText(raw, t, "", func(member, text string) {
		pattern := anyPlaceholder
		switch member {
		case "config":
			return // of mappers and executions, with templates of their own
		case "name", "displayName", "description":
			pattern = placeholder
		case "rootUrl", "baseUrl":
			text = strings.NewReplacer("${authBaseUrl}", "", "${authAdminUrl}", "").Replace(text) // Keycloak's own addresses
		}
		names = appendMatches(names, pattern, text)
	})
	return names
}

// reportBad reports the records that cannot be read.
func (k *keycloak) reportBad(r *Report) {
	r.addBad("clients", k.realm.Clients.bad...)
	r.addBad("identity providers", k.realm.Providers.bad...)
	r.addBad("groups", k.realm.Groups.bad...)
	r.addBad("roles", k.realm.Roles.Realm.bad...)
	r.addBad("client scopes", k.realm.Scopes.bad...)
	for _, client := range sortedKeys(k.realm.Roles.Client) {
		r.addBad("roles", k.realm.Roles.Client[client].bad...)
	}
}

// foundMembers describes a file without a realm, such as that of a single client.
func (k *keycloak) foundMembers() string {
	if len(k.found) == 0 {
		return ""
	}
	return fmt.Sprintf(" (it has %s)", strings.Join(k.found[:min(len(k.found), 8)], ", "))
}

// unread finds the members that are not imported.
func (k *keycloak) unread(r *Report) unreadMembers {
	return unreadMembers{r, []string{
		// They say what other members say, or nothing outside of Keycloak.
		"id", "keycloakVersion", "defaultRole.id", "defaultRole.composite", "defaultRole.clientRole", "defaultRole.containerId", "defaultRole.description",
		"roles.realm.composite", "roles.realm.clientRole", "roles.realm.containerId", "roles.client.composite", "roles.client.clientRole", "roles.client.containerId",
		"groups.parentId", "groups.subGroupCount", "groups.access", "groups.subGroups.parentId", "groups.subGroups.subGroupCount", "groups.subGroups.access",
		"users.totp", "users.disableableCredentialTypes", "users.access", "users.origin", "users.self", "users.credentials.id", "users.credentials.priority",
		"clients.access", "clients.attributes.client.secret.creation.time", "clients.attributes.realm_client", "clients.nodeReRegistrationTimeout",
		"clientScopes.id", "clientScopes.description", "clientScopes.attributes.display.on.consent.screen", "clientScopes.attributes.consent.screen.text", "clientScopes.attributes.gui.order",
		// Other code reports them.
		"authenticationFlows", "authenticatorConfig", "components", "users.attributes", "clients.protocolMappers", "clientScopes.protocolMappers",
	}}
}

// reportRealm reports settings of a realm that hold for all its users.
func (k *keycloak) reportRealm(r *Report) {
	place := "realm " + k.realm.Realm
	if isFalse(k.realm.Enabled) {
		r.add("realm", place, "the realm is disabled, and its users and clients can be used here", "import it when they may be used")
	}
	if isFalse(k.realm.EmailLogin) {
		r.add("realm", place, "users can sign in with a verified address here (loginWithEmailAllowed is false)", "resolve users by username only in the flow: user-resolve with by: [username]")
	}
	for _, name := range k.realm.DefaultRoles {
		if !k.isDefaultRole(name) {
			r.add("roles", "role "+name, "users who sign up later do not get the default roles (defaultRoles)", "assign the roles to a group, and let the sign-up flow or an administrator add users to it")
		}
	}
	for _, path := range k.realm.DefaultGroups {
		r.add("groups", "group "+path, "users who sign up later do not become members of the default groups (defaultGroups)", "let the sign-up flow or an administrator add users to them")
	}
}

// reportComponents reports the components of a realm: its keys, policies, user profile and user federation.
func (k *keycloak) reportComponents(r *Report) {
	for _, kind := range sortedKeys(k.realm.Components) {
		for _, c := range k.realm.Components[kind] {
			name := firstText(c.Name, c.ProviderID)
			if kind == "org.keycloak.storage.UserStorageProvider" {
				r.add("users", "user federation "+name, fmt.Sprintf("users of the provider %.40q are stored outside, with their passwords", c.ProviderID),
					"export them from there, or let users sign in at an OpenID provider in front of it (docs/federation.md)")
				continue
			}
			r.add("members that are not read", "component "+name, "components."+kind, "")
		}
	}
}
