package importer

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/password"
	"github.com/postern-id/postern/nodes"
)

// readExport reads everything of an export.
func readExport(t testing.TB, product, dir string, o Options) (*Resources, []*User, *Report) {
	t.Helper()
	source, err := Open(product, dir, o)
	if err != nil {
		t.Fatal(err)
	}
	report := NewReport(nil)
	content, err := source.Resources(report)
	if err != nil {
		t.Fatal(err)
	}
	var users []*User
	err = source.Users(report, func(u *User) error {
		users = append(users, u)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return content, users, report
}

// TestSources verifies what the exports in testdata have.
func TestSources(t *testing.T) {
	for product, want := range map[string]struct {
		users     int
		resources []string // plural and key, in order
		passwords int
	}{
		"keycloak": {6, []string{"identityProviders partner", "applications shop", "applications spa", "groups /staff/engineering", "groups /staff",
			"roles editor", "roles chief", "roles Administrator", "roles shop:buyer"}, 3},
		"auth0": {4, []string{"applications mYaPPcLiEnTiD0123456789abcdefghij", "applications mYsPaCLiEnTiD0123456789abcdefghij0",
			"applications mYm2mCLiEnTiD0123456789abcdefghij0", "roles rol_abc123"}, 2},
		"firebase":  {3, nil, 1},
		"cognito":   {3, []string{"groups clerks", "applications 3n4b5urk1ft4fl3mg5e62d9ado"}, 0},
		"thunderid": {1, []string{"applications booking", "groups 7e9d1e5e-3333-4a11-8a11-000000000011", "roles 7e9d1e5e-3333-4a11-8a11-000000000021"}, 0},
	} {
		content, users, report := readExport(t, product, filepath.Join("testdata", product), Options{RPID: "localhost"})
		var resources []string
		for _, r := range content.List {
			resources = append(resources, r.Plural+" "+r.Key)
			if r.Secret != "" && strings.Contains(inline(r.Content), r.Secret) {
				t.Errorf("%s: the secret of %s is part of the content", product, r.Key)
			}
		}
		if len(users) != want.users || !slices.Equal(resources, want.resources) {
			t.Errorf("%s: %d users and the resources %q", product, len(users), resources)
		}
		passwords := 0
		for _, u := range users {
			if u.Password != "" {
				passwords++
			}
		}
		if passwords != want.passwords || len(report.Findings()) == 0 {
			t.Errorf("%s: %d passwords, findings %+v", product, passwords, report.Findings())
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	empty := t.TempDir()
	for _, product := range Products() {
		for _, dir := range []string{empty, filepath.Join(empty, "missing")} {
			if _, err := Open(product, dir, Options{}); err == nil && product != "cognito" {
				t.Errorf("%s: %s was opened", product, dir)
			}
		}
	}
	if _, err := Open("okta", empty, Options{}); err == nil {
		t.Error("an unknown product was opened")
	}
	if _, err := Open("keycloak", filepath.Join("testdata", "auth0"), Options{}); err == nil || !strings.Contains(err.Error(), "check that it is an export of keycloak") {
		t.Errorf("the export of another product: %v", err)
	}
}

// TestTranslatedFlowsCompile proves the translated flows.
func TestTranslatedFlowsCompile(t *testing.T) {
	for product, want := range map[string]int{"keycloak": 1, "thunderid": 2} {
		content, _, _ := readExport(t, product, filepath.Join("testdata", product), Options{})
		if len(content.Flows) != want {
			t.Errorf("%s: %d flows", product, len(content.Flows))
		}
		for name, text := range content.Flows {
			if _, g, problems := engine.Check(text, true, nodes.Kinds(nodes.Deps{})); g == nil {
				t.Errorf("%s: %v\n%s", name, problems, text)
			}
		}
	}
}

// TestKeycloakFlows translates flows of various forms.
func TestKeycloakFlows(t *testing.T) {
	realm := func(executions string, more ...string) string {
		return `{"realm":"r","browserFlow":"b","authenticationFlows":[{"alias":"b","authenticationExecutions":[` + executions + `]}` + strings.Join(more, "") + `],
			"authenticatorConfig":[{"alias":"role","config":{"condUserRole":"admin"}},{"alias":"age","config":{"attribute_name":"age","attribute_expected_value":"1","not":"true"}}]}`
	}
	one := func(authenticator, requirement string) string {
		return `{"authenticator":"` + authenticator + `","requirement":"` + requirement + `"}`
	}
	sub := func(alias, executions string) string {
		return `,{"alias":"` + alias + `","authenticationExecutions":[` + executions + `]}`
	}
	tests := map[string]struct {
		realm string
		want  []string // parts of the file
	}{
		"a name, then a password": {realm(one("auth-username-form", "REQUIRED") + "," + one("auth-password-form", "REQUIRED")), []string{"use: user-resolve", "use: password-authenticate"}},
		"a name, then a passkey":  {realm(one("auth-username-form", "REQUIRED") + "," + one("webauthn-authenticator-passwordless", "REQUIRED")), []string{`"mode":"identified"`}},
		"a required code":         {realm(one("auth-username-password-form", "REQUIRED") + "," + one("auth-otp-form", "REQUIRED")), []string{"use: totp-register"}},
		"nothing known":           {realm(one("custom", "REQUIRED")), []string{"use: password-authenticate", "Left out: custom"}},
		"disabled executions":     {realm(one("auth-username-password-form", "REQUIRED") + "," + one("custom", "DISABLED")), []string{"use: password-authenticate"}},
		"a condition on a role": {realm(one("auth-username-password-form", "REQUIRED")+`,{"flowAlias":"c","requirement":"CONDITIONAL"}`,
			sub("c", `{"authenticator":"conditional-user-role","requirement":"REQUIRED","authenticatorConfig":"role"},`+one("auth-otp-form", "REQUIRED"))), []string{`\"admin\" in user.roles`}},
		"two second factors": {realm(one("auth-username-password-form", "REQUIRED")+`,{"flowAlias":"c","requirement":"CONDITIONAL"}`,
			sub("c", one("conditional-user-configured", "REQUIRED")+","+one("auth-otp-form", "ALTERNATIVE")+","+one("webauthn-authenticator", "ALTERNATIVE")+","+one("auth-recovery-authn-code-form", "ALTERNATIVE"))),
			[]string{"user.hasTotp", "user.hasPasskey", "user.hasRecoveryCodes"}},
		"a flow within itself": {realm(`{"flowAlias":"b","requirement":"REQUIRED"}`), []string{"use: password-authenticate"}},
		"a session in a part":  {realm(`{"flowAlias":"p","requirement":"REQUIRED"},`+one("auth-otp-form", "REQUIRED"), sub("p", one("auth-cookie", "ALTERNATIVE")+","+one("auth-username-password-form", "ALTERNATIVE"))), []string{`{"active":"code","none":"who"}`}},
	}
	for name, test := range tests {
		dir := t.TempDir()
		datatest.WriteFile(t, filepath.Join(dir, "r-realm.json"), test.realm)
		content, _, _ := readExport(t, "keycloak", dir, Options{})
		text := string(content.Flows["b.yaml"])
		for _, part := range test.want {
			if !strings.Contains(text, part) {
				t.Errorf("%s: the flow lacks %s:\n%s", name, part, text)
			}
		}
		if strings.Contains(name, "attribute") {
			continue
		}
		if _, g, problems := engine.Check([]byte(text), true, nodes.Kinds(nodes.Deps{})); g == nil {
			t.Errorf("%s: %v\n%s", name, problems, text)
		}
	}
}

func TestCustomHashesOfAuth0(t *testing.T) {
	p := password.New(password.Options{MemoryKiB: 64, Iterations: 1})
	for name, test := range map[string]struct {
		hash     auth0CustomHash
		password string
		valid    bool
	}{
		"argon2":  {auth0CustomHash{Algorithm: "argon2"}.with("$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"), "password", true},
		"pbkdf2":  {auth0CustomHash{Algorithm: "pbkdf2"}.with("$pbkdf2-sha1$i=4096,l=20$c2FsdA$SwB5AbdlSJq+rUnZJvch0GWkKcE"), "password", true},
		"bcrypt":  {auth0CustomHash{Algorithm: "bcrypt"}.with("$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"), "U*U", true},
		"md5":     {auth0CustomHash{Algorithm: "md5"}.with("f96b697d7cb7938d525a2f31aaf161d0"), "message digest", true},
		"md4":     {auth0CustomHash{Algorithm: "md4"}.with("d9130a8164549fe818874806e1c7014b"), "message digest", false},
		"no hash": {auth0CustomHash{Algorithm: "sha1"}.with("xyz"), "", false},
		"no PHC":  {auth0CustomHash{Algorithm: "argon2"}.with("$argon2id$"), "", false},
	} {
		h, err := test.hash.imported()
		if err == nil {
			err = h.Check()
		}
		if (err == nil) != test.valid {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil {
			continue
		}
		if ok, _, err := p.Verify(t.Context(), h.String(), test.password); !ok || err != nil {
			t.Errorf("%s: ok %v, %v", name, ok, err)
		}
	}
}

// with returns the hash with a value.
func (c auth0CustomHash) with(value string) auth0CustomHash {
	c.Hash.Value = value
	return c
}

func TestHashConfigs(t *testing.T) {
	for text, want := range map[string]string{
		`hash_config { algorithm: SCRYPT, base64_signer_key: QUJDRA==, base64_salt_separator: Bw==, rounds: 8, mem_cost: 14, }`: "firebase-scrypt",
		`algorithm: HMAC_SHA256` + "\nbase64_signer_key: QUJDRA==":                                                              "hmac",
		`algorithm: PBKDF2_SHA256` + "\nrounds: 1000":                                                                           "pbkdf2",
		`algorithm: SHA256` + "\nrounds: 3":                                                                                     "digest",
		`algorithm: BCRYPT`:                                                                                                     "bcrypt",
		`algorithm: STANDARD_SCRYPT, mem_cost: 1024, block_size: 8, parallelization: 1`:                                         "scrypt",
		`rounds: 8`: "", `algorithm: SCRYPT, rounds: x`: "", ``: "",
	} {
		c, err := parseHashConfig(text)
		if (err == nil) != (want != "") {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if err != nil {
			continue
		}
		if h, err := c.hash(make([]byte, 32), []byte("salt")); err != nil || h.Scheme != want {
			t.Errorf("%s: %s, %v", text, h.Scheme, err)
		}
	}
}

// FuzzExports verifies that no export makes a reader panic, whatever it contains. Each product reads it
// in each of its forms.
func FuzzExports(f *testing.F) {
	for _, pattern := range []string{"testdata/*/*", "testdata/*/*/*"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			if text, err := os.ReadFile(file); err == nil {
				f.Add(text)
			}
		}
	}
	for _, realm := range []string{
		withMapper("oidc-usermodel-client-role-mapper", `{"id.token.claim":"true","claim.name":"a..${client_id}\\\\.b","multivalued":["true"]}`),
		withMapper("oidc-hardcoded-claim-mapper", `{"access.token.claim":true,"claim.name":"x\\\\","claim.value":"[1,null,{}]","jsonType.label":"JSON"}`),
		`{"realm":"r","roles":{"realm":[{"name":"a:"}],"client":{"a":[{"name":""}],"a:":[{"name":":"}]}},"clientScopes":[{"name":"s","protocolMappers":[{"protocolMapper":"oidc-group-membership-mapper"}]}],"scopeMappings":[{"clientScope":"s"}]}`,
	} {
		f.Add([]byte(realm))
	}
	f.Add([]byte("sep\tid;\"x;y\"\n\"\t\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for product, names := range map[string][]string{
			"keycloak": {"r.json"}, "auth0": {"users.ndjson"}, "firebase": {"users.json", "users.csv"}, "cognito": {"users.json", "users.csv"}, "thunderid": {"flow.json"}, "csv": {"users.csv"}, "jsonl": {"users.jsonl"},
		} {
			for _, name := range names {
				file := filepath.Join(t.TempDir(), name)
				datatest.WriteFile(t, file, text)
				source, err := Open(product, file, Options{})
				if err != nil {
					continue
				}
				report := NewReport(nil)
				_, _ = source.Resources(report) // errors are those of the input
				_ = source.Users(report, func(u *User) error {
					if u.Password != "" && len(u.Password) > 10_000 {
						t.Errorf("%s: a hash of %d bytes", product, len(u.Password))
					}
					return nil
				})
			}
		}
		c, err := parseHashConfig(string(text))
		if err == nil {
			_, _ = c.hash(text, text)
		}
	})
}

// writeThunder writes an application of ThunderID with members of its configuration in YAML.
func writeThunder(t *testing.T, config string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	datatest.WriteFile(t, filepath.Join(dir, "shop.yaml"), "id: shop-app\nname: Shop\nassertion: {user_attributes: [email]}\ninbound_auth_config:\n  - type: oauth2\n    config: {client_id: shop, client_secret: Zk3v9QpL0sWx7Tn2Yb8Rc5Hd1Jg6Mf4A, redirect_uris: [\"https://shop.example/cb\"], "+config+"}\n")
	return dir
}
