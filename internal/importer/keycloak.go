package importer

import (
	"encoding/json"
	"fmt"
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

	prefixes   map[string]string // of the names of roles here, by client: see nameRoles
	usedScopes map[string]bool   // client scopes that an imported client has
	reported   map[string]bool   // findings about client scopes
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
	Groups    rows[keycloakGroup]    `json:"groups"`
	Clients   rows[keycloakClient]   `json:"clients"`
	Providers rows[keycloakProvider] `json:"identityProviders"`
	Scopes    rows[keycloakScope]    `json:"clientScopes"`

	// The client scopes of clients without lists of their own.
	DefaultScopes  []string `json:"defaultDefaultClientScopes"`
	OptionalScopes []string `json:"defaultOptionalClientScopes"`

	ScopeMappings       []keycloakScopeMapping            `json:"scopeMappings"`
	ClientScopeMappings map[string][]keycloakScopeMapping `json:"clientScopeMappings"` // by the client of the roles

	Flows       []keycloakFlow `json:"authenticationFlows"`
	FlowConfigs []struct {
		Alias  string            `json:"alias"`
		Config map[string]string `json:"config"`
	} `json:"authenticatorConfig"`
	Components map[string][]struct {
		Name       string `json:"name"`
		ProviderID string `json:"providerId"`
	} `json:"components"`
}

func openKeycloak(dir string, o Options) (Source, error) {
	files, err := filesIn(dir, "*.json")
	if err != nil {
		return nil, err
	}
	k := &keycloak{Options: o, files: files, usedScopes: map[string]bool{}}
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
	k.nameRoles()
	return k, nil
}

// readRealm reads everything but the users of a file: a realm, or the list of all realms of a server.
func (k *keycloak) readRealm(r *positions) error {
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

// has reports whether the realm has a member with content.
func (k *keycloak) has(member string) bool {
	return slices.ContainsFunc(k.raw, func(raw any) bool {
		realm, _ := raw.(map[string]any)
		return !isEmpty(realm[member])
	})
}

// Resources implements Source.
func (k *keycloak) Resources(r *Report) (*Resources, error) {
	content := &Resources{Name: k.realm.Realm, Flows: map[string][]byte{}}
	k.reportBad(r)
	k.reported = map[string]bool{} // a dry run comes before the import
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
