package importer

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// claimsOf returns the claims of the client web of a realm by their names, the configuration of the client, and the report.
func claimsOf(t *testing.T, realm string) (byName map[string]map[string]any, config map[string]any, report string) {
	t.Helper()
	content, _, r := readExport(t, "keycloak", writeRealm(t, realm), Options{})
	byName = map[string]map[string]any{}
	for _, resource := range content.List {
		if resource.Plural != "applications" || resource.Key != "web" {
			continue
		}
		var application struct {
			InboundAuthConfig []struct{ Config map[string]any }
		}
		if err := json.Unmarshal([]byte(inline(resource.Content)), &application); err != nil {
			t.Fatal(err)
		}
		config = application.InboundAuthConfig[0].Config
		list, _ := config["claims"].([]any)
		for _, c := range list {
			claim := c.(map[string]any)
			name := firstText(textOf(claim["name"]), strings.Join(textsOf(claim["path"]), "|"))
			delete(claim, "name")
			delete(claim, "path")
			byName[name] = claim
		}
	}
	return byName, config, realmText(content, r)
}

// withMapper returns a realm with a client whose only mapper has the kind and the configuration.
func withMapper(kind, config string) string {
	return `{"realm":"acme","roles":{"realm":[{"name":"boss"}],"client":{"web":[{"name":"buyer"}],"api.v1":[{"name":"reader"}]}},
		"clients":[{"clientId":"web",` + someSecret + `,"redirectUris":["https://web.example/cb"],"webOrigins":["+"],"defaultClientScopes":[],"protocolMappers":[
		{"name":"m","protocol":"openid-connect","protocolMapper":"` + kind + `","config":` + config + `}]}]}`
}

// TestMappers: each kind of mapper becomes the claim that its documentation describes
// (https://www.keycloak.org/docs/latest/server_admin/#_protocol-mappers), or is reported.
func TestMappers(t *testing.T) {
	const (
		attribute = "oidc-usermodel-attribute-mapper"
		property  = "oidc-usermodel-property-mapper"
		constant  = "oidc-hardcoded-claim-mapper"
		id        = `"id.token.claim":"true","userinfo.token.claim":"false","introspection.token.claim":"false"`
		toID      = `"targets":["idToken"]`
		others    = `"exclude":"api\\.v1:.*|web:.*","omitEmpty":true`
	)
	for name, test := range map[string]struct {
		kind, config string
		want         string // the claims by their names
		report       string // a part of the report; "" for an empty one
	}{
		"an attribute":            {attribute, `{` + id + `,"claim.name":"team","user.attribute":"team","jsonType.label":"String"}`, `{"team":{"source":"attribute","first":true,"type":"string",` + toID + `}}`, ""},
		"a renamed attribute":     {attribute, `{` + id + `,"claim.name":"t","user.attribute":"team"}`, `{"t":{"source":"attribute","attribute":"team","first":true,"type":"string",` + toID + `}}`, ""},
		"several values":          {attribute, `{` + id + `,"claim.name":"t","user.attribute":"t","multivalued":"true"}`, `{"t":{"source":"attribute","type":"list",` + toID + `}}`, ""},
		"a number":                {attribute, `{` + id + `,"claim.name":"n","user.attribute":"n","jsonType.label":"int"}`, `{"n":{"source":"attribute","first":true,"type":"number",` + toID + `}}`, ""},
		"a truth value":           {attribute, `{` + id + `,"claim.name":"b","user.attribute":"b","jsonType.label":"boolean"}`, `{"b":{"source":"attribute","first":true,"type":"boolean",` + toID + `}}`, ""},
		"an object":               {attribute, `{` + id + `,"claim.name":"o","user.attribute":"o","jsonType.label":"JSON"}`, `{"o":{"source":"attribute","first":true,"type":"object",` + toID + `}}`, ""},
		"several numbers":         {attribute, `{` + id + `,"claim.name":"n","user.attribute":"n","multivalued":"true","jsonType.label":"long"}`, `{"n":{"source":"attribute","type":"list",` + toID + `}}`, `the items of the claim "n" have the type of the attribute, and not long`},
		"attributes of groups":    {attribute, `{` + id + `,"claim.name":"n","user.attribute":"n","aggregate.attrs":"true"}`, `{"n":{"source":"attribute","first":true,"type":"string",` + toID + `}}`, `the claim "n" does not have the values of the user's groups (aggregate.attrs)`},
		"a standard claim":        {attribute, `{` + id + `,"claim.name":"phone_number","user.attribute":"phoneNumber","jsonType.label":"String"}`, `{"phone_number":{"source":"attribute",` + toID + `}}`, ""},
		"a name as an attribute":  {attribute, `{` + id + `,"claim.name":"sn","user.attribute":"lastName"}`, `{"sn":{"source":"attribute","attribute":"family_name",` + toID + `}}`, ""},
		"no attribute":            {attribute, `{` + id + `,"claim.name":"sn"}`, `{}`, "the mapper has no attribute"},
		"nested":                  {attribute, `{` + id + `,"claim.name":"a.b","user.attribute":"b"}`, `{"a.b":{"source":"attribute","first":true,"type":"string",` + toID + `}}`, ""},
		"escaped dots":            {attribute, `{` + id + `,"claim.name":"https://x\\.example/c.d\\.e","user.attribute":"b"}`, `{"https://x.example/c|d.e":{"source":"attribute","attribute":"b","first":true,"type":"string",` + toID + `}}`, ""},
		"an empty level":          {attribute, `{` + id + `,"claim.name":"a..b","user.attribute":"b"}`, `{}`, "cannot be used here: expected one to five levels"},
		"no name":                 {attribute, `{` + id + `,"user.attribute":"b"}`, `{}`, "cannot be used here"},
		"a claim of the protocol": {property, `{` + id + `,"claim.name":"sub","user.attribute":"username"}`, `{}`, `the claim "sub" belongs to the protocol`},
		"the id":                  {property, `{` + id + `,"claim.name":"uid","user.attribute":"id"}`, `{"uid":{"source":"expression","expression":"user.id",` + toID + `}}`, ""},
		"whether it is verified":  {property, `{` + id + `,"claim.name":"email_verified","user.attribute":"emailVerified","jsonType.label":"boolean"}`, `{"email_verified":{"source":"attribute",` + toID + `}}`, ""},
		"when it was created":     {property, `{` + id + `,"claim.name":"since","user.attribute":"createdTimestamp"}`, `{}`, `the property "createdTimestamp" of users is not imported: the claim "since" is missing`},
		"whether it is enabled":   {property, `{` + id + `,"claim.name":"enabled","user.attribute":"enabled"}`, `{"enabled":{"source":"constant","value":"true","type":"boolean",` + toID + `}}`, ""},
		"the full name":           {"oidc-full-name-mapper", `{` + id + `}`, `{"name":{"source":"attribute",` + toID + `}}`, ""},
		"the address":             {"oidc-address-mapper", `{` + id + `}`, `{"address":{"source":"attribute",` + toID + `}}`, ""},
		"paths of groups":         {"oidc-group-membership-mapper", `{` + id + `,"claim.name":"g","full.path":"true"}`, `{"g":{"source":"groups","direct":true,"addPrefix":"/",` + toID + `}}`, ""},
		"names of groups":         {"oidc-group-membership-mapper", `{` + id + `,"claim.name":"g","full.path":"false"}`, `{"g":{"source":"groups","direct":true,"remove":".*/",` + toID + `}}`, ""},
		"realm roles":             {"oidc-usermodel-realm-role-mapper", `{` + id + `,"claim.name":"r","multivalued":"true","usermodel.realmRoleMapping.rolePrefix":"R_"}`, `{"r":{"source":"roles","addPrefix":"R_",` + others + `,` + toID + `}}`, ""},
		"one realm role":          {"oidc-usermodel-realm-role-mapper", `{` + id + `,"claim.name":"r"}`, `{"r":{"source":"roles","first":true,"exclude":"api\\.v1:.*|web:.*",` + toID + `}}`, ""},
		"roles of a client":       {"oidc-usermodel-client-role-mapper", `{` + id + `,"claim.name":"r","multivalued":"true","usermodel.clientRoleMapping.clientId":"api.v1"}`, `{"r":{"source":"roles","prefix":"api.v1:","removePrefix":true,"omitEmpty":true,` + toID + `}}`, ""},
		"roles of all clients": {"oidc-usermodel-client-role-mapper", `{` + id + `,"claim.name":"resource_access.${client_id}.roles","multivalued":"true"}`,
			`{"resource_access|api.v1|roles":{"source":"roles","prefix":"api.v1:","removePrefix":true,"omitEmpty":true,` + toID + `},"resource_access.web.roles":{"source":"roles","prefix":"web:","removePrefix":true,"omitEmpty":true,` + toID + `}}`, ""},
		"roles of all clients in one list": {"oidc-usermodel-client-role-mapper", `{` + id + `,"claim.name":"r","multivalued":"true"}`,
			`{"r":{"source":"roles","filter":"api\\.v1:.*|web:.*","remove":"^(?:api\\.v1:|web:)","omitEmpty":true,` + toID + `}}`, ""},
		"roles of Keycloak": {"oidc-usermodel-client-role-mapper", `{` + id + `,"claim.name":"r","usermodel.clientRoleMapping.clientId":"account"}`, `{}`, `the roles of the client "account" are not imported: the claim "r" is missing`},
		"a constant":        {constant, `{` + id + `,"claim.name":"c","claim.value":"acme"}`, `{"c":{"source":"constant","value":"acme",` + toID + `}}`, ""},
		"a constant number": {constant, `{` + id + `,"claim.name":"c","claim.value":"7","jsonType.label":"long"}`, `{"c":{"source":"constant","value":"7","type":"number",` + toID + `}}`, ""},
		"a constant object": {constant, `{` + id + `,"claim.name":"c","claim.value":"{\"a\":1}","jsonType.label":"JSON"}`, `{"c":{"source":"constant","value":"{\"a\":1}","type":"object",` + toID + `}}`, ""},
		"a constant list":   {constant, `{` + id + `,"claim.name":"c","claim.value":"[\"a\",true]","jsonType.label":"JSON"}`, `{"c":{"source":"expression","expression":"[\"a\",true]",` + toID + `}}`, ""},
		"an empty constant": {constant, `{` + id + `,"claim.name":"c"}`, `{}`, "is empty, or longer"},
		"origins":           {"oidc-allowed-origins-mapper", `{}`, `{"allowed-origins":{"source":"constant","value":"https://web.example","type":"list","separator":" ","targets":["accessToken","introspection"]}}`, ""},
		"an audience":       {"oidc-audience-mapper", `{"included.custom.audience":"https://api.example","access.token.claim":"true"}`, `{}`, `access tokens do not have the audience "https://api.example"`},
		"its own audience":  {"oidc-audience-mapper", `{"included.client.audience":"web","access.token.claim":"true"}`, `{}`, ""},
		"audiences":         {"oidc-audience-resolve-mapper", `{}`, `{}`, "access tokens do not have the clients in which the user has roles as audiences"},
		"a fixed role":      {"oidc-hardcoded-role-mapper", `{"role":"api.v1.reader"}`, `{}`, `tokens do not have the role "api.v1.reader"`},
		"a renamed role":    {"oidc-role-name-mapper", `{"role":"boss","new.role.name":"chief"}`, `{}`, `the role "boss" keeps its name in tokens, instead of "chief"`},
		"a note":            {"oidc-usersessionmodel-note-mapper", `{` + id + `,"claim.name":"n","user.session.note":"ua"}`, `{}`, `sessions have no notes: the claim "n" from "ua" is missing`},
		"the time":          {"oidc-usersessionmodel-note-mapper", `{` + id + `,"claim.name":"auth_time","user.session.note":"AUTH_TIME"}`, `{}`, ""},
		"a pairwise sub":    {"oidc-sha256-pairwise-sub-mapper", `{}`, `{}`, "the sub of a user is the same for all applications"},
		"the sub":           {"oidc-sub-mapper", `{"access.token.claim":"true"}`, `{}`, ""},
		"the class":         {"oidc-acr-mapper", `{` + id + `}`, `{}`, ""},
		"a script":          {"script-risk.js", `{` + id + `,"claim.name":"risk"}`, `{}`, `scripts are not run: the claim "risk" is missing`},
		"an older script":   {"oidc-script-based-protocol-mapper", `{` + id + `,"claim.name":"risk"}`, `{}`, `scripts are not run: the claim "risk" is missing`},
		"one of their own":  {"acme-mapper", `{` + id + `,"claim.name":"x"}`, `{}`, `a mapper of the kind "acme-mapper" is not known: the claim "x" is missing`},
		"nowhere":           {attribute, `{"id.token.claim":"false","access.token.claim":"false","userinfo.token.claim":"false","introspection.token.claim":"false","claim.name":"t","user.attribute":"t"}`, `{}`, ""},
		"an older export":   {constant, `{"id.token.claim":"true","access.token.claim":"true","claim.name":"c","claim.value":"x"}`, `{"c":{"source":"constant","value":"x","targets":["idToken","userinfo","accessToken","introspection"]}}`, ""},
		"the username":      {attribute, `{"access.token.claim":"true","claim.name":"username","user.attribute":"username"}`, `{"username":{"source":"attribute","targets":["accessToken"]}}`, ""},
	} {
		got, _, report := claimsOf(t, withMapper(test.kind, test.config))
		var want map[string]map[string]any
		if err := json.Unmarshal([]byte(test.want), &want); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the claims are %s, expected %s", name, inline(got), test.want)
		}
		if test.report == "" && report != "" || !strings.Contains(report, test.report) || test.report != "" && !strings.Contains(report, "client web, mapper m ("+test.kind+")") {
			t.Errorf("%s: the report is %s", name, report)
		}
	}
}

// TestClientScopes: the default client scopes of a client apply to all tokens, the optional ones to those that request
// them. A client without lists has those of the realm, and a realm without client scopes those of Keycloak.
func TestClientScopes(t *testing.T) {
	const team = `{"name":"team","protocolMapper":"oidc-usermodel-attribute-mapper","config":{"id.token.claim":"true","claim.name":"team","user.attribute":"team"}}`
	const scopes = `"clientScopes":[{"name":"staff","protocolMappers":[` + team + `]},{"name":"email","protocolMappers":[{"name":"email","protocolMapper":"oidc-usermodel-attribute-mapper","config":{"id.token.claim":"true","claim.name":"email","user.attribute":"email"}}]},
		{"name":"read:orders","protocolMappers":[]},{"name":"hidden","attributes":{"include.in.token.scope":"false"},"protocolMappers":[` + team + `]},{"name":"saml","protocol":"saml"},{"name":"profile:x"}]`
	client := func(members string) string {
		return `"clients":[{"clientId":"web",` + someSecret + `,"redirectUris":["https://web.example/cb"]` + members + `}]`
	}
	for name, test := range map[string]struct {
		realm             string
		names, scopes     []string
		own               string // scopeClaims
		release           string // the scopes of the claim team
		report, unwritten string
	}{
		"an optional scope":     {scopes + `,` + client(`,"optionalClientScopes":["staff","email"]`), []string{"email", "team"}, []string{"openid", "email"}, `{"email":[],"staff":[]}`, `["staff"]`, "", "staff"},
		"a default scope":       {scopes + `,` + client(`,"defaultClientScopes":["staff","email"]`), []string{"email", "team"}, []string{"openid", "email"}, `{"email":[],"staff":[]}`, `null`, `tokens have the default client scope "staff" in their member scope only if`, `"email"`},
		"both":                  {scopes + `,` + client(`,"defaultClientScopes":["hidden"],"optionalClientScopes":["staff"]`), []string{"team"}, []string{"openid"}, `{"staff":[]}`, `null`, "", "another mapper"},
		"a scope of the realm":  {scopes + `,"defaultDefaultClientScopes":["email"],"defaultOptionalClientScopes":["staff"],` + client(""), []string{"email", "team"}, []string{"openid", "email"}, `{"email":[],"staff":[]}`, `["staff"]`, "", "staff"},
		"no scopes":             {scopes + `,` + client(""), nil, []string{"openid"}, `null`, `null`, "no imported client has the client scope", ""},
		"a scope with a colon":  {scopes + `,` + client(`,"optionalClientScopes":["read:orders"]`), nil, []string{"openid"}, `{"read:orders":[]}`, `null`, "", `"read:orders"`},
		"the name of this one":  {scopes + `,` + client(`,"optionalClientScopes":["profile:x","saml","staff"]`), []string{"team"}, []string{"openid"}, `{"staff":[]}`, `["staff"]`, `the client scope "profile:x" has the name of a permission of this server`, "saml "},
		"a scope that is gone":  {scopes + `,` + client(`,"optionalClientScopes":["gone"]`), nil, []string{"openid"}, `null`, `null`, `the client scope "gone" is not in the export`, ""},
		"consent":               {scopes + `,` + client(`,"consentRequired":true,"defaultClientScopes":["staff"]`), []string{"team"}, []string{"openid"}, `{"staff":[]}`, `["staff"]`, "the default client scopes staff only if it requests them", ""},
		"consent to what hides": {scopes + `,` + client(`,"consentRequired":true,"defaultClientScopes":["hidden"]`), []string{"team"}, []string{"openid"}, `null`, `["openid"]`, "", "only if it requests"},
		"none in the realm": {client(`,"webOrigins":["+"]`), []string{"address", "allowed-origins", "birthdate", "email", "email_verified", "family_name", "gender", "given_name", "groups", "locale", "middle_name", "name", "nickname", "phone_number", "phone_number_verified",
			"picture", "preferred_username", "profile", "realm_access.roles", "updated_at", "upn", "website", "zoneinfo"}, []string{"openid", "profile", "email", "roles", "address", "phone", "offline_access"},
			`{"address":[],"email":[],"microprofile-jwt":[],"phone":[],"profile":[],"roles":[]}`, `null`, "", "×"},
	} {
		got, config, report := claimsOf(t, `{"realm":"acme",`+test.realm+`}`)
		if names := sortedKeys(got); !slices.Equal(names, test.names) || !slices.Equal(textsOf(config["scopes"]), test.scopes) || inline(config["scopeClaims"]) != test.own || inline(got["team"]["scopes"]) != test.release {
			t.Errorf("%s: the claims %q with the scopes %s of %s, for %s", name, names, inline(config["scopes"]), inline(config["scopeClaims"]), inline(got["team"]["scopes"]))
		}
		if !strings.Contains(report, test.report) || test.unwritten != "" && strings.Contains(strings.ReplaceAll(report, "client scope hidden", ""), test.unwritten) && !strings.Contains(report, "no imported client has") {
			t.Errorf("%s: the report is %s", name, report)
		}
	}
}

// TestLimitedRoles: tokens of a client without full scope have the roles that it is mapped to, and its own.
func TestLimitedRoles(t *testing.T) {
	const mappers = `"protocolMappers":[{"name":"r","protocolMapper":"oidc-usermodel-realm-role-mapper","config":{"access.token.claim":"true","claim.name":"realm_access.roles","multivalued":"true"}},
		{"name":"c","protocolMapper":"oidc-usermodel-client-role-mapper","config":{"access.token.claim":"true","claim.name":"resource_access.${client_id}.roles","multivalued":"true"}}]`
	got, _, report := claimsOf(t, `{"realm":"acme","roles":{"realm":[{"name":"boss","composites":{"realm":["clerk"]}},{"name":"clerk"},{"name":"other"}],"client":{"web":[{"name":"buyer"}],"api":[{"name":"reader"},{"name":"writer"}],"crm":[{"name":"user"}]}},
		"scopeMappings":[{"client":"web","roles":["boss"]},{"client":"else","roles":["other"]}],"clientScopeMappings":{"api":[{"client":"web","roles":["reader"]}]},
		"clients":[{"clientId":"web",`+someSecret+`,"redirectUris":["https://web.example/cb"],"fullScopeAllowed":false,"defaultClientScopes":[],`+mappers+`}]}`)
	want := map[string]string{"realm_access.roles": "boss|clerk", "resource_access.web.roles": `web:.*`, "resource_access.api.roles": "api:reader"}
	for name, filter := range want {
		if got[name]["filter"] != filter {
			t.Errorf("%s: %s", name, inline(got[name]))
		}
	}
	if len(got) != len(want) || strings.Contains(report, "fullScope") {
		t.Errorf("%s\n%s", inline(got), report)
	}
}

// TestRoleNames: a role of a client and one of the realm with the same name stay two roles.
func TestRoleNames(t *testing.T) {
	content, users, _ := readExport(t, "keycloak", writeRealm(t, `{"realm":"acme","roles":{"realm":[{"name":"shop:admin"},{"name":"a:b:c"}],"client":{"shop":[{"name":"admin"}],"a":[{"name":"b:c"}],"a:b":[{"name":"c"}]}},
		"users":[{"username":"ann","realmRoles":["shop:admin"]},{"username":"ben","clientRoles":{"shop":["admin"]}},{"username":"cat","clientRoles":{"a":["b:c"]}},{"username":"dan","clientRoles":{"a:b":["c"]}}]}`), Options{})
	names, ids := map[string]bool{}, map[string]bool{}
	for _, r := range content.List {
		names[textOf(r.Content["name"])], ids[textOf(r.Content["id"])] = true, true
	}
	if len(names) != 5 || len(ids) != 5 {
		t.Errorf("the roles are %q", sortedKeys(names))
	}
	for i, want := range []string{"shop:admin", "shop (client):admin", "a (client):b:c", "a:b (client):c"} {
		if !slices.Equal(users[i].Roles, []string{want}) || !names[want] {
			t.Errorf("user %d has %q, expected %q", i, users[i].Roles, want)
		}
	}
}

// TestThunderClaims: the members about claims of ThunderID mean the same here. Attributes that get the name of a standard
// claim keep their names in tokens.
func TestThunderClaims(t *testing.T) {
	for name, test := range map[string]struct {
		config, want string // parts of the configuration
		report       []string
	}{
		"scopes": {`scope_claims: {profile: [name, firstName], staff: [department, groups, firstName]}, scopes: [openid, profile, staff]`,
			`{"scopeClaims":{"profile":["name"],"staff":["department","groups"]},"scopes":["openid","profile","staff"],"claims":[{"path":["firstName"],"source":"attribute","attribute":"given_name","targets":["idToken","userinfo"],"scopes":["profile","staff"]}]}`, nil},
		"limits": {`scope_claims: {profile: [firstName, email]}, token: {id_token: {user_attributes: [email], validity_period: 600}, access_token: {user_attributes: [ouId, lastName]}}, user_info: {user_attributes: [firstName]}`,
			`{"scopeClaims":{"profile":["email"]},"token":{"idToken":{"userAttributes":["email"],"validityPeriod":600},"accessToken":{"userAttributes":["ouId"]}},"userInfo":{"userAttributes":[]},
			"claims":[{"path":["firstName"],"source":"attribute","attribute":"given_name","targets":["userinfo"],"scopes":["profile"]},{"path":["lastName"],"source":"attribute","attribute":"family_name","targets":["accessToken"]}]}`, nil},
		"the newer spelling": {`token: {accessToken: {userConfig: {attributes: [groups], format: jwt}, validityPeriod: 300}, issuer: x}, userInfo: {responseType: JWS}`,
			`{"token":{"accessToken":{"userAttributes":["groups"],"validityPeriod":300}}}`,
			[]string{"config.token.issuer (application shop)", "config.token.accessToken.userConfig.format", "config.userInfo.responseType"}},
		"nothing": {`pkce_required: false`, `{}`, nil},
	} {
		content, _, report := readExport(t, "thunderid", writeThunder(t, test.config), Options{})
		var application struct {
			InboundAuthConfig []struct{ Config map[string]any }
			Assertion         map[string]any
		}
		if err := json.Unmarshal([]byte(inline(content.List[0].Content)), &application); err != nil {
			t.Fatal(err)
		}
		got := map[string]any{}
		for _, member := range []string{"scopeClaims", "scopes", "claims", "token", "userInfo"} {
			if v := application.InboundAuthConfig[0].Config[member]; v != nil {
				got[member] = v
			}
		}
		var want map[string]any
		if err := json.Unmarshal([]byte(test.want), &want); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) || inline(application.Assertion["userAttributes"]) != `["email"]` {
			t.Errorf("%s: %s, expected %s", name, inline(got), test.want)
		}
		wantFindings(t, report, test.report...)
		if test.report == nil && len(report.Findings()) > 0 {
			t.Errorf("%s: %+v", name, report.Findings())
		}
	}
}
