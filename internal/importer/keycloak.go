package importer

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// keycloak is the export of a realm: one file, or a folder with REALM-realm.json and
// REALM-users-N.json.
type keycloak struct {
	Options
	files []string
	realm keycloakRealm
	raw   []any    // the realm as it was read from each file
	names []string // of the realms in the files
}

// keycloakRealm is a realm without its users.
type keycloakRealm struct {
	Realm     string `json:"realm"`
	PasskeyRP string `json:"webAuthnPolicyPasswordlessRpId"`
	Browser   string `json:"browserFlow"`
	Roles     struct {
		Realm  rows[keycloakRole]            `json:"realm"`
		Client map[string]rows[keycloakRole] `json:"client"`
	} `json:"roles"`
	DefaultRole struct {
		Name string `json:"name"`
	} `json:"defaultRole"`
	Groups      rows[keycloakGroup]    `json:"groups"`
	Clients     rows[keycloakClient]   `json:"clients"`
	Providers   rows[keycloakProvider] `json:"identityProviders"`
	Scopes      rows[keycloakScope]    `json:"clientScopes"`
	Flows       []keycloakFlow         `json:"authenticationFlows"`
	FlowConfigs []struct {
		Alias  string            `json:"alias"`
		Config map[string]string `json:"config"`
	} `json:"authenticatorConfig"`
	Components map[string][]struct {
		Name       string `json:"name"`
		ProviderID string `json:"providerId"`
	} `json:"components"`
}

// keycloakScope is a client scope. Those of every realm are named in isKeycloakScope.
type keycloakScope struct {
	Name    string            `json:"name"`
	Mappers []json.RawMessage `json:"protocolMappers"`
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
	ID          string                `json:"id"`
	Name        string                `json:"name"`
	Path        string                `json:"path"`
	SubGroups   []keycloakGroup       `json:"subGroups"`
	RealmRoles  []string              `json:"realmRoles"`
	ClientRoles map[string][]string   `json:"clientRoles"`
	Attributes  map[string]looseTexts `json:"attributes"`
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
	Mappers        []json.RawMessage `json:"protocolMappers"`
	FlowOverrides  map[string]string `json:"authenticationFlowBindingOverrides"`
	DefaultScopes  []string          `json:"defaultClientScopes"`
	OptionalScopes []string          `json:"optionalClientScopes"`
	Attributes     struct {
		Backchannel   looseText `json:"backchannel.logout.url"`
		Refresh       looseText `json:"use.refresh.tokens"`
		KeySet        looseText `json:"jwks.url"`
		Logouts       looseText `json:"post.logout.redirect.uris"`
		PKCE          looseText `json:"pkce.code.challenge.method"`
		TokenLifetime looseText `json:"access.token.lifespan"`
	} `json:"attributes"`
}

type keycloakProvider struct {
	ID         string               `json:"internalId"`
	Alias      string               `json:"alias"`
	Name       string               `json:"displayName"`
	ProviderID string               `json:"providerId"`
	Enabled    *bool                `json:"enabled"`
	Config     map[string]looseText `json:"config"`
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
	if len(k.names) > 1 {
		return nil, fmt.Errorf("%s has the realms %s: name the one to import with --name, and import each with its own command", dir, strings.Join(k.names, ", "))
	}
	if k.realm.Realm == "" {
		return nil, fmt.Errorf("%s has no realm: expected the files of `kc.sh export --dir`, REALM-realm.json and REALM-users-0.json", dir)
	}
	return k, nil
}

// readRealm reads everything but the users of a file: a realm, or the list of all realms of a server.
func (k *keycloak) readRealm(r io.Reader) error {
	return eachObject(r, func(d *json.Decoder) error {
		members := map[string]json.RawMessage{}
		err := eachMember(d, func(name string) error {
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
		return k.addRealm(members)
	})
}

// addRealm adds the members of a realm, unless another one is chosen by name. An object without a realm is
// something else.
func (k *keycloak) addRealm(members map[string]json.RawMessage) error {
	var realm string
	if json.Unmarshal(members["realm"], &realm) != nil || k.Name != "" && realm != k.Name {
		return nil
	}
	if !slices.Contains(k.names, realm) {
		k.names = append(k.names, realm)
	}
	text, err := json.Marshal(members)
	if err != nil {
		return err
	}
	if names := placeholderNames(string(text)); len(names) > 0 {
		return fmt.Errorf("the realm has placeholders (%s), which Keycloak fills in when it imports the file: replace each by its value, for example with envsubst, and import the result", strings.Join(names, ", "))
	}
	var raw any
	if err := json.Unmarshal(text, &raw); err != nil {
		return err
	}
	k.raw = append(k.raw, raw)
	return withoutValue(json.Unmarshal(text, &k.realm))
}

func (k *keycloak) idOf(noun, foreign string) string {
	return idOf("keycloak", k.realm.Realm, noun, foreign)
}

// Resources implements Source.
func (k *keycloak) Resources(r *Report) (*Resources, error) {
	content := &Resources{Name: k.realm.Realm, Flows: map[string][]byte{}}
	k.reportBad(r)
	for _, p := range k.realm.Providers.List {
		k.addProvider(content, r, p)
	}
	for _, c := range k.realm.Clients.List {
		k.addClient(content, r, c)
	}
	granted := map[string][]any{} // groups by the key of a role
	for _, g := range k.realm.Groups.List {
		k.addGroup(content, r, g, "", granted)
	}
	k.sortGroups(content)
	for _, role := range k.realm.Roles.Realm.List {
		k.addRole(content, r, "", role, granted)
	}
	for client, roles := range k.realm.Roles.Client {
		if !isKeycloakClient(client) {
			for _, role := range roles.List {
				k.addRole(content, r, client, role, granted)
			}
		}
	}
	k.reportComponents(r)
	k.reportScopes(r)
	k.translateFlows(content, r)
	for _, raw := range k.raw {
		withoutKeycloakClients(raw)
		k.unread(r).find(raw, reflect.TypeFor[keycloakRealm](), "", "realm "+k.realm.Realm)
	}
	return content, nil
}

// withoutKeycloakClients removes what every realm has.
func withoutKeycloakClients(raw any) {
	realm, _ := raw.(map[string]any)
	clients, _ := realm["clients"].([]any)
	realm["clients"] = slices.DeleteFunc(clients, func(c any) bool {
		object, _ := c.(map[string]any)
		return isKeycloakClient(textOf(object["clientId"]))
	})
	if roles, ok := realm["roles"].(map[string]any); ok {
		if byClient, ok := roles["client"].(map[string]any); ok {
			maps.DeleteFunc(byClient, func(client string, _ any) bool { return isKeycloakClient(client) })
		}
	}
}

// placeholder is a place that the environment of Keycloak fills in when it imports a realm. Keys of
// translations, such as ${role_admin}, are in lower case.
var placeholder = regexp.MustCompile(`\$\{(?:env\.)?([A-Z][A-Z0-9_]*)[^}]*\}`)

// placeholderNames returns the names of placeholders, each once.
func placeholderNames(text string) (names []string) {
	for _, m := range placeholder.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(names, m[1]) {
			names = append(names, m[1])
		}
	}
	return names
}

// reportBad reports the records that cannot be read.
func (k *keycloak) reportBad(r *Report) {
	r.addBad("clients", k.realm.Clients.bad...)
	r.addBad("identity providers", k.realm.Providers.bad...)
	r.addBad("groups", k.realm.Groups.bad...)
	r.addBad("roles", k.realm.Roles.Realm.bad...)
	r.addBad("client scopes", k.realm.Scopes.bad...)
	for _, roles := range k.realm.Roles.Client {
		r.addBad("roles", roles.bad...)
	}
}

// unread finds the members that are not imported.
func (k *keycloak) unread(r *Report) unreadMembers {
	return unreadMembers{r, []string{
		// They say what other members say, or nothing outside of Keycloak.
		"id", "enabled", "keycloakVersion", "defaultRole.id", "defaultRole.composite", "defaultRole.clientRole", "defaultRole.containerId", "defaultRole.description",
		"roles.realm.composite", "roles.realm.clientRole", "roles.realm.containerId", "roles.client.composite", "roles.client.clientRole", "roles.client.containerId",
		"groups.parentId", "groups.subGroupCount", "groups.access", "groups.subGroups.parentId", "groups.subGroups.subGroupCount", "groups.subGroups.access",
		"users.totp", "users.disableableCredentialTypes", "users.access", "users.origin", "users.self", "users.credentials.id", "users.credentials.priority",
		"clients.access", "clients.attributes.client.secret.creation.time", "clients.attributes.realm_client", "clients.nodeReRegistrationTimeout", "clients.fullScopeAllowed", "clientScopes.id", "clientScopes.protocol", "clientScopes.attributes", "clientScopes.description",
		// Other code reports them.
		"authenticationFlows", "authenticatorConfig", "components", "users.attributes", "identityProviders.config",
	}}
}

// isKeycloakScope reports whether every realm has the client scope. Its claims are standard ones.
func isKeycloakScope(name string) bool {
	return slices.Contains([]string{"acr", "address", "basic", "email", "microprofile-jwt", "offline_access", "organization", "phone", "profile", "role_list", "roles", "saml_organization", "service_account", "web-origins", "openid"}, name)
}

// reportScopes reports the client scopes, which have claims and audiences of their own.
func (k *keycloak) reportScopes(r *Report) {
	for _, s := range k.realm.Scopes.List {
		if !isKeycloakScope(s.Name) {
			r.add("client scopes", "client scope "+s.Name, "the client scope is not imported, with its mappers", "create a resource server with a permission of this name, or release the attributes with standard scopes")
		}
	}
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
	return name == "offline_access" || name == "uma_authorization" || strings.EqualFold(name, "default-roles-"+k.realm.Realm) || name != "" && name == k.realm.DefaultRole.Name
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

// appendRole adds the keys of a role and of those that it includes. The default role itself means nothing here,
// but what it includes does.
func (k *keycloak) appendRole(keys []string, client, name string) []string {
	return k.appendRoles(keys, map[string]bool{}, client, name)
}

func (k *keycloak) appendRoles(keys []string, seen map[string]bool, client, name string) []string {
	key := roleKey(client, name)
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
	secret := string(p.Config["clientSecret"])
	switch {
	case p.Enabled != nil && !*p.Enabled:
		r.add("identity providers", place, "a disabled provider is not imported", "create it when you need it")
		return
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
		"id": k.idOf("identityProvider", p.ID+p.Alias), "handle": slug(p.Alias), "name": name, "issuer": issuer, "clientId": string(p.Config["clientId"]), "clientSecret": secretSource(),
	}})
}

// issuerOf returns the issuer of a provider; "" for one without, such as GitHub.
func (k *keycloak) issuerOf(alias string) string {
	for _, p := range k.realm.Providers.List {
		if p.Alias == alias && p.ProviderID == "google" {
			return "https://accounts.google.com"
		}
		if p.Alias == alias {
			return string(p.Config["issuer"])
		}
	}
	return ""
}

// secretSource stands for the secret of a resource.
func secretSource() map[string]any { return map[string]any{"env": "SECRET"} }

func (k *keycloak) reportComponents(r *Report) {
	for kind, components := range k.realm.Components {
		if kind == "org.keycloak.storage.UserStorageProvider" || kind == "org.keycloak.keys.KeyProvider" {
			continue // below; and keys never move
		}
		for _, c := range components {
			r.add("members that are not read", "component "+c.Name, "components."+kind, "")
		}
	}
	for _, c := range k.realm.Components["org.keycloak.storage.UserStorageProvider"] {
		r.add("users", "user federation "+c.Name, fmt.Sprintf("users of the provider %.40q are stored outside, with their passwords", c.ProviderID),
			"export them from there, or let users sign in at an OpenID provider in front of it (docs/federation.md)")
	}
}
