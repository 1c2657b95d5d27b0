package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/federation/federationtest"
	"github.com/postern-id/postern/internal/passkey/passkeytest"
	"github.com/postern-id/postern/schemas"
)

// filledStore is a server with a store that the previous release fills, and what its users and clients hold.
type filledStore struct {
	*postern
	provider *federationtest.Provider
	ways     []*signInWay
	clients  []*tokenClient
	invited  string // the link of an invitation that is not accepted yet
	waiting  *signInWay
	step     *schemas.Step // at which waiting waits
	logout   *receiver     // of a client, which is down while the previous release runs
	apps     map[string]string
}

// signInWay is a way in which a user signs in at an application, and its last outcome.
type signInWay struct {
	what   string
	app    string // the name of the application
	user   *agent
	before outcome
	fails  string // the expected failure, with both releases; "" for none
}

// tokenClient is a client with the tokens of a user, or its own, and the form that authenticates it.
type tokenClient struct {
	name, id, scope string
	secret          url.Values
	user            *agent // nil for a client that acts for itself
	before          grantedTokens
}

// grantedTokens are tokens of a client.
type grantedTokens struct {
	tokens
	Scope string `json:"scope"`
}

const upgradeSecret = "a-client-secret-of-enough-characters-0123456789"

// fill fills the store with the previous release.
func (f *filledStore) fill() {
	t := f.t
	f.serveProvider()
	admin := adminToken(t, f.postern)
	f.create(t, "/identity-providers", admin, object{"handle": "corp", "name": "Example Corp", "issuer": f.provider.Issuer,
		"clientId": f.provider.ClientID, "clientSecret": f.provider.ClientSecret, "scopes": []string{"openid", "email"}}, nil)
	for file, rename := range map[string]*strings.Replacer{
		"flows/recipes/password_and_second_factor.yaml":   strings.NewReplacer(),
		"flows/testdata/good/email_code.yaml":             strings.NewReplacer(),
		"flows/testdata/good/provider_sign_in_or_up.yaml": strings.NewReplacer(),
		"flows/sign_in.yaml":                              strings.NewReplacer("handle: sign-in", "handle: our-sign-in", "label: Username,", "label: Staff number,"),
	} {
		f.storeDefinition(admin, rename.Replace(previousFile(t, file)))
	}
	f.modifyBuiltIn(admin)
	f.env = append(f.env, "PASSWORD="+userPassword, "SECRET="+upgradeSecret)
	f.command("bootstrap", "--base-url", f.base, "--dir", copyOf(t, "testdata/upgrade/seed.yaml"), "--token", admin)
	f.readApplications()

	f.addAccounts(admin)
	f.command("keys", "rotate", "--now")
	f.addClients(admin)
	f.invite(admin)
	f.begin()
}

// copyOf returns a folder with a copy of a file.
func copyOf(t *testing.T, file string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	datatest.WriteFile(t, filepath.Join(folder, filepath.Base(file)), datatest.ReadFile(t, file))
	return folder
}

// serveProvider starts the OpenID provider of some users.
func (f *filledStore) serveProvider() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { f.provider.ServeHTTP(w, r) }))
	f.t.Cleanup(server.Close)
	f.provider = federationtest.New(server.URL, time.Now)
}

func (f *filledStore) storeDefinition(admin, text string) {
	f.t.Helper()
	r := f.send(http.MethodPost, "/flows", text, "Content-Type: application/yaml", bearer(admin))
	if r.status != http.StatusCreated {
		f.t.Fatalf("storing a flow: %d %s\n%s", r.status, r.body, text)
	}
}

// modifyBuiltIn changes the built-in flow passkey-sign-in, as an operator may.
func (f *filledStore) modifyBuiltIn(admin string) {
	var list struct{ Flows []struct{ ID string } }
	f.get(f.t, "/flows?filter="+url.QueryEscape(`handle eq "passkey-sign-in"`), &list)
	r := f.send(http.MethodPatch, "/flows/"+list.Flows[0].ID, `{"name": "Sign in with a key of ours"}`, jsonBody, bearer(admin))
	if r.status != http.StatusOK {
		f.t.Fatalf("changing a built-in flow: %d %s", r.status, r.body)
	}
}

func (f *filledStore) readApplications() {
	var list struct{ Applications []struct{ ID, Name string } }
	f.get(f.t, "/applications?limit=100", &list)
	f.apps = map[string]string{}
	for _, app := range list.Applications {
		f.apps[app.Name] = app.ID
	}
}

// person returns a user of the seeds with a new browser.
func (f *filledStore) person(name string) *agent {
	return &agent{postern: f.newBrowser(), name: name, password: userPassword}
}

// addAccounts adds the credentials of all kinds, and signs in with each.
func (f *filledStore) addAccounts(admin string) {
	paula, dora, tom, lena, mia := f.person("paula"), f.person("dora"), f.person("tom"), f.person("lena"), f.person("mia")
	mia.password, mia.email = "", "mia@example.org"
	way := func(what, app string, user *agent) *signInWay {
		w := &signInWay{what: what, app: app, user: user}
		f.ways = append(f.ways, w)
		return w
	}
	way("a password", "Plain", paula)
	way("a password at the changed flow", "Changed", paula)
	second := way("a password and an app", "Second", tom)
	way("a password of a user with an app that no flow asks for", "Office", dora)
	way("a password of a user with a passkey", "Plain", lena)
	way("a mailed code", "Codes", mia)
	fred := &agent{postern: f.newBrowser(), name: "fred", email: "fred@example.org", provider: f.provider}
	way("an identity", "Corp", fred)
	way("a user type with its own identifiers", "Customers", f.person("carl"))
	way("a disabled user", "Plain", f.person("dan")).fails = "at who: invalid_credentials"
	administrator := &agent{postern: f.newBrowser(), name: "admin", password: adminPassword}
	way("the first administrator", "Console", administrator)
	nils, lars, petr := f.person("nils"), f.person("lars"), f.person("petr")
	way("an administrator by nested groups", "Console", nils)
	way("an administrator who lost the passkey", "Console", lars)
	way("a partial administrator", "Console", petr)

	rescued := f.person("tom")
	second.before, rescued.codes = f.enrolFactors(tom)
	way("a password and a recovery code", "Second", rescued)
	f.addDormantApp(dora)
	lena.device = nil
	limited := f.addPasskey(lena, f.apps["Plain"])
	way("a passkey that was added with a password", "Shop", limited)
	way("the same where a password is not enough", "Keys", limited).fails = "at who: credential_limited"

	petra := &agent{postern: f.newBrowser(), name: "petra", device: passkeytest.New()}
	f.complete(petra.signUp(petra.device, petra.name))
	way("a passkey", "Keys", petra)
	anna := f.person("anna")
	anna.device = passkeytest.New()
	f.registerPasskey(admin, "anna", anna.device)
	way("an administrator with a passkey", "Console", anna)
	f.registerPasskey(admin, "lars", passkeytest.New())
	f.removePasskeys(admin, "lars")

	for _, w := range f.ways {
		if w.before.User == "" {
			w.before = f.signInBy(w)
		}
		if w.before.Failure != w.fails {
			f.t.Fatalf("the previous release, %s (%s at %s): %q, expected %q", w.what, w.user.name, w.app, w.before.Failure, w.fails)
		}
	}
}

func (f *filledStore) complete(s *schemas.Step, err error) *schemas.Step {
	f.t.Helper()
	if err != nil || s.FlowStatus != schemas.Complete {
		f.t.Fatalf("%v: %+v", err, s)
	}
	return s
}

// signInBy signs a user in, in a known browser from the second time on, and without a session.
func (f *filledStore) signInBy(w *signInWay) outcome {
	w.user.forgetSession()
	return w.user.outcome(w.user.runFlow(object{"applicationId": f.apps[w.app], "flowType": "AUTHENTICATION"}))
}

// enrolFactors signs a user in who has to set up an app and recovery codes.
func (f *filledStore) enrolFactors(user *agent) (done outcome, codes []string) {
	s, err := user.execute(object{"applicationId": f.apps["Second"], "flowType": "AUTHENTICATION"})
	for tried := map[string]int{}; err == nil && s.FlowStatus == schemas.Incomplete; {
		if list := s.Data.AdditionalData["recoveryCodes"]; list != "" {
			datatest.Unmarshal(f.t, []byte(list), &codes)
		}
		s, err = user.answer(s, tried)
	}
	return user.outcome(f.complete(s, err), nil), codes
}

// addDormantApp sets up an app on the account page.
func (f *filledStore) addDormantApp(user *agent) {
	token := f.complete(user.runFlow(object{"applicationId": f.apps["Plain"], "flowType": "AUTHENTICATION"})).Assertion
	var offer struct{ Secret, SessionToken string }
	f.must(f.t, "/users/me/factors/totp/start", token, object{}, &offer)
	user.app = newAuthenticatorApp(offer.Secret)
	code, err := user.app.code()
	if err != nil {
		f.t.Fatal(err)
	}
	r, err := f.post("/users/me/factors/totp/finish", token, object{"sessionToken": offer.SessionToken, "code": code})
	if err != nil || r.status != http.StatusNoContent {
		f.t.Fatalf("%v %s", err, r.body)
	}
}

// addPasskey adds a passkey with the password, and returns the user with the passkey only.
func (f *filledStore) addPasskey(user *agent, app string) *agent {
	token := f.complete(user.runFlow(object{"applicationId": app, "flowType": "AUTHENTICATION"})).Assertion
	with := &agent{postern: f.newBrowser(), name: user.name, device: passkeytest.New()}
	f.finishPasskey(token, f.startRegistration(f.t, token, object{"userId": claims(f.t, token)["sub"]}), with.device)
	return with
}

// registerPasskey adds a passkey as an administrator.
func (f *filledStore) registerPasskey(admin, name string, device *passkeytest.Authenticator) {
	f.finishPasskey(admin, f.startRegistration(f.t, admin, object{"userId": f.userID(name)}), device)
}

func (f *filledStore) finishPasskey(token string, begun registrationStart, device *passkeytest.Authenticator) {
	f.t.Helper()
	made, err := device.Register(begun.CreationOptions, f.base)
	if err != nil {
		f.t.Fatal(err)
	}
	f.must(f.t, "/register/passkey/finish", token, object{"sessionToken": begun.SessionToken, "publicKeyCredential": object{"id": made.ID, "type": "public-key",
		"response": object{"clientDataJSON": made.ClientDataJSON, "attestationObject": made.AttestationObject}}}, new(object))
}

func (f *filledStore) userID(name string) string {
	f.t.Helper()
	var list struct{ Users []struct{ ID string } }
	f.get(f.t, "/users?filter="+url.QueryEscape(fmt.Sprintf("username eq %q", name)), &list)
	return list.Users[0].ID
}

func (f *filledStore) removePasskeys(admin, name string) {
	var list struct{ Passkeys []struct{ ID string } }
	path := "/users/" + f.userID(name) + "/passkeys"
	f.get(f.t, path, &list)
	for _, key := range list.Passkeys {
		if r := f.send(http.MethodDelete, path+"/"+key.ID, "", bearer(admin)); r.status != http.StatusNoContent {
			f.t.Fatalf("%d %s", r.status, r.body)
		}
	}
}

// addClients registers the clients that are not in the seeds, and gets tokens for each.
func (f *filledStore) addClients(admin string) {
	document := f.publishDocument()
	var registered struct {
		ID string `json:"client_id"`
	}
	f.create(f.t, "/oauth2/dcr/register", "", object{"client_name": "Registered", "redirect_uris": []string{redirectURI},
		"token_endpoint_auth_method": "none", "grant_types": []string{"authorization_code", "refresh_token"}}, &registered)
	anna := f.person("anna")
	confidential := func(id string) url.Values { return url.Values{"client_id": {id}, "client_secret": {upgradeSecret}} }
	public := func(id string) url.Values { return url.Values{"client_id": {id}} }
	for _, way := range f.ways {
		if way.user.name == "anna" {
			anna.device = way.user.device
		}
	}
	f.clients = []*tokenClient{
		{name: "public", id: "shop", scope: "openid profile notes:page:read", secret: public("shop"), user: f.person("paula")},
		{name: "confidential", id: "office", scope: "openid email offline_access", secret: confidential("office"), user: f.person("paula")},
		{name: "self-registered", id: registered.ID, scope: "openid", secret: public(registered.ID), user: f.person("paula")},
		{name: "metadata document", id: document, scope: "openid", secret: public(document), user: f.person("paula")},
		{name: "delegated", id: "helper", scope: "openid system:users:read", secret: confidential("helper"), user: anna},
		{name: "machine", id: "robot", scope: "system:users:read", secret: confidential("robot")},
	}
	f.registerLogout(admin)
	for _, c := range f.clients {
		c.before = f.grant(c)
	}
	f.queueLogout(admin)
}

const redirectURI = "http://127.0.0.1/cb"

// publishDocument publishes the metadata of a client, and returns its address.
func (f *filledStore) publishDocument() string {
	var address string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(object{"client_id": address, "client_name": "Document", "redirect_uris": []string{redirectURI},
			"token_endpoint_auth_method": "none", "grant_types": []string{"authorization_code", "refresh_token"}})
	}))
	f.t.Cleanup(server.Close)
	address = server.URL + "/client.json"
	return address
}

// grant gets tokens for a client.
func (f *filledStore) grant(c *tokenClient) grantedTokens {
	f.t.Helper()
	if c.user == nil {
		return f.token(c, url.Values{"grant_type": {"client_credentials"}, "scope": {c.scope}})
	}
	back := c.user.follow(f.authorize(c))
	if run := back.Query().Get("executionId"); run != "" {
		s := f.complete(c.user.runFlow(object{"executionId": run}))
		back = c.user.follow(s.Data.RedirectURL)
	}
	code := back.Query().Get("code")
	if code == "" {
		f.t.Fatalf("%s: no code in %s", c.name, back)
	}
	return f.token(c, url.Values{"grant_type": {"authorization_code"}, "code": {code}, "code_verifier": {codeVerifier}, "redirect_uri": {redirectURI}})
}

// authorize returns the authorization request of a client.
func (f *filledStore) authorize(c *tokenClient, more ...string) string {
	rp := relyingParty{p: f.postern, clientID: c.id, site: &httptest.Server{}}
	return rp.request(append([]string{"redirect_uri", redirectURI, "scope", c.scope}, more...)...)
}

// follow requests an address in the browser and returns where it leads.
func (p *postern) follow(to string) *url.URL {
	p.t.Helper()
	w, err := p.client.Get(to)
	if err != nil {
		p.t.Fatal(err)
	}
	w.Body.Close()
	at, err := w.Location()
	if err != nil {
		p.t.Fatalf("%s is answered with %d and leads nowhere", to, w.StatusCode)
	}
	return at
}

func (f *filledStore) token(c *tokenClient, form url.Values) (got grantedTokens) {
	f.t.Helper()
	for name, values := range c.secret {
		form[name] = values
	}
	w, err := f.client.PostForm(f.base+"/oauth2/token", form)
	if err != nil {
		f.t.Fatal(err)
	}
	defer w.Body.Close()
	if err := json.NewDecoder(w.Body).Decode(&got); err != nil {
		f.t.Fatal(err)
	}
	return got
}

// registerLogout registers the address for logout notifications of a client.
func (f *filledStore) registerLogout(admin string) {
	f.logout = newReceiver(f.t)
	f.logout.answers = slices.Repeat([]int{http.StatusServiceUnavailable}, 100) // until the upgrade
	config := object{"clientId": "office", "tokenEndpointAuthMethod": "client_secret_post", "redirectUris": []string{redirectURI},
		"grantTypes": []string{"authorization_code", "refresh_token"}, "scopes": []string{"openid", "email", "offline_access"}, "backchannelLogoutUri": f.logout.site.URL}
	body := datatest.Marshal(f.t, object{"inboundAuthConfig": []object{{"type": "oauth2", "config": config}}})
	if r := f.send(http.MethodPatch, "/applications/"+f.apps["Office"], string(body), jsonBody, bearer(admin)); r.status != http.StatusOK {
		f.t.Fatalf("%d %s", r.status, r.body)
	}
}

// queueLogout ends a session while its client cannot be notified.
func (f *filledStore) queueLogout(admin string) {
	office := *f.clients[1]
	office.user = f.person("petr")
	f.grant(&office)
	if r := f.send(http.MethodDelete, "/users/"+f.userID("petr")+"/sessions", "", bearer(admin)); r.status != http.StatusOK {
		f.t.Fatalf("%d %s", r.status, r.body)
	}
	f.logout.waitForToken()
}

// invite invites ivan, who does not accept yet.
func (f *filledStore) invite(admin string) {
	f.create(f.t, "/users/"+f.userID("ivan")+"/invitation", admin, object{"applicationId": f.apps["Keys"]}, nil)
	f.invited = f.mailed("ivan@example.org", `https?://\S+/gate/invitation\?applicationId=\S+#(\S+)`)
}

// begin begins a sign-in that ends after the upgrade.
func (f *filledStore) begin() {
	f.waiting = &signInWay{app: "Plain", user: f.person("paula")}
	s, err := f.waiting.user.execute(object{"applicationId": f.apps["Plain"], "flowType": "AUTHENTICATION"})
	if err != nil {
		f.t.Fatal(err)
	}
	f.step = s
}
