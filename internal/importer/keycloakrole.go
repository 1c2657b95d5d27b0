package importer

import (
	"fmt"
	"slices"
	"strings"
)

type keycloakRole struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Composites  struct {
		Realm  []string            `json:"realm"`
		Client map[string][]string `json:"client"`
	} `json:"composites"`
}

// isDefaultRole reports whether a role is one that every user of every realm has.
func (k *keycloak) isDefaultRole(name string) bool {
	return name == "offline_access" || name == "uma_authorization" || strings.EqualFold(name, "default-roles-"+k.realm.Realm) || name != "" && name == k.realm.DefaultRole.Name
}

// nameRoles chooses the names of the roles of clients here: with the client ID before them. A realm role, or another
// client, with names that begin in the same way gets the clients another prefix.
func (k *keycloak) nameRoles() {
	k.prefixes = map[string]string{}
	realm, clients := map[string]bool{}, map[string]bool{}
	k.eachRoleList(func(names []string, byClient map[string][]string) {
		for _, name := range names {
			realm[name] = true
		}
		for client, names := range byClient {
			clients[client] = clients[client] || len(names) > 0 && !isKeycloakClient(client)
		}
	})
	for _, client := range sortedKeys(clients) {
		if !clients[client] {
			continue
		}
		prefix := client + ":"
		for n := 1; k.isTaken(prefix, realm); n++ {
			if prefix = client + " (client):"; n > 1 {
				prefix = fmt.Sprintf("%s (client %d):", client, n)
			}
		}
		k.prefixes[client] = prefix
	}
}

// isTaken reports whether a realm role has the prefix, or a client one that could be confused with it.
func (k *keycloak) isTaken(prefix string, realm map[string]bool) bool {
	for name := range realm {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	for _, other := range k.prefixes {
		if strings.HasPrefix(other, prefix) || strings.HasPrefix(prefix, other) {
			return true
		}
	}
	return false
}

// eachRoleList calls each with every list of names of roles in the export: of the realm, and by client.
func (k *keycloak) eachRoleList(each func(realm []string, byClient map[string][]string)) {
	all := k.realm.Roles.Realm.List
	for _, client := range sortedKeys(k.realm.Roles.Client) {
		list := k.realm.Roles.Client[client].List
		each(nil, map[string][]string{client: roleNames(list)})
		all = append(slices.Clip(all), list...)
	}
	each(roleNames(k.realm.Roles.Realm.List), nil)
	for _, role := range all {
		each(role.Composites.Realm, role.Composites.Client)
	}
	eachGroup(k.realm.Groups.List, func(g keycloakGroup) { each(g.RealmRoles, g.ClientRoles) })
	each(sortedKeys(k.holders.realm), k.holders.byClient())
	for _, account := range k.holders.accounts {
		each(account.RealmRoles, account.ClientRoles)
	}
}

func roleNames(list []keycloakRole) (names []string) {
	for _, role := range list {
		names = append(names, role.Name)
	}
	return names
}

// roleKey returns the name of a role here; client is "" for one of the realm.
func (k *keycloak) roleKey(client, name string) string {
	if client == "" {
		return name
	}
	return firstText(k.prefixes[client], client+":") + name
}

// roleKeys returns the keys of roles, and of the roles that they include.
func (k *keycloak) roleKeys(realm []string, client map[string][]string) (keys []string) {
	for _, name := range realm {
		keys = k.appendRole(keys, "", name)
	}
	for id, names := range client {
		for _, name := range names {
			keys = k.appendRole(keys, id, name)
		}
	}
	return keys
}

// appendRole adds the keys of a role and of those that it includes. The default role itself means nothing here,
// but what it includes does.
func (k *keycloak) appendRole(keys []string, client, name string) []string {
	return k.appendRoles(keys, map[string]bool{}, client, name)
}

func (k *keycloak) appendRoles(keys []string, seen map[string]bool, client, name string) []string {
	key := k.roleKey(client, name)
	if seen[key] || isKeycloakClient(client) {
		return keys
	}
	seen[key] = true
	if !slices.Contains(keys, key) && (client != "" || !k.isDefaultRole(name)) {
		keys = append(keys, key)
	}
	roles := k.realm.Roles.Realm.List
	if client != "" {
		roles = k.realm.Roles.Client[client].List
	}
	for _, role := range roles {
		if role.Name != name {
			continue
		}
		for _, other := range role.Composites.Realm {
			keys = k.appendRoles(keys, seen, "", other)
		}
		for id, names := range role.Composites.Client {
			for _, other := range names {
				keys = k.appendRoles(keys, seen, id, other)
			}
		}
	}
	return keys
}

// addRole adds a role. It grants nothing here: what a role means is known to the applications.
func (k *keycloak) addRole(content *Resources, r *Report, client string, role keycloakRole, granted map[string][]any) {
	if client == "" && k.isDefaultRole(role.Name) {
		if included := k.roleKeys(role.Composites.Realm, role.Composites.Client); len(included) > 0 {
			r.add("roles", "role "+role.Name, "users who sign up later do not get the roles of the default role; the imported ones get them: "+strings.Join(included, ", "), "assign the roles to a group, and let the sign-up flow or an administrator add users to it")
		}
		return
	}
	key := k.roleKey(client, role.Name)
	k.reportAdministration(r, "roles", "role "+key, role.Composites.Client)
	if len(role.Composites.Realm)+len(role.Composites.Client) > 0 {
		r.add("roles", "role "+key, "roles do not include others: the users who have it also get the included ones, users who get it later do not", "assign roles to a group, and add users to the group")
	}
	k.addRoleResource(content, key, role, granted)
}

func (k *keycloak) addRoleResource(content *Resources, key string, role keycloakRole, granted map[string][]any) {
	assignments := granted[key]
	if assignments == nil {
		assignments = []any{}
	}
	content.List = append(content.List, Resource{Plural: "roles", Key: key, Place: "role " + key, ForeignID: role.ID, Content: map[string]any{
		"id": k.idOf("role", firstText(role.ID, key)), "name": key, "description": keycloakText(role.Description), "assignments": assignments,
	}})
}
