package e2e_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/postern-id/postern/examples/react"
)

// federated is a server, and another that its users sign in with.
type federated struct {
	*postern
	provider *postern
	app      string // of the flow provider_sign_in_or_up
}

// newFederated registers each server at the other, as administrators do, for the hosted
// pages.
func newFederated(t *testing.T) *federated {
	t.Helper()
	f := newServers(t)
	f.linkIdentity(t, f.base+"/gate/callback")
	f.managesAccounts(t, f.app)
	return f
}

// newServers are two servers that do not know each other yet.
func newServers(t *testing.T) *federated {
	t.Helper()
	return &federated{provider: serve(t), postern: serve(t, "POSTERN_OUTBOUND_ALLOW=localhost")}
}

// linkIdentity registers each at the other, with a redirect URI, and stores the flow.
func (f *federated) linkIdentity(t *testing.T, redirectURI string) {
	t.Helper()
	var client struct{ ClientID, ClientSecret string }
	admin := adminToken(t, f.provider)
	f.provider.create(t, "/applications", admin, object{"name": "Shop", "inboundAuthConfig": []object{{"type": "oauth2", "config": object{
		"redirectUris": []string{redirectURI}, "tokenEndpointAuthMethod": "client_secret_basic", "scopes": []string{"openid", "profile", "email"},
	}}}}, &client)
	f.provider.create(t, "/users", admin, object{"type": "Person", "attributes": object{
		"username": "ada", "email": "ada@example.org", "email_verified": true, "given_name": "Ada", "password": "a password of the provider"}}, nil)
	corp := object{"handle": "corp", "name": "Example Corp", "issuer": f.provider.base + "/", "clientId": client.ClientID, "clientSecret": client.ClientSecret}
	r, err := f.post("/identity-providers", adminToken(t, f.postern), corp)
	if err != nil || r.status != http.StatusBadRequest || !strings.Contains(string(r.body), "configure exactly that issuer") {
		t.Errorf("an issuer with a slash that the provider's metadata does not have: %v %s", err, r.body)
	}
	corp["issuer"] = f.provider.base
	f.create(t, "/identity-providers", adminToken(t, f.postern), corp, nil)
	f.app = f.storeFlow(t, "provider_sign_in_or_up.yaml")
}

// signInThere signs ada in at the provider.
func (f *federated) signInThere(g *gateTab) {
	g.t.Helper()
	g.until(`location.origin === "` + f.provider.base + `" && document.getElementById("action-password")`)
	if at := eval[string](g.tab, `document.referrer`); at != "" {
		g.t.Errorf("the provider gets the referrer %s", at)
	}
	g.click("action-password")
	g.shows("step/who")
	g.enter("username", "ada")
	g.enter("password", "a password of the provider")
	g.click("action-continue")
}

// create is post that expects the status 201.
func (p *postern) create(t *testing.T, path, token string, body, out any) {
	t.Helper()
	r, err := p.post(path, token, body)
	if err != nil || r.status != http.StatusCreated || out != nil && json.Unmarshal(r.body, out) != nil {
		t.Fatalf("POST %s: %v %s", path, err, r.body)
	}
}

// A user signs in with another Postern: the first time this creates an account, and the
// next time it uses the account.
func TestSignInWithAnotherProvider(t *testing.T) {
	t.Parallel()
	f := newFederated(t)
	g := &gateTab{tab: openTab(t), base: f.base}
	f.signsIn(g)
	if at := eval[string](g.tab, `location.href`); strings.Contains(at, "code=") || strings.Contains(at, "state=") {
		t.Errorf("the answer stays in the address: %s", at)
	}
	if text := f.log.String(); strings.Contains(text, "ada@") || strings.Contains(text, "eyJ") {
		t.Errorf("the log contains personal data:\n%s", text)
	}
	if got := g.goToGate(); got != "ada@example.org" {
		t.Errorf("the account is that of %q", got)
	}
	f.hasIdentity(t, "ada@example.org")

	g.click("sign-out")
	g.shows("signedout")
	g.open(f.base + "/gate/signin?applicationId=" + f.app)
	g.shows("step/who")
	g.click("action-corp") // where the session still exists
	g.until(`document.querySelector("#view[data-view=account]")`)
	if got := g.goToGate(); got != "ada@example.org" {
		t.Errorf("the account is that of %q", got)
	}
	f.hasIdentity(t, "ada@example.org")
}

// The page /try/ follows the redirection, takes up the response that the hosted page passes on, and
// leaves nothing of it in the address.
func TestTrySignsInWithAnotherProvider(t *testing.T) {
	t.Parallel()
	f := newFederated(t)
	f.setClaims(t, "01900000-0000-7000-8000-000000000002")
	b := openTab(t)
	b.open(f.base + "/try/")
	b.click("start-sign-in")
	b.click("action-corp")
	f.signInThere(&gateTab{tab: b, base: f.base})
	b.until(`location.origin === "` + f.base + `" && document.querySelector('[data-claim="amr"]')?.textContent === "fed"`)
	if at := eval[string](b, `location.href`); at != f.base+"/try/" {
		t.Errorf("the page is at %s", at)
	}
	f.hasIdentity(t, "ada@example.org")
}

// A user whose external identity has the address of an existing account has to prove that
// the account is theirs. An attacker cannot have another user who is led to the same run do
// it.
func TestHeldIdentityIsBoundToItsBrowser(t *testing.T) {
	t.Parallel()
	f := newFederated(t)
	f.create(t, "/users", adminToken(t, f.postern), object{"type": "Person", "attributes": object{"username": "ada", "email": "ada@example.org", "email_verified": true}}, nil)
	rp := newRelyingParty(t, f.postern, "News")
	f.setClaims(t, rp.id)
	g := &gateTab{tab: openTab(t), base: f.base}
	g.open(rp.request())
	g.shows("step/who")
	g.click("action-corp")
	f.signInThere(g)
	g.until(`location.origin === "` + f.base + `" && document.getElementById("view")?.dataset.step === "mine"`)
	g.do(chromedp.Reload())
	g.shows("step/mine")

	other := &gateTab{tab: openTab(t), base: f.base}
	other.open(eval[string](g.tab, `location.href`))
	other.until(`document.getElementById("view")?.dataset.view && !document.querySelector("[aria-busy]")`)
	if step := eval[string](other.tab, `document.getElementById("view").dataset.step ?? ""`); step == "mine" {
		t.Error("another browser goes on with the run")
	}
}

// A client's request may lead directly to the provider, and its response directly to the
// client, without a click except at the provider.
func TestRequestGoesDirectlyToAProvider(t *testing.T) {
	t.Parallel()
	f := newFederated(t)
	f.app = f.storeFlow(t, "provider_alone.yaml")
	rp := newRelyingParty(t, f.postern, "News")
	f.setClaims(t, rp.id)
	g := &gateTab{tab: openTab(t), base: f.base}
	g.open(rp.request())
	f.signInThere(g)
	got := rp.redeem(rp.waitForCode(g.tab).Get("code"))
	claims := rp.verify(got.ID, got.Access)
	if amr, _ := json.Marshal(claims["amr"]); string(amr) != `["fed"]` {
		t.Errorf("the ID token has %v", claims)
	}
	f.hasIdentity(t, "ada@example.org")
	g.open(rp.request("prompt", "login")) // the provider enforces it
	f.signInThere(g)
	if rp.waitForCode(g.tab).Get("code") == "" {
		t.Error("no code came of the second sign-in")
	}
}

// setClaims sets the flow of an application.
func (f *federated) setClaims(t *testing.T, applicationID string) {
	t.Helper()
	var flow struct{ AuthFlowID string }
	f.get(t, "/applications/"+f.app, &flow)
	var app object
	f.get(t, "/applications/"+applicationID, &app)
	app["authFlowId"] = flow.AuthFlowID
	if status := send(t, f.postern, http.MethodPut, "/applications/"+applicationID, adminToken(t, f.postern), app); status != http.StatusOK {
		t.Fatalf("changing the application: status %d", status)
	}
}

// managesAccounts gives an application the scope for the accounts of its users, so that the
// account page works with its sign-ins.
func (f *federated) managesAccounts(t *testing.T, applicationID string) {
	t.Helper()
	var app object
	f.get(t, "/applications/"+applicationID, &app)
	app["inboundAuthConfig"] = []object{{"type": "oauth2", "config": object{
		"redirectUris": []string{f.base + "/gate/account"}, "scopes": []string{"openid", "account"}}}}
	if status := send(t, f.postern, http.MethodPut, "/applications/"+applicationID, adminToken(t, f.postern), app); status != http.StatusOK {
		t.Fatalf("changing the application: status %d", status)
	}
}

// signsIn signs ada in by the provider, without an earlier session, and ends at her
// account.
func (f *federated) signsIn(g *gateTab) {
	g.t.Helper()
	g.open(f.base + "/gate/signin?applicationId=" + f.app)
	g.shows("step/who")
	g.click("action-corp")
	f.signInThere(g)
	g.until(`location.origin === "` + f.base + `" && document.querySelector("#view[data-view=account]")`)
}

// A page of an application, by the published SDK, which adds a state of its own to the
// address and returns only the code.
func TestReactSignsInWithAnotherProvider(t *testing.T) {
	t.Parallel()
	f := newServers(t)
	// The SDK waits for ever on a page with a code that is its afterSignInUrl too.
	a := newReactApp(t, f.postern, react.SelfHosted, func(application object) {
		config := application["inboundAuthConfig"].([]any)[0].(object)["config"].(object)
		uris := config["redirectUris"].([]any)
		config["redirectUris"] = append([]any{uris[0].(string) + "/signin"}, uris...)
	})
	f.linkIdentity(t, a.origin+"/signin")
	f.setClaims(t, a.applicationID)
	b := openTab(t)
	g := &gateTab{tab: b, base: f.base}
	b.open(a.origin + "/signin")
	b.click("corp")
	g.until(`location.origin === "` + f.provider.base + `"`)
	f.signInThere(g)
	b.until(`location.origin === "` + a.origin + `" && document.getElementById("sub")?.textContent.length === 36`)
	if got := b.text("email"); got != "" { // the application gets an address once the user has verified it
		t.Errorf("the application shows the address %q", got)
	}
	f.hasIdentity(t, "ada@example.org")
}

// goToGate is the name of the account that the page shows.
func (g *gateTab) goToGate() string {
	g.t.Helper()
	g.until(`document.querySelector(".lead")`)
	return eval[string](g.tab, `document.querySelector(".lead").textContent`)
}

// hasIdentity makes sure that one user has the address, with one identity.
func (f *federated) hasIdentity(t *testing.T, email string) {
	t.Helper()
	var list struct {
		Users []struct {
			ID         string
			Attributes struct{ Email string }
		}
		Identities []struct {
			Provider struct{ Handle string }
			Name     string
		}
	}
	f.get(t, "/users", &list)
	id, n := "", 0
	for _, u := range list.Users {
		if u.Attributes.Email == email {
			id, n = u.ID, n+1
		}
	}
	f.get(t, "/users/"+id+"/identities", &list)
	if n != 1 || len(list.Identities) != 1 || list.Identities[0].Provider.Handle != "corp" || list.Identities[0].Name != email {
		t.Errorf("%d users of the address; identities %+v", n, list.Identities)
	}
}
