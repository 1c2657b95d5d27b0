package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/schemas"
)

// receiver is a client's back-channel logout endpoint with configured replies.
type receiver struct {
	t      *testing.T
	site   *httptest.Server
	tokens chan string

	mu      sync.Mutex
	answers []int // status codes of the next replies; 200 for all others
	hangs   bool
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{t: t, tokens: make(chan string, 100)}
	r.site = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, asked *http.Request) {
		if asked.Method != http.MethodPost || asked.ParseForm() != nil || asked.URL.RawQuery != "" || len(asked.Form) != 1 {
			t.Errorf("notified by %s %s of %v", asked.Method, asked.URL, asked.Form)
		}
		r.tokens <- asked.Form.Get("logout_token")
		r.answer(w, asked)
	}))
	t.Cleanup(r.site.Close)
	return r
}

func (r *receiver) answer(w http.ResponseWriter, asked *http.Request) {
	r.mu.Lock()
	status, hangs := http.StatusOK, r.hangs
	if len(r.answers) > 0 {
		status, r.answers = r.answers[0], r.answers[1:]
	}
	r.mu.Unlock()
	if hangs {
		<-asked.Context().Done()
	}
	w.WriteHeader(status)
}

// recover lets the next requests succeed, and forgets the tokens of earlier ones.
func (r *receiver) recover() {
	r.mu.Lock()
	r.answers = nil
	r.mu.Unlock()
	for len(r.tokens) > 0 {
		<-r.tokens
	}
}

// waitForToken waits for a logout token.
func (r *receiver) waitForToken() string {
	r.t.Helper()
	select {
	case raw := <-r.tokens:
		return raw
	case <-time.After(timeout):
		r.t.Fatal("waited in vain for a logout token")
		return ""
	}
}

// listeningClient is a client with a back-channel logout endpoint that signs users in without a
// browser.
type listeningClient struct {
	*relyingParty
	browser *http.Client
}

func newListeningClient(t *testing.T, p *postern, name, uri string) *listeningClient {
	t.Helper()
	l := &listeningClient{relyingParty: newRelyingParty(t, p, name)}
	l.newBrowser()
	token := adminToken(t, p)
	var app map[string]any
	l.document(p.base+"/applications/"+l.id, &app, "Authorization", "Bearer "+token)
	config := app["inboundAuthConfig"].([]any)[0].(map[string]any)["config"].(map[string]any)
	config["backchannelLogoutUri"], config["scopes"] = uri, append(config["scopes"].([]any), "account") // its users end their sessions
	if status := send(t, p, "PUT", "/applications/"+l.id, token, app); status != http.StatusOK {
		t.Fatalf("registering %s: %d", uri, status)
	}
	return l
}

func (l *listeningClient) newBrowser() {
	jar, err := cookiejar.New(nil)
	if err != nil {
		l.t.Fatal(err)
	}
	l.browser = &http.Client{Jar: jar, Transport: l.p.client.Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// send sends a request with a token and returns the status.
func send(t *testing.T, p *postern, method, path, token string, body any) int {
	t.Helper()
	return p.send(method, path, string(datatest.Marshal(t, body)), jsonBody, bearer(token)).status
}

// follow requests an address in the browser and returns where it leads.
func (l *listeningClient) follow(to string) *url.URL {
	l.t.Helper()
	w, err := l.browser.Get(to)
	if err != nil {
		l.t.Fatal(err)
	}
	w.Body.Close()
	at, err := w.Location()
	if err != nil {
		l.t.Fatalf("%s is answered with %d and leads nowhere", to, w.StatusCode)
	}
	return at
}

func (l *listeningClient) step(body object) (s schemas.Step) {
	l.t.Helper()
	text := datatest.Marshal(l.t, body)
	w, err := l.browser.Post(l.p.base+"/flow/execute", "application/json", strings.NewReader(string(text)))
	if err != nil {
		l.t.Fatal(err)
	}
	defer w.Body.Close()
	if err := json.NewDecoder(w.Body).Decode(&s); err != nil {
		l.t.Fatal(err)
	}
	return s
}

// signIn signs a user in with a password, or by the session of the browser.
func (l *listeningClient) signIn(username, password string) tokens {
	l.t.Helper()
	back := l.follow(l.request())
	if run := back.Query().Get("executionId"); run != "" {
		l.step(object{"executionId": run, "action": "password"})
		s := l.step(object{"executionId": run, "action": "continue", "inputs": object{"username": username, "password": password}})
		if s.FlowStatus != schemas.Complete {
			l.t.Fatalf("signing in: %+v", s)
		}
		back = l.follow(s.Data.RedirectURL)
	}
	got := l.redeem(back.Query().Get("code"))
	if got.ID == "" {
		l.t.Fatalf("%s gives %+v", back, got)
	}
	return got
}

// checkLogout validates a logout token as a client that knows only the issuer (Back-Channel
// Logout §2.6), and returns its jti. The session must be that of an ID token.
func (l *listeningClient) checkLogout(raw string, of tokens) string {
	l.t.Helper()
	ctx := oidc.ClientContext(l.t.Context(), l.p.client)
	provider, err := oidc.NewProvider(ctx, l.p.base)
	if err != nil {
		l.t.Fatal(err)
	}
	verified, err := provider.Verifier(&oidc.Config{ClientID: l.clientID}).Verify(ctx, raw)
	if err != nil {
		l.t.Fatal(err)
	}
	var claims struct {
		SID, JTI string
		Nonce    *string
		Events   map[string]object
	}
	if err := verified.Claims(&claims); err != nil {
		l.t.Fatal(err)
	}
	signed, err := jose.ParseSignedCompact(raw, []jose.SignatureAlgorithm{jose.RS256})
	if err != nil || signed.Signatures[0].Protected.ExtraHeaders[jose.HeaderType] != "logout+jwt" {
		l.t.Errorf("%v: the header is %+v", err, signed.Signatures[0].Protected)
	}
	session := l.verify(of.ID, of.Access)
	event, reported := claims.Events["http://schemas.openid.net/event/backchannel-logout"]
	if !reported || len(event) > 0 || claims.Nonce != nil || claims.JTI == "" || claims.SID != session["sid"] || verified.Subject != session["sub"] {
		l.t.Errorf("it says %+v of %s, and the session is %v", claims, verified.Subject, session)
	}
	return claims.JTI
}

// However a session ends, the clients with tokens of the session are notified.
func TestBackchannelLogout(t *testing.T) {
	t.Parallel()
	p := serve(t, "POSTERN_OUTBOUND_ALLOW=127.0.0.1", "POSTERN_THROTTLE_ENABLED=false")
	r, slow := newReceiver(t), newReceiver(t)
	slow.hangs = true
	l, late := newListeningClient(t, p, "Shop", r.site.URL), newListeningClient(t, p, "Slow", slow.site.URL)
	admin := adminToken(t, p)
	for i, end := range []func(l *listeningClient, u user, got tokens) (status, want int){
		(*listeningClient).logOut, (*listeningClient).endOwn, (*listeningClient).endOne, (*listeningClient).endAll, (*listeningClient).resetPassword, (*listeningClient).deleteUser,
	} {
		l.newBrowser()
		late.browser = l.browser
		u := newPasswordUser(t, p, admin, fmt.Sprint("user", i))
		got := l.signIn(u.name, userPassword)
		also := late.signIn(u.name, userPassword) // the same session
		if status, want := end(l, u, got); status != want {
			t.Fatalf("ending a session by way %d: %d, expected %d", i, status, want)
		}
		l.checkLogout(r.waitForToken(), got)
		if i == 0 { // it never answers, and gets no other request meanwhile
			late.checkLogout(slow.waitForToken(), also)
		}
	}
	if len(r.tokens) > 0 {
		t.Error("a client was notified of a session that had not ended")
	}
}

const userPassword = "grey lantern harbour 77"

// user is a user with a password.
type user struct{ ID, name string }

func newPasswordUser(t *testing.T, p *postern, admin, name string) user {
	t.Helper()
	made := user{name: name}
	r, err := p.post("/users", admin, object{"type": "Person", "attributes": object{"username": name, "password": userPassword}})
	if err != nil || r.status != http.StatusCreated || json.Unmarshal(r.body, &made) != nil {
		t.Fatalf("%v: %s", err, r.body)
	}
	return made
}

// The ways a session ends.

func (l *listeningClient) logOut(_ user, got tokens) (status, want int) {
	w, err := l.browser.Get(l.p.base + "/oauth2/logout?id_token_hint=" + got.ID)
	if err != nil {
		l.t.Fatal(err)
	}
	w.Body.Close()
	return w.StatusCode, http.StatusFound
}

// endOwn ends all sessions of the user but the one that is used for that.
func (l *listeningClient) endOwn(u user, _ tokens) (status, want int) {
	l.newBrowser()
	run := l.step(object{"applicationId": l.id, "flowType": "AUTHENTICATION"})
	l.step(object{"executionId": run.ExecutionID, "action": "password"})
	s := l.step(object{"executionId": run.ExecutionID, "action": "continue", "inputs": object{"username": u.name, "password": userPassword}})
	return send(l.t, l.p, "DELETE", "/users/me/sessions", s.Assertion, nil), http.StatusOK
}

func (l *listeningClient) endOne(u user, got tokens) (status, want int) {
	path := fmt.Sprintf("/users/%s/sessions/%s", u.ID, l.verify(got.ID, got.Access)["sid"])
	return send(l.t, l.p, "DELETE", path, adminToken(l.t, l.p), nil), http.StatusNoContent
}

func (l *listeningClient) endAll(u user, _ tokens) (status, want int) {
	return send(l.t, l.p, "DELETE", "/users/"+u.ID+"/sessions", adminToken(l.t, l.p), nil), http.StatusOK
}

func (l *listeningClient) resetPassword(u user, _ tokens) (status, want int) {
	return send(l.t, l.p, "PUT", "/users/"+u.ID, adminToken(l.t, l.p), object{"type": "Person",
		"attributes": object{"username": u.name, "password": userPassword + "!"}}), http.StatusOK
}

func (l *listeningClient) deleteUser(u user, _ tokens) (status, want int) {
	return send(l.t, l.p, "DELETE", "/users/"+u.ID, adminToken(l.t, l.p), nil), http.StatusNoContent
}

// A client that fails is notified again, with another token. A client that rejects the
// token, or has a private address, is not; the event is recorded.
func TestBackchannelFailures(t *testing.T) {
	t.Parallel()
	p := serve(t, "POSTERN_OUTBOUND_ALLOW=127.0.0.1", "POSTERN_THROTTLE_ENABLED=false")
	failing, refusing := newReceiver(t), newReceiver(t)
	failing.answers, refusing.answers = []int{503}, []int{400}
	l := newListeningClient(t, p, "Failing", failing.site.URL)
	others := []*listeningClient{newListeningClient(t, p, "Refusing", refusing.site.URL), newListeningClient(t, p, "Private", "https://10.255.255.1/out")}
	got := l.signIn("admin", adminPassword)
	for _, other := range others {
		other.browser = l.browser
		other.signIn("admin", adminPassword)
	}
	l.logOut(user{}, got)
	first, second := failing.waitForToken(), failing.waitForToken()
	if l.checkLogout(first, got) == l.checkLogout(second, got) || first == second {
		t.Error("what is sent again is the same token")
	}
	reasons := map[any]any{}
	eventually(t, "two deliveries are given up", func() bool {
		var found struct{ AuditEvents []schemas.Event }
		l.document(p.base+"/audit-events?action=delivery.given_up", &found, "Authorization", "Bearer "+adminToken(t, p))
		for _, e := range found.AuditEvents {
			reasons[e.Detail["target"]] = e.Detail["reason"]
		}
		return len(reasons) == 2
	})
	for _, other := range others {
		if reasons[other.id] != "refused" {
			t.Errorf("the reasons are %v, expected that %s refused", reasons, other.id)
		}
	}
	if len(refusing.tokens) != 1 {
		t.Errorf("the client that rejects was notified %d times", len(refusing.tokens))
	}
}
