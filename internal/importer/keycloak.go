package importer

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
)

// keycloak is the export of a realm: one file, or a folder with REALM-realm.json and
// REALM-users-N.json.
type keycloak struct {
	Options
	files   []string
	realm   keycloakRealm
	raw     []any    // the realm as it was read from each file
	names   []string // of the realms in the files
	holders keycloakHolders
	found   []string // the members of objects without a realm
}

// keycloakRealm is a realm without its users.
type keycloakRealm struct {
	Realm         string     `json:"realm"`
	Enabled       *looseBool `json:"enabled"`
	EmailLogin    *looseBool `json:"loginWithEmailAllowed"`
	TokenLifetime looseText  `json:"accessTokenLifespan"` // of clients without one
	DefaultRoles  looseTexts `json:"defaultRoles"`        // of releases before 13
	DefaultGroups looseTexts `json:"defaultGroups"`
	PasskeyRP     string     `json:"webAuthnPolicyPasswordlessRpId"`
	Browser       string     `json:"browserFlow"`
	Roles         struct {
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
	Name    string           `json:"name"`
	Mappers []keycloakMapper `json:"protocolMappers"`
}

// keycloakMapper adds claims to tokens.
type keycloakMapper struct {
	Name   string               `json:"name"`
	Kind   string               `json:"protocolMapper"`
	Config map[string]looseText `json:"config"`
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
	Description string                `json:"description"`
	Path        string                `json:"path"` // follows from the names
	SubGroups   rows[keycloakGroup]   `json:"subGroups"`
	RealmRoles  []string              `json:"realmRoles"`
	ClientRoles map[string][]string   `json:"clientRoles"`
	Attributes  map[string]looseTexts `json:"attributes"`
}

type keycloakProvider struct {
	ID         string                 `json:"internalId"`
	Alias      string                 `json:"alias"`
	Name       string                 `json:"displayName"`
	ProviderID string                 `json:"providerId"`
	Enabled    *looseBool             `json:"enabled"`
	Config     keycloakProviderConfig `json:"config"`
}

type keycloakProviderConfig struct {
	ClientID     looseText `json:"clientId"`
	ClientSecret looseText `json:"clientSecret"`
	ClientAuth   looseText `json:"clientAuthMethod"`
	Issuer       looseText `json:"issuer"`
	Scopes       looseText `json:"defaultScope"`
	HostedDomain looseText `json:"hostedDomain"` // of Google

	// The metadata of the issuer have these, and every sign-in here uses PKCE and verifies signatures.
	AuthorizationURL looseText `json:"authorizationUrl"`
	TokenURL         looseText `json:"tokenUrl"`
	UserinfoURL      looseText `json:"userInfoUrl"`
	KeySetURL        looseText `json:"jwksUrl"`
	UseKeySetURL     looseText `json:"useJwksUrl"`
	MetadataURL      looseText `json:"metadataDescriptorUrl"`
	Validate         looseText `json:"validateSignature"`
	PKCE             looseText `json:"pkceEnabled"`
	PKCEMethod       looseText `json:"pkceMethod"`
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
		return nil, fmt.Errorf("%s has no member \"realm\"%s: expected the files of `kc.sh export --dir`, REALM-realm.json and REALM-users-0.json", dir, k.foundMembers())
	}
	return k, nil
}

// readRealm reads everything but the users of a file: a realm, or the list of all realms of a server.
func (k *keycloak) readRealm(r io.Reader) error {
	return eachObject(r, func(d *json.Decoder) error {
		members, holders := map[string]json.RawMessage{}, keycloakHolders{}
		err := eachMember(d, func(name string) error {
			switch name {
			case "users":
				return holders.read(d)
			case "federatedUsers":
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
		return k.addRealm(members, holders)
	})
}

// addRealm adds the members of a realm, unless another one is chosen by name. An object without a realm has users,
// or is something else.
func (k *keycloak) addRealm(members map[string]json.RawMessage, holders keycloakHolders) error {
	var realm string
	if json.Unmarshal(members["realm"], &realm) != nil {
		k.found = append(k.found, sortedKeys(members)...)
		if k.Name == "" {
			k.holders.add(holders)
		}
		return nil
	}
	if k.Name != "" && realm != k.Name {
		return nil
	}
	k.holders.add(holders)
	if !slices.Contains(k.names, realm) {
		k.names = append(k.names, realm)
	}
	text, err := json.Marshal(members)
	if err != nil {
		return err
	}
	var raw any
	if err := json.Unmarshal(text, &raw); err != nil {
		return err
	}
	withoutKeycloakClients(raw)
	if names := unfilled(raw, reflect.TypeFor[keycloakRealm]()); len(names) > 0 {
		return fmt.Errorf("the realm has placeholders (%s), which Keycloak fills in when it imports the file: replace each by its value, for example with envsubst, and import the result", strings.Join(names, ", "))
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
	granted := map[string][]any{} // the groups and applications that have a role, by its key
	for _, g := range k.realm.Groups.List {
		k.addGroup(content, r, g, "", granted)
	}
	k.sortGroups(content)
	k.grantServiceAccounts(content, r, granted)
	for _, role := range k.realm.Roles.Realm.List {
		k.addRole(content, r, "", role, granted)
	}
	for _, client := range sortedKeys(k.realm.Roles.Client) {
		if !isKeycloakClient(client) {
			for _, role := range k.realm.Roles.Client[client].List {
				k.addRole(content, r, client, role, granted)
			}
		}
	}
	k.addNamedRoles(content, granted)
	k.reportRealm(r)
	k.reportComponents(r)
	k.reportScopes(r)
	k.translateFlows(content, r)
	for _, raw := range k.raw {
		k.unread(r).find(raw, reflect.TypeFor[keycloakRealm](), "", "realm "+k.realm.Realm)
	}
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

// isDefaultRole reports whether a role is one that every user of every realm has.
func (k *keycloak) isDefaultRole(name string) bool {
	return name == "offline_access" || name == "uma_authorization" || strings.EqualFold(name, "default-roles-"+k.realm.Realm) || name != "" && name == k.realm.DefaultRole.Name
}

// addGroup adds a group and those below it, which are its members: they inherit its roles.
func (k *keycloak) addGroup(content *Resources, r *Report, g keycloakGroup, above string, granted map[string][]any) {
	path := above + "/" + g.Name
	members := []any{}
	for _, below := range g.SubGroups.List {
		k.addGroup(content, r, below, path, granted)
		members = append(members, map[string]any{"type": "group", "id": k.idOf("group", firstText(below.ID, path+"/"+below.Name))})
	}
	if len(g.Attributes) > 0 {
		r.add("groups", "group "+path, "the attributes of the group are not imported", "groups have none: set attributes of the users, or use roles")
	}
	r.addBad("groups", g.SubGroups.bad...)
	k.reportAdministration(r, "groups", "group "+path, g.ClientRoles)
	id := k.idOf("group", firstText(g.ID, path))
	for _, role := range k.roleKeys(g.RealmRoles, g.ClientRoles) {
		granted[role] = append(granted[role], map[string]any{"type": "group", "id": id})
	}
	content.List = append(content.List, Resource{Plural: "groups", Key: path, Place: "group " + path, ForeignID: g.ID,
		Content: map[string]any{"id": id, "name": strings.TrimPrefix(path, "/"), "description": g.Description, "members": members}})
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
	secret, method := string(p.Config.ClientSecret), string(p.Config.ClientAuth)
	switch {
	case isFalse(p.Enabled):
		r.add("identity providers", place, "a disabled provider is not imported", "create it when you need it")
		return
	case p.ProviderID != "oidc" && p.ProviderID != "keycloak-oidc" && p.ProviderID != "google" || issuer == "":
		r.add("identity providers", place, fmt.Sprintf("a provider of the kind %.40q cannot be imported: only OpenID providers with an issuer can", p.ProviderID), "use the OpenID endpoint of the provider, if it has one (docs/federation.md)")
		return
	case strings.HasSuffix(method, "_jwt"):
		r.add("identity providers", place, fmt.Sprintf("the client authentication %.40q at the provider is not supported", method), "register a client with a secret there, and create the provider by hand (docs/federation.md)")
		return
	case secret == "" || strings.Trim(secret, "*") == "":
		r.add("identity providers", place, "the export has no client secret", "create the provider by hand before the import (docs/federation.md)")
		return
	}
	if p.Config.HostedDomain != "" {
		r.add("identity providers", place, "the limit to users of a hosted domain is not imported: users of other domains can sign in with the provider", "limit who may sign in at the provider, or check the address in the flow")
	}
	c := map[string]any{"id": k.idOf("identityProvider", p.ID+p.Alias), "handle": slug(p.Alias), "name": firstText(p.Name, p.Alias), "issuer": issuer, "clientId": string(p.Config.ClientID), "clientSecret": secretSource()}
	if method != "" {
		c["tokenEndpointAuthMethod"] = method
	}
	if scopes := strings.Fields(string(p.Config.Scopes)); len(scopes) > 0 {
		c["scopes"] = scopes
	}
	content.List = append(content.List, Resource{Plural: "identityProviders", Key: p.Alias, Place: place, ForeignID: p.ID, Secret: secret, Content: c})
}

// issuerOf returns the issuer of a provider; "" for one without, such as GitHub.
func (k *keycloak) issuerOf(alias string) string {
	for _, p := range k.realm.Providers.List {
		if p.Alias == alias && p.ProviderID == "google" {
			return "https://accounts.google.com"
		}
		if p.Alias == alias {
			return string(p.Config.Issuer)
		}
	}
	return ""
}

// secretSource stands for the secret of a resource.
func secretSource() map[string]any { return map[string]any{"env": "SECRET"} }
