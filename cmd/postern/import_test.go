package main

import (
	"bytes"
	"encoding/base32"
	"encoding/base64"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/passkey/passkeytest"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/totp"
	"github.com/postern-id/postern/schemas"
)

// importTest is a server whose store gets imported users.
type importTest struct {
	*testApp
	environ []string
	app     string // an application with passwords
}

func newImportTest(t *testing.T, environ ...string) importTest {
	environ = append(testEnvironment(t.TempDir()), environ...)
	w := newTestAppIn(t, environ)
	return importTest{w, environ, w.application(w.admin(), "Passwords", "authFlowId", "password-sign-in")}
}

// importExport runs the command and returns what it prints.
func (w importTest) importExport(t *testing.T, arguments ...string) string {
	t.Helper()
	var out, errors bytes.Buffer
	p := program{args: append([]string{"import"}, arguments...), environ: w.environ, stdout: &out, stderr: &errors}
	if code := p.run(t.Context()); code != exitFine {
		t.Fatalf("exit code %d: %s%s", code, out.String(), errors.String())
	}
	return out.String()
}

// signInWith signs a user in with a name and a password.
func (w importTest) signInWith(name, password string) schemas.Step {
	return w.answer(w.signInTo(w.app), "continue", map[string]string{"username": name, "password": password})
}

// checkPassword signs a user in with the password of before the import, and verifies that the hash is
// replaced by one of this server.
func (w importTest) checkPassword(t *testing.T, name, password, id string) {
	t.Helper()
	before, err := w.store.Password(t.Context(), id)
	if err != nil || before.Hash == "" || strings.HasPrefix(before.Hash, "$argon2id$") {
		t.Fatalf("%s: the hash before is %.20q, %v", name, before.Hash, err)
	}
	if s := w.signInWith(name, password+"x"); acceptsPassword(s) {
		t.Errorf("%s: signed in with a wrong password", name)
	}
	if s := w.signInWith(name, password); !acceptsPassword(s) {
		t.Fatalf("%s: not signed in: %+v", name, s)
	}
	after, err := w.store.Password(t.Context(), id)
	if err != nil || !strings.HasPrefix(after.Hash, "$argon2id$") || after.ID != before.ID {
		t.Errorf("%s: the hash after is %.20q, %v", name, after.Hash, err)
	}
	if s := w.signInWith(name, password); !acceptsPassword(s) {
		t.Errorf("%s: not signed in with the new hash: %+v", name, s)
	}
}

// acceptsPassword reports whether a sign-in has accepted the password: it is complete, or asks for the code of the user's
// authenticator app.
func acceptsPassword(s schemas.Step) bool {
	return s.FlowStatus == schemas.Complete || s.StepID == "second"
}

// expectTexts verifies that an output has all texts.
func expectTexts(t *testing.T, out string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(out, text) {
			t.Errorf("the output lacks %q:\n%s", text, out)
		}
	}
}

const fixtures = "../../internal/importer/testdata/"

// keycloakWithPasskey returns a copy of the export in which a user has a passkey of a software
// authenticator.
func keycloakWithPasskey(t *testing.T, device *passkeytest.Authenticator, userID, origin string) (dir string) {
	t.Helper()
	options, err := json.Marshal(map[string]any{
		"challenge": base64.RawURLEncoding.EncodeToString([]byte("0123456789abcdef0123456789abcdef")), "rp": map[string]string{"id": "localhost", "name": "Acme"},
		"user":             map[string]string{"id": base64.RawURLEncoding.EncodeToString([]byte(userID)), "name": "grace", "displayName": "Grace"},
		"pubKeyCredParams": []any{map[string]any{"type": "public-key", "alg": -7}},
	})
	if err != nil {
		t.Fatal(err)
	}
	made, err := device.Register(options, origin)
	if err != nil {
		t.Fatal(err)
	}
	attestation, err := base64.RawURLEncoding.DecodeString(made.AttestationObject)
	if err != nil {
		t.Fatal(err)
	}
	id, err := base64.RawURLEncoding.DecodeString(made.ID)
	if err != nil {
		t.Fatal(err)
	}
	// The public key follows the credential id in the authenticator data, which comes last.
	key := attestation[bytes.Index(attestation, id)+len(id):]
	data, err := json.Marshal(map[string]any{"aaguid": "00000000-0000-0000-0000-000000000000", "credentialId": base64.StdEncoding.EncodeToString(id), "counter": 0,
		"credentialPublicKey": base64.RawURLEncoding.EncodeToString(key), "attestationStatementFormat": "none", "transports": []string{"internal"}})
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	for _, name := range []string{"acme-realm.json", "acme-users-0.json"} {
		text := datatest.ReadFile(t, fixtures+"keycloak/"+name)
		var content map[string]any
		datatest.Unmarshal(t, text, &content)
		users, _ := content["users"].([]any)
		for _, u := range users {
			if u := u.(map[string]any); u["id"] == userID {
				u["credentials"] = append(u["credentials"].([]any), map[string]any{"type": "webauthn-passwordless", "userLabel": "Laptop", "createdDate": 1700000000000, "secretData": "{}", "credentialData": string(data)})
			}
		}
		if text, err = json.Marshal(content); err != nil {
			t.Fatal(err)
		}
		datatest.WriteFile(t, filepath.Join(dir, name), text)
	}
	return dir
}

const (
	adaOfKeycloak   = "0a7d1b5e-1111-4a11-8a11-000000000001"
	graceOfKeycloak = "0a7d1b5e-1111-4a11-8a11-000000000002"
)

// TestImportKeycloak imports a realm, and signs users in with what they had there.
func TestImportKeycloak(t *testing.T) {
	onDatabases(t, func(t *testing.T, environ ...string) {
		w := newImportTest(t, environ...)
		dir := keycloakWithPasskey(t, w.device, graceOfKeycloak, w.origin)
		flows := t.TempDir()
		out := w.importExport(t, "keycloak", dir, "--dry-run", "--flows", flows)
		expectTexts(t, out, "can be imported: 5 users", "0 exist already, 1 cannot be imported", "another user has the same username",
			`the user type "Person" has no attribute "department"`, "hash cannot be verified: 900000000 rounds",
			`the protocol "saml" is not supported`, "a redirect URI is a pattern", `the execution "acme-risk-check" (REQUIRED) is left out`, "codes by counter (HOTP)", "another one has the same name", "users of the provider \"ldap\"")
		if u, err := w.store.User(t.Context(), adaOfKeycloak); !schemas.HasClass(err, schemas.NotFound) {
			t.Fatalf("a dry run stored %v, %v", u, err)
		}
		expectNoSecrets(t, out)
		ids := filepath.Join(t.TempDir(), "ids.csv")
		out = w.importExport(t, "keycloak", dir, "--ids", ids)
		expectTexts(t, out, "imported 5 users", "imported 2 applications", "imported 2 groups", "imported 1 identity provider\n")
		if strings.Count(out, "another user has the same username") != 1 {
			t.Errorf("the findings of the dry run are repeated\n%s", out)
		}
		if id := imported(t, ids, "former"); id != "id" {
			t.Errorf("the header names the ID %q", id)
		}

		w.checkPassword(t, "ada@example.org", "correct horse battery", adaOfKeycloak)
		w.checkPassword(t, "grace", "compilers are fun 1", graceOfKeycloak)
		if s := w.signInWith("alan", "enigma of the turing"); s.FlowStatus == schemas.Complete {
			t.Error("a disabled user signed in")
		}
		if s := w.authenticate(w.start(schemas.Authentication)); s.FlowStatus != schemas.Complete {
			t.Errorf("the passkey: %+v", s)
		}
		w.checkImportedCode(t, flows)
		w.checkImportedMembers(t)

		out = w.importExport(t, "keycloak", dir)
		expectTexts(t, out, "imported 0 users; 5 exist already, 1 cannot be imported")
	})
}

// A part of a record that is wrong, or a name that another record has, keeps nothing else back. Users get a role and
// never the application of the same name.
func TestImportImperfectRecords(t *testing.T) {
	const client = `"secret":"Zk3v9QpL0sWx7Tn2Yb8Rc5Hd1Jg6Mf4A","redirectUris":["https://shop.example/cb"]`
	dir := writeExport(t, map[string]string{"acme-realm.json": `{"realm":"acme","clients":[
		{"clientId":"one","name":"Shop","serviceAccountsEnabled":true,` + client + `},{"clientId":"two","name":"Shop",` + client + `},
		{"clientId":"back",` + client + `,"attributes":{"backchannel.logout.url":"http://app:8080/out","logoUri":"logo.png","access.token.lifespan":"99999999"}},
		{"clientId":"fragment","secret":"Zk3v9QpL0sWx7Tn2Yb8Rc5Hd1Jg6Mf4A","redirectUris":["https://shop.example/cb#x","https://shop.example/ok"]},
		{"clientId":"Administrator",` + client + `}],
		"roles":{"realm":[{"name":"Administrator"},{"name":"editor","description":"` + strings.Repeat("long ", 500) + `"}]},
		"users":[{"username":"ann","realmRoles":["Administrator","editor","writer"],"groups":["nowhere"]},
			{"username":"service-account-one","serviceAccountClientId":"one","realmRoles":["editor"]}]}`})
	w := newImportTest(t)
	out := w.importExport(t, "keycloak", dir)
	expectTexts(t, out, "imported 1 user", "imported 5 applications", "imported 2 roles", "another application has the same name: the client ID is added to it", "at client two\n",
		"the value of backchannelLogoutUri is left out", "at client back: http://app:8080/out", "the value of logoUrl is left out", "the lifetime of access tokens is not imported",
		"the value of redirectUris is left out", "at client fragment: https://shop.example/cb#x", "the value of description is left out",
		`the roles "Administrator" were not imported`, `the export does not contain the group "/nowhere" of the user`)
	ann, err := w.store.UserByAttribute(t.Context(), "", "username", "ann")
	if err != nil || len(w.permissionsOf(t, ann.ID)) > 0 {
		t.Fatalf("%v, %q", err, w.permissionsOf(t, ann.ID))
	}
	for name, want := range map[string]int{"editor": 2, "writer": 1} {
		role, err := store.Roles().Find(t.Context(), w.store, "name", name)
		if err != nil || role == nil || len(role.Assignments) != want {
			t.Errorf("the role %s is %+v, %v", name, role, err)
		}
	}
	expectTexts(t, w.importExport(t, "keycloak", dir), "imported 0 users; 1 exist already", "already stored: 7 other resources")
}

// expectNoSecrets verifies that an output contains no hash, secret or address of the fixtures.
func expectNoSecrets(t *testing.T, out string) {
	t.Helper()
	for _, secret := range []string{"44Wat5Eg", "abcdefghij0123456789", "a-made-up", "@example.org", "c2FsdC"} {
		if strings.Contains(out, secret) {
			t.Errorf("the output contains %q", secret)
		}
	}
}

// checkImportedCode stores the translated flow, and signs in with a password and a code.
func (w importTest) checkImportedCode(t *testing.T, flows string) {
	t.Helper()
	text := datatest.ReadFile(t, filepath.Join(flows, "browser.yaml"))
	doc, problems := schemas.ParseYAML(text)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	token := w.admin()
	var made struct{ ID string }
	w.send(201, "/flows", token, string(doc.JSON()), &made)
	s := w.signInTo(w.application(token, "With the flow of Keycloak", "authFlowId", made.ID))
	s = w.answer(s, "other", nil)
	s = w.answer(s, "continue", map[string]string{"username": "ada", "password": "correct horse battery"})
	key := totp.Key{Secret: base32.StdEncoding.EncodeToString([]byte("abcdefghij0123456789")), Algorithm: totp.SHA1, Digits: 6}
	code, err := key.Code(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if s.StepID != "code" {
		t.Fatalf("after the password: %+v", s)
	}
	if s = w.answer(s, "submit", map[string]string{"otp": code}); s.FlowStatus != schemas.Complete {
		t.Errorf("the code: %+v", s)
	}
}

// checkImportedMembers verifies that users have the imported groups and roles, and no others.
func (w importTest) checkImportedMembers(t *testing.T) {
	t.Helper()
	group, err := store.Groups().Find(t.Context(), w.store, "name", "staff/engineering")
	if err != nil || group == nil || len(group.Members) != 1 || group.Members[0].ID != adaOfKeycloak {
		t.Errorf("the group %+v, %v", group, err)
	}
	for _, name := range []string{"chief", "editor", "shop:buyer"} {
		role, err := store.Roles().Find(t.Context(), w.store, "name", name)
		if err != nil || role == nil || len(role.Permissions) > 0 || len(role.Assignments) == 0 {
			t.Errorf("the role %s: %+v, %v", name, role, err)
		}
	}
	if has, err := store.PermissionsOf(t.Context(), w.store, schemas.Principal{Type: schemas.UserPrincipal, ID: adaOfKeycloak}); err != nil || len(has) > 0 {
		t.Errorf("an imported user has %q, %v", has, err)
	}
}

// imported returns the ID of an imported user by the ID in the other product.
func imported(t *testing.T, file, foreign string) string {
	t.Helper()
	text := datatest.ReadFile(t, file)
	for line := range strings.Lines(string(text)) {
		if was, id, _ := strings.Cut(strings.TrimSpace(line), ","); was == foreign {
			return id
		}
	}
	t.Fatalf("there is no %q in %s", foreign, text)
	return ""
}

// TestImportUsers imports the users of the products without flows.
func TestImportUsers(t *testing.T) {
	t.Run("auth0", func(t *testing.T) {
		w, ids := newImportTest(t), filepath.Join(t.TempDir(), "ids.csv")
		out := w.importExport(t, "auth0", fixtures+"auth0", "--ids", ids)
		expectTexts(t, out, "imported 4 users (2 with password, 1 with totp)", "imported 3 applications", "imported 1 role\n", "the actions are not imported",
			`the grant "password" does not exist`, "a redirect URI is a pattern", `no identity provider with the handle "google-oauth2"`, "ask Auth0's support", `no attribute "theme"`, "codes by SMS or mail")
		expectNoSecrets(t, out)
		w.checkPassword(t, "ada@example.org", "difference engine no 2", imported(t, ids, "auth0|5f7c8ec7c33c6c004bbafe82"))
		w.checkPassword(t, "grace@example.org", "analytical engine 9", imported(t, ids, "auth0|5f7c8ec7c33c6c004bbafe83"))
		blocked, err := w.store.User(t.Context(), imported(t, ids, "auth0|5f7c8ec7c33c6c004bbafe84"))
		if err != nil || blocked.Status != schemas.UserDisabled {
			t.Errorf("the blocked user is %+v, %v", blocked, err)
		}
		w.checkClient(t, "mYm2mCLiEnTiD0123456789abcdefghij0", "a-made-up-secret-of-an-auth0-application-2")
		app, err := w.store.TOTP(t.Context(), imported(t, ids, "auth0|5f7c8ec7c33c6c004bbafe82"))
		if err != nil || app == nil || bytes.Contains(app.Secret, []byte("JBSWY3DPEHPK3PXP")) {
			t.Errorf("the app is %v, %v", app, err)
		}
	})
	t.Run("firebase", func(t *testing.T) {
		w, ids := newImportTest(t), filepath.Join(t.TempDir(), "ids.csv")
		out := w.importExport(t, "firebase", fixtures+"firebase", "--ids", ids, "--flows", t.TempDir())
		expectTexts(t, out, "--flows wrote nothing", "imported 3 users (1 with password)", "custom claims are not imported", "only a phone number")
		expectNoSecrets(t, out)
		w.checkPassword(t, "ada@example.org", "lovelace and menabrea", imported(t, ids, "Xk3bT2vQ9hYzLw0aAbCdEfGhIjK2"))
	})
	t.Run("cognito", func(t *testing.T) {
		w, ids := newImportTest(t), filepath.Join(t.TempDir(), "ids.csv")
		out := w.importExport(t, "cognito", fixtures+"cognito", "--ids", ids)
		expectTexts(t, out, "imported 3 users;", "imported 1 application\n", "imported 1 group\n", "Cognito exports no password hashes", "after a mailed code")
		expectNoSecrets(t, out)
		const ada = "4c9d1e5e-2222-4a11-8a11-000000000001"
		if id := imported(t, ids, ada); id != ada {
			t.Errorf("the id %s became %s", ada, id)
		}
		if u, err := w.store.UserByAttribute(t.Context(), "", "email", "ada@example.org"); err != nil || u.ID != ada {
			t.Errorf("found %+v, %v", u, err)
		}
		group, err := store.Groups().Find(t.Context(), w.store, "name", "clerks")
		if err != nil || group == nil || len(group.Members) != 1 {
			t.Errorf("the group is %+v, %v", group, err)
		}
	})
}

// checkClient gets a token with the secret of before the import.
func (w importTest) checkClient(t *testing.T, id, secret string) {
	t.Helper()
	a, err := store.Applications().Find(t.Context(), w.store, "clientId", id)
	if err != nil || a == nil || !w.directory.CheckSecret(a, secret) || w.directory.CheckSecret(a, secret+"x") {
		t.Errorf("the client %s has another secret: %v", id, err)
	}
}

// TestImportedFlows checks the translated flows, and runs their scenarios.
func TestImportedFlows(t *testing.T) {
	w, dir := newImportTest(t), t.TempDir()
	for _, product := range []string{"keycloak", "thunderid"} {
		w.importExport(t, product, fixtures+product, "--dry-run", "--flows", dir)
	}
	scenarios, err := filepath.Glob(fixtures + "scenarios/*_test.yaml")
	if err != nil || len(scenarios) == 0 {
		t.Fatal(scenarios, err)
	}
	for _, file := range scenarios {
		datatest.WriteFile(t, filepath.Join(dir, filepath.Base(file)), datatest.ReadFile(t, file))
	}
	for _, command := range []string{"check", "test"} {
		mustRun(t, w.environ, "flow", command, dir)
	}
}

// An import of nothing fails with the reason, and a misspelled column is named.
func TestImportOfNothing(t *testing.T) {
	w := newImportTest(t)
	for name, test := range map[string]struct{ text, report, reason string }{
		"a misspelled column": {"user-name;Email_Verified\nann;true\n", `has no attribute "user-name"; did you mean "username"?`, "nothing was imported: 1 user of the export cannot be imported; the report above has the reasons"},
		"no users":            {"username\n", "can be imported: 0 users", "nothing was imported: the export has no users, and nothing else that can be imported"},
	} {
		for _, flags := range [][]string{{"--dry-run"}, nil} {
			file := filepath.Join(t.TempDir(), "users.csv")
			datatest.WriteFile(t, file, test.text)
			var out, errors bytes.Buffer
			p := program{args: append([]string{"import", "csv", file}, flags...), environ: w.environ, stdout: &out, stderr: &errors}
			if code := p.run(t.Context()); code == exitFine || !strings.Contains(errors.String(), test.reason) || !strings.Contains(out.String(), test.report) {
				t.Errorf("%s %q: %d %s%s", name, flags, code, out.String(), errors.String())
			}
		}
	}
	file := filepath.Join(t.TempDir(), "users.csv")
	datatest.WriteFile(t, file, "username\tpassword\nann\tquiet harbour lantern\n")
	expectTexts(t, w.importExport(t, "csv", file), "imported 1 user")
	expectTexts(t, w.importExport(t, "csv", file), "1 exist already") // nothing is left to import
}
