package e2e_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
)

// relyingParty is a client with a redirect URI, on a port of its own.
type relyingParty struct {
	t        *testing.T
	p        *postern
	site     *httptest.Server
	arrived  chan url.Values // the parameters of requests to the redirect URI
	id       string          // of the application
	clientID string
}

const codeVerifier = "a-verifier-of-enough-characters-0123456789-abc"

// newRelyingParty registers a public client over the API.
func newRelyingParty(t *testing.T, p *postern, name string) *relyingParty {
	t.Helper()
	rp := &relyingParty{t: t, p: p, arrived: make(chan url.Values, 8)}
	rp.site = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/cb" && r.ParseForm() == nil {
			rp.arrived <- r.Form
		}
		fmt.Fprint(w, "<title>Back</title>")
	}))
	t.Cleanup(rp.site.Close)
	var made struct{ ID, ClientID string }
	r, err := p.post("/applications", adminToken(t, p), object{
		"name": name, "isRegistrationFlowEnabled": true, "inboundAuthConfig": []object{{"type": "oauth2", "config": object{
			"publicClient": true, "redirectUris": []string{"http://127.0.0.1:8000/cb"}, "scopes": []string{"openid", "profile"},
			"grantTypes": []string{"authorization_code", "refresh_token"}}}}})
	if err != nil || r.status != http.StatusCreated || json.Unmarshal(r.body, &made) != nil {
		t.Fatalf("%v %s", err, r.body)
	}
	rp.id, rp.clientID = made.ID, made.ClientID
	return rp
}

// adminToken returns a token of the administrator, the same at each call. It is for one
// goroutine.
func adminToken(t *testing.T, p *postern) string {
	t.Helper()
	if p.adminToken == "" {
		p.adminToken = newAdminToken(t, p)
	}
	return p.adminToken
}

// newAdminToken returns a token as `postern token` prints it.
func newAdminToken(t *testing.T, p *postern) string {
	t.Helper()
	return strings.TrimSpace(p.command("token"))
}

// request is the URL to which the client sends the user.
func (rp *relyingParty) request(more ...string) string {
	sum := sha256.Sum256([]byte(codeVerifier))
	q := url.Values{
		"client_id": {rp.clientID}, "redirect_uri": {rp.site.URL + "/cb"}, "response_type": {"code"}, "scope": {"openid profile"},
		"state": {"state"}, "nonce": {"nonce"}, "code_challenge_method": {"S256"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])},
	}
	for i := 0; i < len(more); i += 2 {
		q.Set(more[i], more[i+1])
	}
	return rp.p.base + "/oauth2/authorize?" + q.Encode()
}

// waitForCode returns the response that the client received, once the tab shows its page: a tab
// that still loads cannot be navigated.
func (rp *relyingParty) waitForCode(in *tab) url.Values {
	rp.t.Helper()
	select {
	case q := <-rp.arrived:
		in.until(`document.title === "Back" && document.readyState === "complete"`)
		if q.Get("state") != "state" || q.Get("iss") != rp.p.base {
			rp.t.Errorf("came back with %v", q)
		}
		return q
	case <-time.After(timeout):
		rp.t.Fatal("waited in vain for the client to be answered")
		return nil
	}
}

// tokens are the response of the token endpoint.
type tokens struct {
	Access  string `json:"access_token"`
	Refresh string `json:"refresh_token"`
	ID      string `json:"id_token"`
	Error   string `json:"error"`
}

func (rp *relyingParty) token(form url.Values) (got tokens) {
	rp.t.Helper()
	form.Set("client_id", rp.clientID)
	r, err := rp.p.client.PostForm(rp.p.base+"/oauth2/token", form)
	if err != nil {
		rp.t.Fatal(err)
	}
	defer r.Body.Close()
	if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
		rp.t.Fatal(err)
	}
	return got
}

func (rp *relyingParty) redeem(code string) tokens {
	rp.t.Helper()
	return rp.token(url.Values{"grant_type": {"authorization_code"}, "code": {code}, "code_verifier": {codeVerifier}, "redirect_uri": {rp.site.URL + "/cb"}})
}

// document reads one of the server's JSON documents.
func (rp *relyingParty) document(from string, into any, headers ...string) int {
	rp.t.Helper()
	r, err := http.NewRequest(http.MethodGet, from, nil)
	if err != nil {
		rp.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w, err := rp.p.client.Do(r)
	if err != nil {
		rp.t.Fatal(err)
	}
	defer w.Body.Close()
	text, err := io.ReadAll(w.Body)
	if err == nil && w.StatusCode == http.StatusOK {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		rp.t.Fatalf("%s: %v: %s", from, err, text)
	}
	return w.StatusCode
}

// verify verifies an ID token as a client that knows only the issuer, with a relying party
// library.
func (rp *relyingParty) verify(raw, access string) map[string]any {
	rp.t.Helper()
	ctx := oidc.ClientContext(rp.t.Context(), rp.p.client)
	provider, err := oidc.NewProvider(ctx, rp.p.base)
	if err != nil {
		rp.t.Fatal(err)
	}
	token, err := provider.Verifier(&oidc.Config{ClientID: rp.clientID}).Verify(ctx, raw)
	if err != nil {
		rp.t.Fatal(err)
	}
	if err := token.VerifyAccessToken(access); err != nil {
		rp.t.Error(err)
	}
	claims := map[string]any{}
	if err := token.Claims(&claims); err != nil {
		rp.t.Fatal(err)
	}
	return claims
}

// A user of a client signs up with a passkey and returns to the client; another client then
// needs only a request.
func TestAuthorizationCodeFlow(t *testing.T) {
	t.Parallel()
	p := serve(t)
	rp, other := newRelyingParty(t, p, "Shop"), newRelyingParty(t, p, "News")
	g := &gateTab{tab: openTab(t), base: p.base}
	g.open(rp.request())
	g.signUpInstead("ada")

	code := rp.waitForCode(g.tab).Get("code")
	got := rp.redeem(code)
	claims := rp.verify(got.ID, got.Access)
	if claims["nonce"] != "nonce" || claims["preferred_username"] != "ada" || claims["auth_time"] == nil {
		t.Fatalf("the ID token says %v", claims)
	}
	var reported map[string]any
	rp.document(p.base+"/oauth2/userinfo", &reported, "Authorization", "Bearer "+got.Access)
	if reported["sub"] != claims["sub"] || reported["preferred_username"] != "ada" {
		t.Errorf("userinfo returns %v", reported)
	}
	again := rp.token(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {got.Refresh}})
	if after := rp.verify(again.ID, again.Access); after["sub"] != claims["sub"] || again.Refresh == got.Refresh {
		t.Errorf("refreshed to %+v", again)
	}
	if replayed := rp.redeem(code); replayed.Error != "invalid_grant" {
		t.Errorf("the code was good twice: %+v", replayed)
	}
	if status := rp.document(p.base+"/oauth2/userinfo", nil, "Authorization", "Bearer "+again.Access); status != http.StatusUnauthorized {
		t.Errorf("after the replay the access token is answered with %d", status)
	}

	// The passkey alone.
	g.open(rp.request("prompt", "login"))
	g.until(`document.getElementById("action-passkey") === null || (document.getElementById("action-passkey").click(), true)`)
	if got := rp.redeem(rp.waitForCode(g.tab).Get("code")); rp.verify(got.ID, got.Access)["sub"] != claims["sub"] {
		t.Error("signed in as another user")
	}

	// The session serves another client.
	g.open(other.request("prompt", "none", "response_mode", "form_post"))
	if got := other.redeem(other.waitForCode(g.tab).Get("code")); other.verify(got.ID, got.Access)["sub"] != claims["sub"] {
		t.Error("the session is another user's")
	}
}

// An attacker who leads a user to the attacker's sign-in does not get the user's.
func TestAuthorizationIsBoundToItsBrowser(t *testing.T) {
	t.Parallel()
	p := serve(t)
	rp := newRelyingParty(t, p, "Shop")
	attacker := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, Transport: p.client.Transport}
	begun, err := attacker.Get(rp.request())
	if err != nil {
		t.Fatal(err)
	}
	begun.Body.Close()
	link, err := begun.Location()
	if err != nil {
		t.Fatal(err)
	}
	g := &gateTab{tab: openTab(t), base: p.base}
	g.signUp("ada")
	g.click("sign-out")
	g.shows("signedout")
	g.open(link.String())
	g.until(`location.pathname === "/gate/error" || (document.getElementById("action-passkey")?.click(), false)`)
	r, err := http.NewRequest(http.MethodGet, p.base+"/oauth2/auth/callback?authId="+link.Query().Get("authId"), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range begun.Cookies() {
		r.AddCookie(c)
	}
	w, err := attacker.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	w.Body.Close()
	if to := w.Header.Get("Location"); !strings.HasPrefix(to, p.base+"/gate/error?") {
		t.Errorf("the attacker was sent to %s", to)
	}
}
