package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/schemas"
)

// mapper returns a protocol mapper of Keycloak for some of the documents i (ID token), u (userinfo), a (access token)
// and n (introspection), with more members of its configuration.
func mapper(name, kind, documents string, config ...string) map[string]any {
	members := map[string]string{}
	for letter, member := range map[string]string{"i": "id", "u": "userinfo", "a": "access", "n": "introspection"} {
		members[member+".token.claim"] = fmt.Sprint(strings.Contains(documents, letter))
	}
	for i := 0; i < len(config); i += 2 {
		members[config[i]] = config[i+1]
	}
	return map[string]any{"name": name, "protocol": "openid-connect", "protocolMapper": kind, "consentRequired": false, "config": members}
}

const (
	attributeMapper  = "oidc-usermodel-attribute-mapper"
	hardcodedMapper  = "oidc-hardcoded-claim-mapper"
	groupsMapper     = "oidc-group-membership-mapper"
	realmRoleMapper  = "oidc-usermodel-realm-role-mapper"
	clientRoleMapper = "oidc-usermodel-client-role-mapper"
)

// mappedRealm is a realm as Keycloak 26 exports it, with mappers of its own. The client scopes and mappers of every realm
// are those of https://www.keycloak.org/docs/26.0.7/server_admin/#_client_scopes.
func mappedRealm(t *testing.T) string {
	attribute := func(claim, name string) map[string]any {
		return mapper(claim, attributeMapper, "iuan", "claim.name", claim, "user.attribute", name, "jsonType.label", "String")
	}
	scope := func(name string, inToken bool, mappers ...map[string]any) map[string]any {
		return map[string]any{"name": name, "protocol": "openid-connect", "attributes": map[string]string{"include.in.token.scope": fmt.Sprint(inToken)}, "protocolMappers": mappers}
	}
	client := func(id string, members map[string]any) map[string]any {
		c := map[string]any{"clientId": id, "secret": "Zk3v9QpL0sWx7Tn2Yb8Rc5Hd1Jg6Mf4A", "redirectUris": []string{rpRedirect}, "webOrigins": []string{"+", "https://cdn.example.com"}, "protocol": "openid-connect", "fullScopeAllowed": true,
			"defaultClientScopes":  []string{"profile", "email", "roles", "web-origins", "acr", "basic"},
			"optionalClientScopes": []string{"address", "phone", "offline_access", "microprofile-jwt", "crm"}}
		maps.Copy(c, members)
		return c
	}
	realm := map[string]any{
		"realm": "acme", "enabled": true,
		"roles": map[string]any{
			"realm":  []any{map[string]any{"name": "editor"}, map[string]any{"name": "shop:admin"}, map[string]any{"name": "unused"}},
			"client": map[string]any{"web": []any{map[string]any{"name": "buyer"}}, "api": []any{map[string]any{"name": "reader"}}, "shop": []any{map[string]any{"name": "admin"}}}},
		"groups":        []any{map[string]any{"name": "staff", "realmRoles": []string{"editor"}, "subGroups": []any{map[string]any{"name": "engineering"}}}},
		"scopeMappings": []any{map[string]any{"client": "limited", "roles": []string{"shop:admin"}}},
		"clientScopes": []any{
			scope("profile", true, mapper("full name", "oidc-full-name-mapper", "iuan"), attribute("given_name", "firstName"), attribute("family_name", "lastName"),
				attribute("preferred_username", "username"), attribute("nickname", "nickname"), mapper("updated at", attributeMapper, "iuan", "claim.name", "updated_at", "user.attribute", "updatedAt", "jsonType.label", "long")),
			scope("email", true, attribute("email", "email"), mapper("verified", "oidc-usermodel-property-mapper", "iuan", "claim.name", "email_verified", "user.attribute", "emailVerified", "jsonType.label", "boolean")),
			scope("address", true, mapper("address", "oidc-address-mapper", "iuan", "user.attribute.street", "street", "user.attribute.locality", "locality", "user.attribute.country", "country")),
			scope("phone", true, attribute("phone_number", "phoneNumber")),
			scope("roles", false, mapper("realm roles", realmRoleMapper, "an", "claim.name", "realm_access.roles", "multivalued", "true", "jsonType.label", "String"),
				mapper("client roles", clientRoleMapper, "an", "claim.name", "resource_access.${client_id}.roles", "multivalued", "true", "jsonType.label", "String"),
				mapper("audience resolve", "oidc-audience-resolve-mapper", "an")),
			scope("web-origins", false, mapper("allowed web origins", "oidc-allowed-origins-mapper", "an")),
			scope("acr", false, mapper("acr loa level", "oidc-acr-mapper", "ian")),
			scope("basic", false, mapper("sub", "oidc-sub-mapper", "an"), mapper("auth_time", "oidc-usersessionmodel-note-mapper", "ian", "user.session.note", "AUTH_TIME", "claim.name", "auth_time")),
			scope("offline_access", true), scope("microprofile-jwt", true, attribute("upn", "username"), mapper("groups", realmRoleMapper, "ian", "claim.name", "groups", "multivalued", "true")),
			scope("crm", true, mapper("crm department", attributeMapper, "i", "claim.name", "crm_department", "user.attribute", "department", "jsonType.label", "String")),
			scope("pages", false, attribute("page", "nickname")),
		},
		"clients": []any{
			client("web", map[string]any{"protocolMappers": []any{
				mapper("department", attributeMapper, "iu", "claim.name", "department", "user.attribute", "department", "jsonType.label", "String"),
				mapper("level", attributeMapper, "a", "claim.name", "hr.level", "user.attribute", "level", "jsonType.label", "long"),
				mapper("tags", attributeMapper, "u", "claim.name", "tags", "user.attribute", "tags", "multivalued", "true", "jsonType.label", "String"),
				mapper("one tag", attributeMapper, "i", "claim.name", "tag", "user.attribute", "tags", "jsonType.label", "String"),
				mapper("tenant", hardcodedMapper, "i", "claim.name", `https://example\.com/tenant`, "claim.value", "acme", "jsonType.label", "String"),
				mapper("flags", hardcodedMapper, "n", "claim.name", "flags", "claim.value", `{"beta":true}`, "jsonType.label", "JSON"),
				mapper("numbers", hardcodedMapper, "i", "claim.name", "numbers", "claim.value", `[1,2]`, "jsonType.label", "JSON"),
				mapper("groups", groupsMapper, "iu", "claim.name", "groups", "full.path", "true"),
				mapper("teams", groupsMapper, "a", "claim.name", "teams", "full.path", "false"),
				mapper("flat roles", realmRoleMapper, "i", "claim.name", "roles", "multivalued", "true", "usermodel.realmRoleMapping.rolePrefix", "r_"),
				mapper("roles of all", realmRoleMapper, "u", "claim.name", "all", "multivalued", "true"),
				mapper("roles of web", clientRoleMapper, "u", "claim.name", "all", "multivalued", "true", "usermodel.clientRoleMapping.clientId", "web"),
				mapper("api roles", clientRoleMapper, "a", "claim.name", "api_roles", "multivalued", "true", "usermodel.clientRoleMapping.clientId", "api"),
				mapper("id", "oidc-usermodel-property-mapper", "i", "claim.name", "user_id", "user.attribute", "id", "jsonType.label", "String"),
				mapper("sub", attributeMapper, "ia", "claim.name", "sub", "user.attribute", "department"),
				mapper("audience", "oidc-audience-mapper", "a", "included.client.audience", "api"),
				mapper("script", "script-risk.js", "a", "claim.name", "risk"),
				mapper("note", "oidc-usersessionmodel-note-mapper", "a", "claim.name", "browser", "user.session.note", "ua"),
			}}),
			client("limited", map[string]any{"fullScopeAllowed": false, "optionalClientScopes": []string{}}),
			client("asking", map[string]any{"consentRequired": true, "defaultClientScopes": []string{"profile", "roles", "pages"}}),
			client("light", map[string]any{"attributes": map[string]string{"client.use.lightweight.access.token.enabled": "true"}, "defaultClientScopes": []string{"roles"},
				"protocolMappers": []any{mapper("department", attributeMapper, "an", "claim.name", "department", "user.attribute", "department", "lightweight.claim", "true")}}),
		},
		"users": []any{map[string]any{"id": adaOfKeycloak, "username": "pat", "email": "pat@example.com", "emailVerified": true, "firstName": "Pat", "lastName": "Doe", "enabled": true,
			"attributes":  map[string]any{"department": []string{"sales"}, "level": []string{"3"}, "tags": []string{"a", "b"}, "phoneNumber": []string{"+15551234"}, "street": []string{"Main 1"}, "locality": []string{"Ghent"}},
			"credentials": []any{map[string]string{"type": "password", "value": rpPassword}},
			"realmRoles":  []string{"default-roles-acme", "shop:admin"}, "clientRoles": map[string]any{"web": []string{"buyer"}, "api": []string{"reader"}, "account": []string{"manage-account"}}, "groups": []string{"/staff/engineering"}}},
	}
	text, err := json.Marshal(realm)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// createStaffType creates a type of users with the attributes of the realm.
func (w *testApp) createStaffType(t *testing.T) {
	t.Helper()
	var schema map[string]any
	datatest.Unmarshal(t, schemas.Person().Schema, &schema)
	properties := schema["properties"].(map[string]any)
	for _, name := range []string{"department", "level"} {
		properties[name] = map[string]any{"type": "string"}
	}
	properties["tags"] = map[string]any{"type": "array", "items": map[string]any{"type": "string"}}
	text, err := json.Marshal(map[string]any{"name": "Staff", "schema": schema})
	if err != nil {
		t.Fatal(err)
	}
	w.create(w.directory.UserTypes, string(text))
}

// TestImportedClaims imports a realm with mappers of all usual kinds, and compares what its clients learn about a user
// with the tokens of Keycloak: the default client scopes apply to all tokens, the optional ones to those that request
// them (https://www.keycloak.org/docs/26.0.7/server_admin/#_client_scopes_linking). Roles of Keycloak itself, such as
// offline_access and those of the client account, are not imported.
func TestImportedClaims(t *testing.T) {
	const (
		profile = `"name":"Pat Doe","given_name":"Pat","family_name":"Doe","preferred_username":"pat"`
		user    = profile + `,"email":"pat@example.com","email_verified":true`
		roles   = `"realm_access":{"roles":["editor","shop:admin"]},"resource_access":{"web":{"roles":["buyer"]},"api":{"roles":["reader"]}}`
		origins = `"allowed-origins":["https://rp.example.com","https://cdn.example.com"]`
		access  = user + `,` + roles + `,` + origins
		web     = user + `,"department":"sales","tag":"a","https://example.com/tenant":"acme","numbers":[1,2],"groups":["/staff/engineering"],"roles":["r_editor","r_shop:admin"],"user_id":"` + adaOfKeycloak + `"`
		webInfo = user + `,"department":"sales","tags":["a","b"],"groups":["/staff/engineering"],"all":["editor","shop:admin","buyer"]`
		token   = access + `,"hr":{"level":3},"teams":["engineering"],"api_roles":["reader"]`
		others  = `"phone_number":"+15551234","address":{"street_address":"Main 1","locality":"Ghent"},"upn":"pat"`
	)
	w := newImportTest(t)
	w.createStaffType(t)
	dir := writeExport(t, map[string]string{"acme-realm.json": mappedRealm(t)})
	out := w.importExport(t, "keycloak", dir, "--type", "Staff")
	expectTexts(t, out, "imported 1 user", "imported 4 applications", "imported 6 roles",
		`the claim "sub" belongs to the protocol`, "at client web, mapper sub ("+attributeMapper+")", `access tokens do not have the audience "api"`, `scripts are not run: the claim "risk" is missing`,
		`sessions have no notes: the claim "browser" from "ua" is missing`, `another mapper of the client has the claim "groups"`, "only if it requests them",
		"access tokens do not have the clients in which the user has roles as audiences\n", "at client scope roles, mapper audience resolve (oidc-audience-resolve-mapper)\n")
	for _, unwanted := range []string{"mapper department", "acr loa", "auth_time", "full name", "updated_at", "offline_access", "claims[", "is left out: expected", "has no attribute"} {
		if strings.Contains(out, unwanted) {
			t.Errorf("the report has %q:\n%s", unwanted, out)
		}
	}
	for _, tt := range []struct {
		client, scope string
		want          map[string]string
	}{
		{"web", "openid", map[string]string{"idToken": `{` + web + `}`, "userinfo": `{` + webInfo + `}`, "accessToken": `{` + token + `}`, "introspection": `{` + access + `,"flags":{"beta":true}}`}},
		{"web", "openid profile email crm phone address microprofile-jwt", map[string]string{"idToken": `{` + web + `,` + others + `,"crm_department":"sales"}`, "userinfo": `{` + webInfo + `,` + others + `}`,
			"accessToken": `{` + token + `,` + others + `,"groups":["editor","shop:admin"]}`, "introspection": `{` + access + `,` + others + `,"flags":{"beta":true},"groups":["editor","shop:admin"]}`}},
		{"limited", "openid phone groups roles", map[string]string{"idToken": `{` + user + `}`, "userinfo": `{` + user + `}`, "accessToken": `{` + user + `,"realm_access":{"roles":["shop:admin"]},` + origins + `}`,
			"introspection": `{` + user + `,"realm_access":{"roles":["shop:admin"]},` + origins + `}`}},
		{"asking", "openid", map[string]string{"accessToken": `{` + roles + `}`, "introspection": `{` + roles + `}`}},
		{"asking", "openid profile", map[string]string{"idToken": `{` + profile + `}`, "userinfo": `{` + profile + `}`, "accessToken": `{` + profile + `,` + roles + `}`, "introspection": `{` + profile + `,` + roles + `}`}},
		{"light", "openid", map[string]string{"accessToken": `{"department":"sales"}`, "introspection": `{"department":"sales",` + roles + `}`}},
	} {
		t.Run(tt.client+" "+tt.scope, func(t *testing.T) {
			p := &party{testApp: w.testApp, t: t, http: newBrowser(t, w.http), mode: "query", id: tt.client, secret: "Zk3v9QpL0sWx7Tn2Yb8Rc5Hd1Jg6Mf4A", method: schemas.AuthMethodBasic, redirect: rpRedirect}
			got, id, _ := p.signInAndVerify("scope", tt.scope)
			if id.Subject != adaOfKeycloak {
				t.Errorf("the sub is %q", id.Subject)
			}
			p.wantClaims("", p.collectClaims(got), tt.want, "")
		})
	}
	expectTexts(t, w.importExport(t, "keycloak", dir, "--type", "Staff"), "imported 0 users; 1 exist already")
}

// TestImportedThunderClaims: the members about claims of ThunderID have the same effect here, and attributes keep their
// names in tokens.
func TestImportedThunderClaims(t *testing.T) {
	w := newImportTest(t)
	out := w.importExport(t, "thunderid", writeExport(t, map[string]string{"shop.yaml": `resource_type: application
id: 7e9d1e5e-3333-4a11-8a11-000000000031
name: Shop
inbound_auth_config:
  - type: oauth2
    config:
      client_id: shop
      client_secret: Zk3v9QpL0sWx7Tn2Yb8Rc5Hd1Jg6Mf4A
      redirect_uris: ["` + rpRedirect + `"]
      grant_types: [authorization_code, refresh_token]
      scopes: [openid, profile, staff]
      scope_claims: {profile: [firstName, username], staff: [groups]}
      token: {access_token: {user_attributes: [username, lastName], validity_period: 600}}
      user_info: {user_attributes: [firstName, groups]}
---
resource_type: group
id: 7e9d1e5e-3333-4a11-8a11-000000000011
name: Clerks
members: [{type: user, id: 7e9d1e5e-3333-4a11-8a11-000000000001}]
---
resource_type: user
id: 7e9d1e5e-3333-4a11-8a11-000000000001
attributes: {username: pat, email: pat@example.com, firstName: Pat, lastName: Doe}
credentials: {password: "` + rpPassword + `"}
`}))
	if strings.Contains(out, "not read") {
		t.Error(out)
	}
	for scope, want := range map[string]map[string]string{
		"openid":               {"accessToken": `{"username":"pat","lastName":"Doe"}`},
		"openid profile":       {"idToken": `{"firstName":"Pat","username":"pat"}`, "userinfo": `{"firstName":"Pat"}`, "accessToken": `{"username":"pat","lastName":"Doe"}`},
		"openid staff":         {"idToken": `{"groups":["Clerks"]}`, "userinfo": `{"groups":["Clerks"]}`, "accessToken": `{"username":"pat","lastName":"Doe"}`},
		"openid email address": {"accessToken": `{"username":"pat","lastName":"Doe"}`},
	} {
		p := &party{testApp: w.testApp, t: t, http: newBrowser(t, w.http), mode: "query", id: "shop", secret: "Zk3v9QpL0sWx7Tn2Yb8Rc5Hd1Jg6Mf4A", method: schemas.AuthMethodBasic, redirect: rpRedirect}
		got, _, _ := p.signInAndVerify("scope", scope)
		if got.Expires != 600 {
			t.Errorf("the access token expires in %d seconds", got.Expires)
		}
		p.wantClaims(scope+": ", p.collectClaims(got), want, "")
	}
}
