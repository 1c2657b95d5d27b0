package importer

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
)

// realmText returns a report as text, with the notes on resources, which are reported when they are stored.
func realmText(content *Resources, r *Report) string {
	for _, resource := range content.List {
		for _, n := range resource.notes {
			r.add(resource.Plural, resource.Place+": "+n.value, n.problem, n.fix)
		}
	}
	var text strings.Builder
	r.Write(&text)
	return text.String()
}

// findingsTest is a part of a realm, with what the report about it must and must not have.
type findingsTest struct {
	members        string // of the realm
	want, unwanted []string
}

// someSecret is a member of a confidential client.
const someSecret = `"secret":"Zk3v9QpL0sWx7Tn2Yb8Rc5Hd1Jg6Mf4A"`

// What of a realm is not imported is in the report, and nothing else is.
func TestKeycloakFindings(t *testing.T) {
	for name, test := range map[string]findingsTest{
		"keys": {`"components":{"org.keycloak.keys.KeyProvider":[{"name":"rsa","providerId":"rsa-generated"},{"providerId":"hmac-generated"}]}`,
			[]string{"2 × components.org.keycloak.keys.KeyProvider", "component rsa; component hmac-generated"}, nil},
		"settings of a provider": {`"identityProviders":[{"alias":"google","providerId":"google","trustEmail":true,"config":{"clientId":"c","clientSecret":"s","hostedDomain":"shop.example","prompt":"login","useJwksUrl":"true"}}]`,
			[]string{"the limit to users of a hosted domain is not imported", "identityProviders.config.prompt", "identityProviders.trustEmail"}, []string{"useJwksUrl", "identityProviders.config.hostedDomain"}},
		"a provider with a key of its own": {`"identityProviders":[{"alias":"corp","providerId":"oidc","config":{"issuer":"https://corp.example","clientId":"c","clientSecret":"s","clientAuthMethod":"private_key_jwt"}}]`,
			[]string{`the client authentication "private_key_jwt" at the provider is not supported`}, nil},
		"administrators of Keycloak": {`"roles":{"realm":[{"name":"boss","composites":{"client":{"realm-management":["realm-admin"]}}}]},"groups":[{"name":"ops","clientRoles":{"realm-management":["view-users"]}}],
			"users":[{"username":"ann","clientRoles":{"realm-management":["manage-users"],"account":["manage-account"]}},{"username":"service-account-job","serviceAccountClientId":"job","clientRoles":{"realm-management":["view-users"]}}]`,
			[]string{"users\n  1 × the roles of the client realm-management are not imported", "roles\n  1 × roles do not include others", "at role boss", "at group /ops", "at client job"}, []string{"the client account are"}},
		"a disabled realm":   {`"enabled":false,"loginWithEmailAllowed":false`, []string{"the realm is disabled", "users can sign in with a verified address here"}, nil},
		"an ordinary realm":  {`"enabled":true,"loginWithEmailAllowed":true,"accessTokenLifespan":300`, nil, []string{"×"}},
		"defaults for users": {`"defaultRoles":["offline_access","customer"],"defaultGroups":["/Everyone"]`, []string{"at role customer", "at group /Everyone"}, []string{"offline_access"}},
		"a user of a directory": {`"users":[{"username":"ann","federationLink":"0b7d1b5e-1111-4a11-8a11-000000000001"}]`,
			[]string{"the user comes from another directory", "(username ann)"}, []string{"no credential that is imported"}},
		"flows": {`"browserFlow":"b","authenticationFlows":[{"alias":"b","topLevel":true,"authenticationExecutions":[{"authenticator":"auth-username-password-form","requirement":"REQUIRED"}]},
			{"alias":"own reset","topLevel":true},{"alias":"part","topLevel":false},{"alias":"registration","topLevel":true,"builtIn":true}]`,
			[]string{"the flow is not translated", "at flow own reset\n"}, []string{"flow part", "flow registration"}},
		"malformed parts": {`"groups":[{"name":"staff","subGroups":[{"name":7},{"name":"clerks"}]}],"users":[{"username":"ann","credentials":[{"type":"password","createdDate":"today"}],"federatedIdentities":["x"]}]`,
			[]string{"r-realm.json:1:97 (username ann), credentials number 1", "(username ann), federatedIdentities number 1", "name 7"}, nil},
		"texts instead of values": {`"clients":[{"clientId":"web",` + someSecret + `,"enabled":"true","publicClient":"false","redirectUris":["https://web.example/cb"]},{"clientId":"bad","publicClient":"maybe"}],
			"users":[{"username":"ann","enabled":"true","createdTimestamp":"1600000000000","credentials":[{"type":"password","value":"quiet harbour lantern","temporary":"false"}]},{"username":"ben","createdTimestamp":"soon"}]`,
			[]string{"publicClient: expected true or false", "at number 2 (clientId bad)", "createdTimestamp: expected number", "r-realm.json:2:172 (username ben)"}, []string{"web", "(username ann)", "temporary"}},
		"control characters": {`"clients":[{"clientId":"web\u001b[2J","protocol":"saml"}]`, []string{"client web?[2J"}, nil},
		"places of records": {`"identityProviders":[{"alias":"corp","config":{"clientId":"c","prompt":"login"}}],"groups":[{"name":"staff","subGroups":[{"name":"clerks","colour":"red"}]}]`,
			[]string{"identityProviders.config.prompt\n      at identityProvider alias corp\n", "groups.subGroups.colour\n      at group name staff, subGroup name clerks\n"}, nil},
		"claims that are members": {`"users":[{"username":"ann","attributes":{"email":["boss@shop.example"],"email_verified":["true"]}}]`,
			[]string{`the attribute "email" is left out`, `the attribute "email_verified" is left out`}, nil},
		"a service account": {`"users":[{"username":"service-account-job","serviceAccountClientId":"job","realmRoles":["reader"],"groups":["/staff"],"attributes":{"region":["eu"]}}]`,
			[]string{"because the client is not", "applications are not members of groups", `the attribute "region" of its service account`}, nil},
	} {
		test.check(t, name)
	}
}

// The same for clients.
func TestKeycloakClientFindings(t *testing.T) {
	for name, test := range map[string]findingsTest{
		"a client without a redirect URI": {`"clients":[{"clientId":"cli","publicClient":true,"directAccessGrantsEnabled":true,"webOrigins":["+"]}]`,
			[]string{"users can only sign in to a client with a redirect URI, and it has none"}, []string{"patterns", "webOrigins"}},
		"web origins": {`"clients":[{"clientId":"web",` + someSecret + `,"redirectUris":["https://web.example/cb"],"webOrigins":["+","https://web.example","https://web.example/*","https://other.example"]}]`,
			[]string{"1 × a web origin that no imported redirect URI has is left out", "client web: https://other.example"}, nil},
		"URIs": {`"clients":[{"clientId":"web",` + someSecret + `,"redirectUris":["https://web.example/cb","https://web.example/*","http://web.example/cb"],"attributes":{"post.logout.redirect.uris":"https://*.example/out##https://web.example/out"}}]`,
			[]string{"client web: https://web.example/*", "client web: http://web.example/cb", "a post-logout redirect URI is a pattern or relative", "client web: https://*.example/out"}, []string{"out##", "web.example/out"}},
		"client authentication":   {`"clients":[{"clientId":"web",` + someSecret + `,"redirectUris":["https://web.example/cb"],"clientAuthenticatorType":"client-x509"}]`, []string{"the client authentication is not imported", "client web: client-x509"}, nil},
		"a client of every realm": {`"clients":[{"clientId":"admin-cli","serviceAccountsEnabled":true},{"clientId":"account"}]`, []string{"a client of every realm has a service account"}, []string{"client account"}},
	} {
		test.check(t, name)
	}
}

func (test findingsTest) check(t *testing.T, name string) {
	t.Helper()
	content, users, report := readExport(t, "keycloak", writeRealm(t, `{"realm":"acme",`+test.members+`}`), Options{})
	text := realmText(content, report)
	for _, part := range test.want {
		if !strings.Contains(text, part) {
			t.Errorf("%s: the report lacks %q:\n%s", name, part, text)
		}
	}
	for _, part := range test.unwanted {
		if strings.Contains(text, part) {
			t.Errorf("%s: the report has %q:\n%s", name, part, text)
		}
	}
	for _, u := range users {
		if u.Attributes["username"] != "ann" || u.Others["email"] != nil || u.Others["email_verified"] != nil {
			t.Errorf("%s: the user is %+v", name, u)
		}
	}
}

// Realms that were written by hand name roles without a description, and groups without a slash. Applications get
// the roles of their service accounts.
func TestNamedRoles(t *testing.T) {
	dir := writeRealm(t, `{"realm":"acme","groups":[{"name":"staff","realmRoles":["reader"]}],"roles":{"realm":[{"name":"known","description":"as it is"}]},
		"clients":[{"clientId":"job","serviceAccountsEnabled":true,"standardFlowEnabled":false}],
		"users":[{"username":"service-account-job","serviceAccountClientId":"job","realmRoles":["known"],"clientRoles":{"shop":["buyer"]}}]}`)
	datatest.WriteFile(t, filepath.Join(dir, "acme-users-0.json"), `{"realm":"acme","users":[{"username":"ann","realmRoles":["default-roles-acme","known","writer"],"clientRoles":{"shop":["clerk"]},"groups":["staff"]}]}`)
	datatest.WriteFile(t, filepath.Join(dir, "other-users-0.json"), `{"realm":"other","users":[{"username":"ben","realmRoles":["stranger"]}]}`)
	if _, err := Open("keycloak", dir, Options{}); err == nil {
		t.Error("two realms were opened")
	}
	content, users, report := readExport(t, "keycloak", dir, Options{Name: "acme"})
	got := map[string]string{}
	for _, r := range content.List {
		if r.Plural == "roles" {
			got[r.Key] = inline(r.Content["assignments"])
		}
	}
	if len(got) != 5 || got["reader"] == "[]" || !strings.Contains(got["known"], `"type":"application"`) || !strings.Contains(got["shop:buyer"], `"type":"application"`) || got["writer"] != "[]" || got["shop:clerk"] != "[]" {
		t.Errorf("the roles are %q", got)
	}
	if len(users) != 1 || !slices.Equal(users[0].Groups, []string{"/staff"}) || !slices.Equal(users[0].Roles, []string{"known", "writer", "shop:clerk"}) {
		t.Errorf("the users are %+v", users)
	}
	if text := realmText(content, report); strings.Contains(text, "service account") {
		t.Errorf("%s", text)
	}
}

// A client keeps what it can do: with its own lifetime of tokens or the realm's, its key set, and without users if
// they cannot sign in to it.
func TestKeycloakClients(t *testing.T) {
	const secret = `"secret":"Zk3v9QpL0sWx7Tn2Yb8Rc5Hd1Jg6Mf4A"`
	for members, want := range map[string][]string{
		`"redirectUris":["https://a.example/cb"],` + secret:                                                                                                                    {`"validityPeriod":240`},
		`"redirectUris":["https://a.example/cb"],` + secret + `,"attributes":{"access.token.lifespan":"90"}`:                                                                   {`"validityPeriod":90`},
		`"redirectUris":["*"],"serviceAccountsEnabled":true,` + secret:                                                                                                         {`"grantTypes":["client_credentials"]`},
		`"redirectUris":["https://a.example/cb"],"clientAuthenticatorType":"client-jwt","attributes":{"use.jwks.string":"true","jwks.string":"{\"keys\":[{\"kty\":\"EC\"}]}"}`: {`"jwks":{"keys":[{"kty":"EC"}]}`, `private_key_jwt`},
		`"redirectUris":["https://a.example/cb"],"clientAuthenticatorType":"client-jwt","attributes":{"jwks.url":"https://a.example/keys"}`:                                    {`"jwksUri":"https://a.example/keys"`},
		`"redirectUris":["https://a.example/cb"],` + secret + `,"attributes":{"backchannel.logout.url":"https://a.example/out","backchannel.logout.session.required":"true"}`:  {`"backchannelLogoutUri":"https://a.example/out"`},
		`"redirectUris":["https://a.example/cb"],` + secret + `,"rootUrl":"https://a.example","baseUrl":"/app","attributes":{"policyUri":"https://a.example/policy"}`:          {`"url":"https://a.example/app"`, `"policyUri":"https://a.example/policy"`},
	} {
		content, _, report := readExport(t, "keycloak", writeRealm(t, `{"realm":"acme","accessTokenLifespan":240,"clients":[{"clientId":"a",`+members+`}]}`), Options{})
		if len(content.List) != 1 {
			t.Fatalf("%s: %+v", members, report.Findings())
		}
		for _, part := range want {
			if text := inline(content.List[0].Content); !strings.Contains(text, part) {
				t.Errorf("%s: %s lacks %s", members, text, part)
			}
		}
		if text := realmText(content, report); strings.Contains(text, "members that are not read") {
			t.Errorf("%s: %s", members, text)
		}
	}
}

// A file that is no realm is named by what it has.
func TestFilesWithoutRealm(t *testing.T) {
	for text, part := range map[string]string{
		`{"clientId":"web","redirectUris":[]}`:     `has no member "realm" (it has clientId, redirectUris)`,
		`{"ifResourceExists":"SKIP","clients":[]}`: `has no member "realm" (it has clients, ifResourceExists)`,
		`{"users":[{"username":"ann"}]}`:           `has no member "realm"`,
		"realm: acme\nusers: []\n":                 "the file is not JSON",
		`{"kind":"KeycloakRealmImport","spec":{}}`: "(it has kind, spec)",
	} {
		if _, err := Open("keycloak", writeRealm(t, text), Options{}); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// The documentation names every member of a realm that is read.
func TestKeycloakMembersAreDocumented(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "migration.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## Keycloak\n")
	section, _, _ = strings.Cut(section, "\n## ")
	names := readMembers(reflect.TypeFor[keycloakRealm](), map[reflect.Type]bool{})
	names = append(names, readMembers(reflect.TypeFor[keycloakUser](), map[reflect.Type]bool{reflect.TypeFor[keycloakCredential](): true})...)
	for _, name := range names {
		if !strings.Contains(section, "`"+name+"`") {
			t.Errorf("docs/migration.md does not mention %s", name)
		}
	}
	if len(names) < 80 {
		t.Errorf("only %d members", len(names))
	}
}

// readMembers lists the members of a type and of those in it, except the types that were seen.
func readMembers(t reflect.Type, seen map[reflect.Type]bool) (names []string) {
	if l, ok := reflect.New(t).Interface().(list); ok {
		t = l.element()
	}
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
		if l, ok := reflect.New(t).Interface().(list); ok {
			t = l.element()
		}
	}
	if t.Kind() != reflect.Struct || seen[t] || t == reflect.TypeFor[keycloakFlow]() || t == reflect.TypeFor[keycloakMapper]() {
		return nil
	}
	seen[t] = true
	for field := range t.Fields() {
		if name := field.Tag.Get("json"); name != "" {
			names = append(append(names, name), readMembers(field.Type, seen)...)
		}
	}
	return names
}
