package importer

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// keycloak is the export of a realm: one file, or a folder with REALM-realm.json and
// REALM-users-N.json.
type keycloak struct {
	Options
	files []string
	realm keycloakRealm
}

// keycloakRealm is a realm without its users.
type keycloakRealm struct {
	Realm      string `json:"realm"`
	PasskeyRP  string `json:"webAuthnPolicyPasswordlessRpId"`
	SecurityRP string `json:"webAuthnPolicyRpId"`
	Browser    string `json:"browserFlow"`
	Roles      struct {
		Realm  []keycloakRole            `json:"realm"`
		Client map[string][]keycloakRole `json:"client"`
	} `json:"roles"`
	Groups      []keycloakGroup    `json:"groups"`
	Clients     []keycloakClient   `json:"clients"`
	Providers   []keycloakProvider `json:"identityProviders"`
	Flows       []keycloakFlow     `json:"authenticationFlows"`
	FlowConfigs []struct {
		Alias  string            `json:"alias"`
		Config map[string]string `json:"config"`
	} `json:"authenticatorConfig"`
	Components map[string][]struct {
		Name       string `json:"name"`
		ProviderID string `json:"providerId"`
	} `json:"components"`
}

type keycloakRole struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Composites  struct {
		Realm  []string            `json:"realm"`
		Client map[string][]string `json:"client"`
	} `json:"composites"`
}

type keycloakGroup struct {
	ID          string              `json:"id"`
	Name        string              `json:"name"`
	Path        string              `json:"path"`
	SubGroups   []keycloakGroup     `json:"subGroups"`
	RealmRoles  []string            `json:"realmRoles"`
	ClientRoles map[string][]string `json:"clientRoles"`
	Attributes  map[string][]string `json:"attributes"`
}

type keycloakClient struct {
	ID             string            `json:"id"`
	ClientID       string            `json:"clientId"`
	Name           string            `json:"name"`
	Description    string            `json:"description"`
	RootURL        string            `json:"rootUrl"`
	BaseURL        string            `json:"baseUrl"`
	Enabled        *bool             `json:"enabled"`
	Authenticator  string            `json:"clientAuthenticatorType"`
	Secret         string            `json:"secret"`
	RedirectURIs   []string          `json:"redirectUris"`
	BearerOnly     bool              `json:"bearerOnly"`
	Consent        bool              `json:"consentRequired"`
	Standard       *bool             `json:"standardFlowEnabled"`
	Implicit       bool              `json:"implicitFlowEnabled"`
	Direct         bool              `json:"directAccessGrantsEnabled"`
	ServiceAccount bool              `json:"serviceAccountsEnabled"`
	Public         bool              `json:"publicClient"`
	Protocol       string            `json:"protocol"`
	Attributes     map[string]string `json:"attributes"`
	Mappers        []json.RawMessage `json:"protocolMappers"`
	FlowOverrides  map[string]string `json:"authenticationFlowBindingOverrides"`
}

type keycloakProvider struct {
	ID         string            `json:"internalId"`
	Alias      string            `json:"alias"`
	Name       string            `json:"displayName"`
	ProviderID string            `json:"providerId"`
	Config     map[string]string `json:"config"`
}

func openKeycloak(dir string, o Options) (Source, error) {
	files, err := filesIn(dir, "*.json")
	if err != nil {
		return nil, err
	}
	k := &keycloak{Options: o, files: files}
	for _, file := range files {
		if err := withFile(file, k.readRealm); err != nil {
			return nil, err
		}
	}
	if k.realm.Realm == "" {
		return nil, fmt.Errorf("%s has no realm: expected the files of `kc.sh export --dir`, REALM-realm.json and REALM-users-0.json", dir)
	}
	return k, nil
}

// readRealm reads everything but the users of a file.
func (k *keycloak) readRealm(r io.Reader) error {
	members := map[string]json.RawMessage{}
	err := eachMember(r, func(name string, d *json.Decoder) error {
		if name == "users" || name == "federatedUsers" {
			return skipValue(d)
		}
		var value json.RawMessage
		err := d.Decode(&value)
		members[name] = value
		return err
	})
	if err != nil {
		return err
	}
	var realm string
	if err := json.Unmarshal(members["realm"], &realm); err != nil {
		return nil // not a realm
	}
	if k.realm.Realm != "" && k.realm.Realm != realm {
		return fmt.Errorf("it is of the realm %.100q, and another file of %.100q: import each realm from a folder of its own", realm, k.realm.Realm)
	}
	text, err := json.Marshal(members)
	if err != nil {
		return err
	}
	return withoutValue(json.Unmarshal(text, &k.realm))
}

func (k *keycloak) idOf(noun, foreign string) string {
	return idOf("keycloak", k.realm.Realm, noun, foreign)
}

// Resources implements Source.
func (k *keycloak) Resources(r *Report) (*Resources, error) {
	content := &Resources{Name: k.realm.Realm, Flows: map[string][]byte{}}
	for _, p := range k.realm.Providers {
		k.addProvider(content, r, p)
	}
	for _, c := range k.realm.Clients {
		k.addClient(content, r, c)
	}
	granted := map[string][]any{} // groups by the key of a role
	for _, g := range k.realm.Groups {
		k.addGroup(content, r, g, "", granted)
	}
	k.sortGroups(content)
	for _, role := range k.realm.Roles.Realm {
		k.addRole(content, r, "", role, granted)
	}
	for client, roles := range k.realm.Roles.Client {
		if !isKeycloakClient(client) {
			for _, role := range roles {
				k.addRole(content, r, client, role, granted)
			}
		}
	}
	k.reportComponents(r)
	k.translateFlows(content, r)
	return content, nil
}

// sortGroups puts groups before those that contain them.
func (k *keycloak) sortGroups(content *Resources) {
	rank := func(r Resource) int {
		if r.Plural != "groups" {
			return 0
		}
		return -strings.Count(r.Key, "/")
	}
	slices.SortStableFunc(content.List, func(a, b Resource) int {
		if a.Plural != "groups" || b.Plural != "groups" {
			return 0
		}
		return rank(a) - rank(b)
	})
}

// isKeycloakClient reports whether every realm has the client.
func isKeycloakClient(clientID string) bool {
	return slices.Contains([]string{"account", "account-console", "admin-cli", "broker", "realm-management", "security-admin-console"}, clientID)
}

// isDefaultRole reports whether a role is one that every user of every realm has.
func (k *keycloak) isDefaultRole(name string) bool {
	return name == "offline_access" || name == "uma_authorization" || strings.EqualFold(name, "default-roles-"+k.realm.Realm)
}

// addGroup adds a group and those below it, which are its members: they inherit its roles.
func (k *keycloak) addGroup(content *Resources, r *Report, g keycloakGroup, above string, granted map[string][]any) {
	path := above + "/" + g.Name
	members := []any{}
	for _, below := range g.SubGroups {
		k.addGroup(content, r, below, path, granted)
		members = append(members, map[string]any{"type": "group", "id": k.idOf("group", firstText(below.ID, path+"/"+below.Name))})
	}
	if len(g.Attributes) > 0 {
		r.add("groups", path, "the attributes of the group are not imported", "groups have none: set attributes of the users, or use roles")
	}
	id := k.idOf("group", firstText(g.ID, path))
	for _, role := range k.roleKeys(g.RealmRoles, g.ClientRoles) {
		granted[role] = append(granted[role], map[string]any{"type": "group", "id": id})
	}
	content.List = append(content.List, Resource{Plural: "groups", Key: path, Place: "group " + path, ForeignID: g.ID,
		Content: map[string]any{"id": id, "name": strings.TrimPrefix(path, "/"), "members": members}})
}

func roleKey(client, name string) string {
	if client == "" {
		return name
	}
	return client + ":" + name
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

func (k *keycloak) appendRole(keys []string, client, name string) []string {
	key := roleKey(client, name)
	if slices.Contains(keys, key) || client == "" && k.isDefaultRole(name) || isKeycloakClient(client) {
		return keys
	}
	keys = append(keys, key)
	roles := k.realm.Roles.Realm
	if client != "" {
		roles = k.realm.Roles.Client[client]
	}
	for _, role := range roles {
		if role.Name != name {
			continue
		}
		for _, other := range role.Composites.Realm {
			keys = k.appendRole(keys, "", other)
		}
		for id, names := range role.Composites.Client {
			for _, other := range names {
				keys = k.appendRole(keys, id, other)
			}
		}
	}
	return keys
}

// addRole adds a role. It grants nothing here: what a role means is known to the applications.
func (k *keycloak) addRole(content *Resources, r *Report, client string, role keycloakRole, granted map[string][]any) {
	if client == "" && k.isDefaultRole(role.Name) {
		return
	}
	key := roleKey(client, role.Name)
	if len(role.Composites.Realm)+len(role.Composites.Client) > 0 {
		r.add("roles", "role "+key, "roles do not include others: the users who have it also get the included ones, users who get it later do not", "assign roles to a group, and add users to the group")
	}
	assignments := granted[key]
	if assignments == nil {
		assignments = []any{}
	}
	content.List = append(content.List, Resource{Plural: "roles", Key: key, Place: "role " + key, ForeignID: role.ID, Content: map[string]any{
		"id": k.idOf("role", firstText(role.ID, key)), "name": key, "description": keycloakText(role.Description), "assignments": assignments,
	}})
}

// keycloakText returns a text that is not a key of a translation.
func keycloakText(text string) string {
	if strings.HasPrefix(text, "${") {
		return ""
	}
	return text
}

// addProvider adds an OpenID provider.
func (k *keycloak) addProvider(content *Resources, r *Report, p keycloakProvider) {
	place, issuer := "identity provider "+p.Alias, k.issuerOf(p.Alias)
	secret := p.Config["clientSecret"]
	switch {
	case p.ProviderID != "oidc" && p.ProviderID != "keycloak-oidc" && p.ProviderID != "google" || issuer == "":
		r.add("identity providers", place, fmt.Sprintf("a provider of the kind %.40q cannot be imported: only OpenID providers with an issuer can", p.ProviderID), "use the OpenID endpoint of the provider, if it has one (docs/federation.md)")
		return
	case secret == "" || strings.Trim(secret, "*") == "":
		r.add("identity providers", place, "the export has no client secret", "create the provider by hand before the import (docs/federation.md)")
		return
	}
	name := p.Name
	if name == "" {
		name = p.Alias
	}
	content.List = append(content.List, Resource{Plural: "identityProviders", Key: p.Alias, Place: place, ForeignID: p.ID, Secret: secret, Content: map[string]any{
		"id": k.idOf("identityProvider", p.ID+p.Alias), "handle": slug(p.Alias), "name": name, "issuer": issuer, "clientId": p.Config["clientId"], "clientSecret": secretSource(),
	}})
}

// issuerOf returns the issuer of a provider; "" for one without, such as GitHub.
func (k *keycloak) issuerOf(alias string) string {
	for _, p := range k.realm.Providers {
		if p.Alias == alias && p.ProviderID == "google" {
			return "https://accounts.google.com"
		}
		if p.Alias == alias {
			return p.Config["issuer"]
		}
	}
	return ""
}

// secretSource stands for the secret of a resource.
func secretSource() map[string]any { return map[string]any{"env": "SECRET"} }

func (k *keycloak) reportComponents(r *Report) {
	for _, c := range k.realm.Components["org.keycloak.storage.UserStorageProvider"] {
		r.add("users", "user federation "+c.Name, fmt.Sprintf("users of the provider %.40q are stored outside, with their passwords", c.ProviderID),
			"export them from there, or let users sign in at an OpenID provider in front of it (docs/federation.md)")
	}
}
