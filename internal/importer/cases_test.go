package importer

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/postern-id/postern/internal/datatest"
)

// writeRealm writes the export of a realm.
func writeRealm(t *testing.T, text string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	datatest.WriteFile(t, filepath.Join(dir, "r-realm.json"), text)
	return dir
}

// wantFindings verifies that a report has findings with the parts, in problem or place.
func wantFindings(t *testing.T, r *Report, parts ...string) {
	t.Helper()
	var all strings.Builder
	for _, f := range r.Findings() {
		fmt.Fprintf(&all, "%s: %d × %s (%s)\n", f.Subject, f.Count, f.Problem, strings.Join(f.Places, "; "))
	}
	for _, part := range parts {
		if !strings.Contains(all.String(), part) {
			t.Errorf("no finding has %q:\n%s", part, &all)
		}
	}
}

// Records without an ID are known by their names, and differ.
func TestRecordsWithoutIDs(t *testing.T) {
	content, users, _ := readExport(t, "keycloak", writeRealm(t, `{"realm":"shop",
		"roles":{"realm":[{"name":"administrator"},{"name":"user"}],"client":{"one":[{"name":"user"}]}},
		"groups":[{"name":"Everyone","subGroups":[{"name":"Admins"}]},{"name":"Admins","realmRoles":["administrator"]}],
		"clients":[{"clientId":"one","publicClient":true,"redirectUris":["https://one.example/cb"]},{"clientId":"two","publicClient":true,"redirectUris":["https://two.example/cb"]}],
		"users":[{"username":"ann","realmRoles":["user"]},{"username":"ben","realmRoles":["administrator"]}]}`), Options{})
	ids := map[string]bool{}
	for _, r := range content.List {
		ids[r.Content["id"].(string)] = true
	}
	for _, u := range users {
		ids[u.ID] = true
	}
	if len(ids) != 3+3+2+2 {
		t.Errorf("%d different IDs", len(ids))
	}
	if !slices.Equal(users[0].Roles, []string{"user"}) {
		t.Errorf("the roles of ann are %q", users[0].Roles)
	}
}

// What no code reads is reported with its path and the name of its record.
func TestUnreadMembers(t *testing.T) {
	_, _, report := readExport(t, "keycloak", writeRealm(t, `{"realm":"acme","enabled":true,"passwordPolicy":"length(12)","defaultGroups":["/Everyone"],"bruteForceProtected":false,
		"organizations":[{"name":"Acme","alias":"acme-org"}],"clientScopes":[{"name":"orders","protocolMappers":[{}]},{"name":"stock"},{"name":"profile"}],
		"identityProviderMappers":[{"name":"role","identityProviderAlias":"corp"}],
		"roles":{"realm":[{"name":"boss","attributes":{"level":["1"]}}]},
		"clients":[{"clientId":"web","secret":"Zk3v9QpL0sWx7Tn2Yb8Rc5Hd1Jg6Mf4A","redirectUris":["https://shop.example/cb"],"defaultClientScopes":["orders","email"],"webOrigins":["https://shop.example"],
			"attributes":{"pkce.code.challenge.method":"S256","access.token.lifespan":60,"oauth2.device.authorization.grant.enabled":"true","frontchannel.logout.url":"https://shop.example/fc"},
			"authorizationServicesEnabled":true,"authorizationSettings":{"resources":[{"name":"Default"}]}}],
		"users":[{"username":"eve","favourite":"tea","credentials":[{"type":"otp","device":"phone"}]}]}`), Options{})
	wantFindings(t, report, "passwordPolicy (realm acme)", "defaultGroups", "organizations (organization alias acme-org)", "identityProviderMappers (identityProviderMapper name role)",
		"clients.authorizationSettings (client clientId web)", "clients.attributes.oauth2.device.authorization.grant.enabled (client clientId web)", "clients.attributes.frontchannel.logout.url",
		"roles.realm.attributes (role name boss)", "users.favourite (user username eve)", "users.credentials.device",
		`a mapper of the kind "" is not known: the claim "" is missing (client scope orders, mapper  ())`, `tokens have the default client scope "orders" in their member scope only if`,
		"no imported client has the client scope: it is not imported, with its mappers (client scope stock)")
	for _, f := range report.Findings() {
		for _, unwanted := range []string{"bruteForceProtected", "clientScopes.name", "pkce.code", "\"email\""} {
			if strings.Contains(f.Problem, unwanted) {
				t.Errorf("%s is reported", f.Problem)
			}
		}
	}
}

// The settings of a client are kept.
func TestClientSettings(t *testing.T) {
	content, _, report := readExport(t, "keycloak", writeRealm(t, `{"realm":"acme","clients":[
		{"clientId":"web","secret":"Zk3v9QpL0sWx7Tn2Yb8Rc5Hd1Jg6Mf4A","redirectUris":["https://shop.example/cb"],"attributes":{"pkce.code.challenge.method":"S256","access.token.lifespan":60}},
		{"clientId":"spa","publicClient":true,"rootUrl":"http://localhost:8080","redirectUris":["http://localhost:8080/*","/*"]},
		{"clientId":"both","publicClient":true,"serviceAccountsEnabled":true,"redirectUris":["https://both.example/cb"]},
		{"clientId":"any","publicClient":true,"redirectUris":["*"]}]}`), Options{})
	var got []string
	for _, r := range content.List {
		got = append(got, inline(r.Content["inboundAuthConfig"]))
	}
	if len(got) != 3 || !strings.Contains(got[0], `"pkceRequired":true`) || !strings.Contains(got[0], `"validityPeriod":60`) || !strings.Contains(got[1], `"redirectUris":["http://localhost:8080/"]`) {
		t.Errorf("%q", got)
	}
	wantFindings(t, report, "the client is not imported: no redirect URI can be compared exactly", "(client any)")
	if len(content.List) == 3 && !slices.ContainsFunc(content.List[2].notes, func(n note) bool { return strings.Contains(n.problem, "client_credentials") }) {
		t.Errorf("the notes are %+v", content.List[2].notes)
	}
	if len(content.List) == 3 && !slices.ContainsFunc(content.List[1].notes, func(n note) bool { return strings.Contains(n.problem, "only the start is imported") }) {
		t.Errorf("the notes are %+v", content.List[1].notes)
	}
}

// Both older forms of passwords are read, and a temporary one is reported.
func TestOlderPasswordForms(t *testing.T) {
	_, users, report := readExport(t, "keycloak", writeRealm(t, `{"realm":"shop","users":[
		{"username":"alice","credentials":[{"type":"password","hashedSaltedValue":"A3okqV2T/ybXTVEgKfosoSjP8Yc9IZbFP/SY4cEd6hag7TABQrQ6nUSuwagGt96l8cw1DTijO75PqX6uiTXMzw==","salt":"sl4mXx6T9FypPH/s9TngfQ==","hashIterations":27500,"algorithm":"pbkdf2-sha256","digits":0,"period":0,"config":{}}]},
		{"username":"bob","credentials":[{"type":"password","value":"bob-has-a-long-password","temporary":true}]}]}`), Options{})
	if users[0].Password == "" || users[1].PlainPassword != "bob-has-a-long-password" {
		t.Errorf("%+v, %+v", users[0], users[1])
	}
	wantFindings(t, report, "the password is temporary")
}

// A malformed record is left out and reported by its name; the others are imported.
func TestMalformedRecords(t *testing.T) {
	content, users, report := readExport(t, "keycloak", writeRealm(t, `{"realm":"acme","roles":{"realm":[{"name":7},{"name":"app"}]},
		"clients":[{"clientId":"bad","redirectUris":"https://a.example"},{"clientId":"good","publicClient":true,"redirectUris":["https://a.example/cb"]}],
		"users":[{"username":"eve"},{"id":"aaaaaaaa-0000-4000-8000-000000000019","username":12345},{"username":"max"}]}`), Options{})
	if len(users) != 2 || len(content.List) != 2 {
		t.Errorf("%d users, %d resources", len(users), len(content.List))
	}
	wantFindings(t, report, "username 12345, id aaaaaaaa-0000-4000-8000-000000000019", "clientId bad", "the record cannot be read and is left out")
	dir := t.TempDir()
	datatest.WriteFile(t, filepath.Join(dir, "users.ndjson"), `{"user_id":"auth0|1","name":"A","email":"a@example.org"}`+"\r\n"+`{"user_id":"auth0|2","name":["B"]}`+"\r\n"+`{"user_id":"auth0|3","name":"C","email":"c@example.org"}`)
	_, users, report = readExport(t, "auth0", dir, Options{})
	if len(users) != 2 {
		t.Errorf("%d users", len(users))
	}
	wantFindings(t, report, "user_id auth0|2")
}

// The default role means nothing here, but what it includes does.
func TestRolesOfTheDefaultRole(t *testing.T) {
	_, users, report := readExport(t, "keycloak", writeRealm(t, `{"realm":"acme","roles":{"realm":[{"name":"app-user"},{"name":"default-roles-acme","composite":true,"composites":{"realm":["offline_access","app-user"]}},
		{"name":"a","composites":{"realm":["b"]}},{"name":"b","composites":{"realm":["a"]}}]},
		"users":[{"username":"eve","realmRoles":["default-roles-acme"]},{"username":"max","realmRoles":["a"]}]}`), Options{})
	if !slices.Equal(users[0].Roles, []string{"app-user"}) || !slices.Equal(users[1].Roles, []string{"a", "b"}) {
		t.Errorf("%q, %q", users[0].Roles, users[1].Roles)
	}
	wantFindings(t, report, "users who sign up later do not get the roles of the default role")
}

// A security key that was a second factor does not become a whole sign-in.
func TestSecondFactorKeys(t *testing.T) {
	_, users, report := readExport(t, "keycloak", writeRealm(t, `{"realm":"acme","webAuthnPolicyRpId":"localhost","users":[{"username":"eve","credentials":[
		{"type":"webauthn","secretData":"{}","credentialData":"{\"credentialId\":\"AAAA\",\"credentialPublicKey\":\"AAAA\",\"counter\":0}"}]}]}`), Options{RPID: "localhost"})
	if len(users[0].Passkeys) != 0 {
		t.Error("it is a passkey")
	}
	wantFindings(t, report, "a security key that was a second factor after a password is not imported")
}

// Tools on Windows write UTF-16 or a byte order mark, and line ends of two characters.
func TestEncodings(t *testing.T) {
	const text = "{\"realm\":\"acme\",\r\n\"users\":[{\"username\":\"Zoë\"}]}"
	utf16File := func(order binary.AppendByteOrder) string {
		var b []byte
		for _, unit := range utf16.Encode([]rune("\ufeff" + text)) {
			b = order.AppendUint16(b, unit)
		}
		return string(b)
	}
	for name, content := range map[string]string{"UTF-8": text, "UTF-8 with a mark": "\ufeff" + text, "UTF-16LE": utf16File(binary.LittleEndian), "UTF-16BE": utf16File(binary.BigEndian)} {
		_, users, _ := readExport(t, "keycloak", writeRealm(t, content), Options{})
		if len(users) != 1 || users[0].Attributes["username"] != "Zoë" {
			t.Errorf("%s: %+v", name, users)
		}
	}
}

// The export of a whole server is a list of realms. The caller chooses one.
func TestWholeServers(t *testing.T) {
	dir := writeRealm(t, `[{"realm":"master","users":[{"username":"root"}]},{"realm":"shop","users":[{"username":"ann"},{"username":"ben"}]}]`)
	if _, err := Open("keycloak", dir, Options{}); err == nil || !strings.Contains(err.Error(), "has the realms master, shop: name the one to import with --name") {
		t.Errorf("%v", err)
	}
	content, users, _ := readExport(t, "keycloak", dir, Options{Name: "shop"})
	if len(users) != 2 || content.Name != "shop" {
		t.Errorf("%d users of %s", len(users), content.Name)
	}
	_, users, _ = readExport(t, "keycloak", writeRealm(t, `[{"realm":"only","users":[{"username":"ann"}]}]`), Options{})
	if len(users) != 1 {
		t.Errorf("%d users of the only realm", len(users))
	}
}

// Files of ThunderID in one folder have no other sign of their type than their members, and templates are named.
func TestFlatThunderFolders(t *testing.T) {
	dir := t.TempDir()
	datatest.WriteFile(t, filepath.Join(dir, "ada.yaml"), "id: ada\ntype: person\nou_id: shop-unit\nattributes: {username: ada, email: ada@shop.example}\ncredentials: {password: \"a long made-up password\"}\n")
	datatest.WriteFile(t, filepath.Join(dir, "shop.yaml"), "id: shop-app\nname: Shop\nauth_flow_id: shop-flow\ninbound_auth_config:\n  - type: oauth2\n    config: {client_id: shop-web, redirect_uris: [\"https://shop.example/cb\"], grant_types: [authorization_code], pkce_required: true, public_client: true, scope_claims: {profile: [name]}, client_secret: \"{{.SHOP_SECRET}}\"}\n")
	content, users, report := readExport(t, "thunderid", dir, Options{})
	if len(users) != 1 || len(content.List) != 1 || users[0].PlainPassword == "" || !strings.Contains(inline(content.List[0].Content), `"pkceRequired":true`) {
		t.Errorf("%+v, %+v", users, content.List)
	}
	if text := inline(content.List[0].Content); !strings.Contains(text, `"scopeClaims":{"profile":["name"]}`) {
		t.Errorf("%s", text)
	}
	wantFindings(t, report, "user.ou_id (user ada)", "application.auth_flow_id (application shop-web)", `the template "{{.SHOP_SECRET}}" is not filled in`)
	datatest.WriteFile(t, filepath.Join(dir, "more.yaml"), "id: x\nredirect_uris:\n{{- range .REDIRECTS}}\n  - {{.}}\n{{- end}}\n")
	if _, err := Open("thunderid", dir, Options{}); err == nil || !strings.Contains(err.Error(), "it has templates (REDIRECTS)") {
		t.Errorf("%v", err)
	}
}

// Files of users without a product have the same users in both forms.
func TestUserTables(t *testing.T) {
	const hash = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
	for product, text := range map[string]string{
		"csv": "\ufeffid,username,email,email_verified,status,password_hash,password,totp_secret,groups,created_at,department\r\n" +
			"0a7d1b5e-1111-4a11-8a11-000000000001,ann,ann@example.org,true,,\"" + hash + "\",,JBSWY3DPEHPK3PXP,staff; clerks,2026-01-02T03:04:05Z,R&D\r\n" +
			"too,few\r\n" +
			",ben,,,disabled,,quiet harbour lantern,,staff,,\r\n",
		"jsonl": `{"id":"0a7d1b5e-1111-4a11-8a11-000000000001","attributes":{"username":"ann","email":"ann@example.org","email_verified":true,"department":"R&D"},"password_hash":"` + hash + `","totp_secret":"JBSWY3DPEHPK3PXP","groups":["staff","clerks"],"created_at":"2026-01-02T03:04:05Z"}` + "\n" +
			`["too","few"]` + "\n" + `{"username":"ben","status":"disabled","password":"quiet harbour lantern","groups":["staff"]}` + "\n",
	} {
		file := filepath.Join(t.TempDir(), "users."+product)
		datatest.WriteFile(t, file, text)
		content, users, report := readExport(t, product, file, Options{})
		if len(users) != 2 || len(content.List) != 2 {
			t.Fatalf("%s: %d users, %d resources", product, len(users), len(content.List))
		}
		ann, ben := users[0], users[1]
		if ann.ID != "0a7d1b5e-1111-4a11-8a11-000000000001" || ann.Attributes["email_verified"] != true || ann.Attributes["department"] != "R&D" || ann.Password == "" || ann.TOTP == nil ||
			!slices.Equal(ann.Groups, []string{"staff", "clerks"}) || ann.CreatedAt.IsZero() || ann.Attributes["password_hash"] != nil {
			t.Errorf("%s: %+v", product, ann)
		}
		if !ben.Disabled || ben.PlainPassword == "" || ben.ID == "" || !slices.Equal(ben.Groups, []string{"staff"}) {
			t.Errorf("%s: %+v", product, ben)
		}
		wantFindings(t, report, "the record cannot be read and is left out")
	}
}

// A realm for a deployment has placeholders. A password must not be the name of a variable.
func TestPlaceholdersOfRealms(t *testing.T) {
	for realm, names := range map[string]string{
		`{"realm":"${REALM_NAME}","clients":[{"clientId":"${env.CLIENT:web}"}]}`:                                                   "(CLIENT, REALM_NAME)",
		`{"realm":"r","clients":[{"clientId":"web","redirectUris":["${web.origin:https://web.example}/cb"]}]}`:                     "(web.origin)",
		`{"realm":"r","identityProviderMappers":[{"name":"m","config":{"template":"${ALIAS}.${CLAIM.sub}"}}]}`:                     "",
		`{"realm":"r","clients":[{"clientId":"a","protocolMappers":[{"name":"m","config":{"claim.name":"${client_id}"}}]}]}`:       "",
		`{"realm":"r","clients":[{"clientId":"account","rootUrl":"${authBaseUrl}"},{"clientId":"b","rootUrl":"${authAdminUrl}"}]}`: "",
		`{"realm":"r","smtpServer":{"password":"${SMTP_PASSWORD}"}}`:                                                               "",
	} {
		if _, err := Open("keycloak", writeRealm(t, realm), Options{}); (err != nil) != (names != "") || err != nil && !strings.Contains(err.Error(), names) {
			t.Errorf("%s: %v", realm, err)
		}
	}
	_, users, report := readExport(t, "keycloak", writeRealm(t, `{"realm":"r","roles":{"realm":[{"name":"a","description":"${role_a}"}]},"users":[{"username":"ann","credentials":[{"type":"password","value":"${PASSWORD}"}]}]}`), Options{})
	if len(users) != 1 || users[0].PlainPassword != "" {
		t.Errorf("%+v", users)
	}
	wantFindings(t, report, "a placeholder is not filled in", "PASSWORD")
}

// Files of users from spreadsheets: other separators, a byte order mark, names of columns that nearly fit.
func TestSeparators(t *testing.T) {
	for name, text := range map[string]string{
		"commas":     "username,given_name,groups\nann,Ann,\"staff; clerks\"\n",
		"semicolons": "\ufeffusername;given_name;groups\r\nann;Ann;\"staff; clerks\"\r\n",
		"tabs":       "username\tgiven_name\tgroups\nann\tAnn\tstaff; clerks\n",
		"quotes":     "\"username\";\"given_name\";\"groups\"\n\"ann\";\"Ann\";\"staff; clerks\"\n",
		"spaces":     "username, given_name ,groups\nann,Ann,staff; clerks\n",
		"one column": "username\nann\n",
	} {
		file := filepath.Join(t.TempDir(), "users.csv")
		datatest.WriteFile(t, file, text)
		_, users, report := readExport(t, "csv", file, Options{})
		if len(users) != 1 || users[0].Attributes["username"] != "ann" || name != "one column" && (users[0].Attributes["given_name"] != "Ann" || !slices.Equal(users[0].Groups, []string{"staff", "clerks"})) || len(report.Findings()) > 0 {
			t.Errorf("%s: %+v, %+v", name, users, report.Findings())
		}
		if users[0].Place != "users.csv:2 (id ann)" {
			t.Errorf("%s: the place is %s", name, users[0].Place)
		}
	}
}

// Places are lines and columns from 1, as editors show them.
func TestPlaces(t *testing.T) {
	for product, test := range map[string]struct{ file, text, want string }{
		"csv":       {"users.csv", "username\nann\n\"b\nen\"\ncat\n", "users.csv:2 (id ann), users.csv:3 (id b\nen), users.csv:5 (id cat)"},
		"jsonl":     {"users.jsonl", "{\"username\":\"ann\"}\n\n  {\"username\":\n\"ben\"}\n", "users.jsonl:1:1 (id ann), users.jsonl:3:3 (id ben)"},
		"keycloak":  {"r-realm.json", "{\"realm\":\"r\",\n \"users\":[\n  {\"username\":\"ann\"}, {\"username\":\"ben\"},\n\n\t{\"username\":\"cat\"}]}", "r-realm.json:3:3 (username ann), r-realm.json:3:23 (username ben), r-realm.json:5:2 (username cat)"},
		"auth0":     {"users.ndjson", "[{\"user_id\":\"auth0|1\",\"name\":\"A\"},\n {\"user_id\":\"auth0|2\",\"name\":\"B\"}]", "users.ndjson:1:2 (id auth0|1), users.ndjson:2:2 (id auth0|2)"},
		"firebase":  {"users.json", "{\"users\":[\n{\"localId\":\"a\"}]}", "users.json:2:1 (id a)"},
		"thunderid": {"users.yaml", "---\nresource_type: user\nid: a\nattributes: {username: ann}\n---\n- {resource_type: user, id: b, attributes: {username: ben}}\n- {resource_type: user, id: c, attributes: {username: cat}}\n", "users.yaml:2:1, users.yaml:6:3, users.yaml:7:3"},
	} {
		dir := t.TempDir()
		datatest.WriteFile(t, filepath.Join(dir, test.file), test.text)
		_, users, _ := readExport(t, product, dir, Options{})
		var places []string
		for _, u := range users {
			places = append(places, u.Place)
		}
		if got := strings.Join(places, ", "); got != test.want {
			t.Errorf("%s: %s, expected %s", product, got, test.want)
		}
	}
}
