package importer

import (
	"encoding/json"
	"maps"
	"slices"
)

// keycloakHolder is the part of a user that names roles.
type keycloakHolder struct {
	RealmRoles     []string            `json:"realmRoles"`
	ClientRoles    map[string][]string `json:"clientRoles"`
	ServiceAccount string              `json:"serviceAccountClientId"`
}

// keycloakHolders are the roles that users have, and the service accounts. They are read before the users,
// because roles are created before the users who have them.
type keycloakHolders struct {
	realm    map[string]bool
	client   map[string]map[string]bool
	accounts []keycloakHolder
}

// read reads the list of users. Errors in records are those of the second reading.
func (h *keycloakHolders) read(d *json.Decoder) error {
	return records[keycloakHolder]{report: NewReport(nil)}.each(d, func(_ string, u *keycloakHolder) error {
		if u.ServiceAccount != "" {
			h.accounts = append(h.accounts, *u)
			return nil
		}
		other := keycloakHolders{realm: setOf(u.RealmRoles), client: map[string]map[string]bool{}}
		for client, names := range u.ClientRoles {
			other.client[client] = setOf(names)
		}
		h.add(other)
		return nil
	})
}

func setOf(names []string) map[string]bool {
	set := map[string]bool{}
	for _, name := range names {
		set[name] = true
	}
	return set
}

// add adds what others have.
func (h *keycloakHolders) add(others keycloakHolders) {
	if h.realm == nil {
		h.realm, h.client = map[string]bool{}, map[string]map[string]bool{}
	}
	maps.Copy(h.realm, others.realm)
	for client, names := range others.client {
		if h.client[client] == nil {
			h.client[client] = map[string]bool{}
		}
		maps.Copy(h.client[client], names)
	}
	h.accounts = append(h.accounts, others.accounts...)
}

// byClient returns the names of the roles of clients.
func (h *keycloakHolders) byClient() map[string][]string {
	names := map[string][]string{}
	for client, of := range h.client {
		names[client] = sortedKeys(of)
	}
	return names
}

// addNamedRoles adds the roles that only users, groups and other roles name, as Keycloak does when it imports a
// realm that was written by hand.
func (k *keycloak) addNamedRoles(content *Resources, granted map[string][]any) {
	keys := append(k.roleKeys(sortedKeys(k.holders.realm), k.holders.byClient()), sortedKeys(granted)...)
	known := content.idsOf("roles")
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		if known[key] == nil {
			k.addRoleResource(content, key, keycloakRole{}, granted)
		}
	}
}

// idsOf returns the IDs of the resources of a plural, by key.
func (content *Resources) idsOf(plural string) map[string]any {
	ids := map[string]any{}
	for _, r := range content.List {
		if r.Plural == plural {
			ids[r.Key] = r.Content["id"]
		}
	}
	return ids
}

// grantServiceAccounts gives applications the roles of their service accounts.
func (k *keycloak) grantServiceAccounts(content *Resources, r *Report, granted map[string][]any) {
	applications := content.idsOf("applications")
	for _, account := range k.holders.accounts {
		roles := k.roleKeys(account.RealmRoles, account.ClientRoles)
		id := applications[account.ServiceAccount]
		if id == nil {
			if len(roles) > 0 {
				r.add("clients", "client "+account.ServiceAccount, "the roles of its service account are not imported, because the client is not", "create the application, and assign it to the roles")
			}
			continue
		}
		if len(roles) > 0 {
			r.add("clients", "client "+account.ServiceAccount, "tokens that the application gets on its own behalf have no claims: its roles only give it permissions", "grant permissions of resource servers with the roles, which the application requests as scopes")
		}
		for _, role := range roles {
			granted[role] = append(granted[role], map[string]any{"type": "application", "id": id})
		}
	}
}

// reportAdministration reports roles of the clients with which Keycloak itself is administered. Those of the
// account client only let users change their own accounts.
func (k *keycloak) reportAdministration(r *Report, subject, place string, roles map[string][]string) {
	for client, names := range roles {
		if isKeycloakClient(client) && client != "account" && len(names) > 0 {
			r.add(subject, place, "the roles of the client "+client+" are not imported: they give access to Keycloak itself", "give administrative permissions here by hand (docs/migration.md)")
		}
	}
}
