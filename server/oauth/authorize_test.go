package oauth_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server/oauth"
)

func TestAuthorize(t *testing.T) {
	a, b := newSignIns(t), browser{}
	to := a.authorize(b, ask("login_hint", "ann", "ui_locales", "de", "unknown", "x", "scope", "openid profile phone system:users:read system"))
	want := gateURL + "/signin?applicationId=app-app&authId=" + a.begun.ID + "&begun=1&executionId=run&login_hint=ann&ui_locales=de"
	if to.String() != want {
		t.Errorf("leads to %s, want %s", to, want)
	}
	r := a.begun
	if strings.Join(r.Scopes, " ") != "openid profile system:users:read" || r.State != "st&te" || r.Nonce != "n" || r.RedirectURI != callback ||
		r.ResponseMode != "query" || r.LoginHint != "ann" || !r.ExpiresAt.Equal(a.now.Add(30*time.Minute)) {
		t.Errorf("kept %+v", r)
	}
	first := b["__Host-postern-browser"]
	a.authorize(b, ask())
	if first == "" || b["__Host-postern-browser"] != first {
		t.Error("the browser lost the cookie of a request that it still has to finish")
	}
	a.authorize(b, ask("scope", ""))
	if len(a.begun.Scopes) > 0 {
		t.Errorf("got the scopes %v", a.begun.Scopes)
	}
}

// A flow may begin at another provider, which the pages send people to: the browser
// is not done here.
func TestAuthorizeWhereAnotherProviderIsFirst(t *testing.T) {
	a, b := newSignIns(t), browser{}
	a.away = "https://login.example.com/authorize?state=s"
	for prompt, want := range map[string]string{"": gateURL + "/signin?", "none": "https://app.example.com/callback?"} {
		rec, err := b.do(t, a.provider.Authorize, authorization(ask("prompt", prompt)))
		if err != nil {
			t.Fatal(err)
		}
		if to := location(t, rec); !strings.HasPrefix(to.String(), want) || to.Query().Has("code") {
			t.Errorf("with prompt %q it led to %s, want %s", prompt, to, want)
		}
	}
}

func TestAuthorizeByPost(t *testing.T) {
	a, b := newSignIns(t), browser{}
	a.code(b, ask())
	post := func(b browser, q url.Values) *url.URL {
		r := httptest.NewRequest("POST", "/oauth2/authorize", strings.NewReader(q.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		rec, err := b.do(t, a.provider.Authorize, r)
		if err != nil || rec.Code != http.StatusSeeOther {
			t.Errorf("%d %v, %v", rec.Code, rec.Header(), err)
		}
		return location(t, rec)
	}
	if to := post(b, ask()); !strings.HasPrefix(to.String(), gateURL+"/signin?") || a.session == nil {
		t.Errorf("led to %s", to)
	}
	// A form from another site comes without cookies, which are fetched.
	bare := browser{}
	if to := post(bare, ask()); to.Path != oauth.AuthorizePath || to.Query().Encode() != ask().Encode() || len(bare) > 0 {
		t.Errorf("without cookies it led to %s", to)
	}
	if to := post(bare, ask("redirect_uri", "https://evil.example")); to.Path != "/gate/error" {
		t.Errorf("a foreign redirect URI led to %s", to)
	}
	if to := post(bare, ask("login_hint", strings.Repeat("x", 4000), "ui_locales", strings.Repeat("x", 4000))); to.Path != "/gate/signin" {
		t.Errorf("what is too long for an address led to %s", to)
	}
	rec, err := b.do(t, a.provider.Authorize, httptest.NewRequest("HEAD", "/oauth2/authorize?"+ask().Encode(), nil))
	if err == nil {
		t.Errorf("a HEAD was answered with %d", rec.Code)
	}
}

// TestHostileRedirects: nothing goes to a URI that is not registered, not even an
// error.
func TestHostileRedirects(t *testing.T) {
	a := newSignIns(t)
	for _, uri := range []string{
		"https://evil.example/callback", "https://app.example.com/callback", "https://app.example.com/callback?keep=1&more", callback + "#f",
		callback + "/", "https://app.example.com/callback?keep=2", "https://app.example.com:443/callback?keep=1", "HTTPS://app.example.com/callback?keep=1",
		"https://APP.example.com/callback?keep=1", "https://app.example.com/x/../callback?keep=1", "https://app.example.com/%63allback?keep=1",
		"https://app.example.com@evil.example/callback?keep=1", "https://app.example.com.evil.example/callback?keep=1",
		`https://app.example.com\@evil.example/callback?keep=1`, " " + callback, callback + " ", callback + "\n", callback + "%0d%0aX: y",
		"//app.example.com/callback?keep=1", "/callback?keep=1", "javascript:alert(1)", "data:text/html,x", "*", "null", "com.example.app:/cb2", "com.example.app://cb",
		"http://127.0.0.1:8000/cb2", "http://127.0.0.1:8000@evil.example/cb", "http://127.0.0.1:8000.evil.example/cb", "http://127.0.0.1.evil.example:8000/cb",
		`http://127.0.0.1:8000\@evil.example/cb`, "http://127.0.0.1:8000#@evil.example/cb", "http://127.0.0.1:80x/cb", "http://localhost:8000/cb", "http://[::1]:8000/cb",
		"https://127.0.0.1:8000/cb", "http://127.1:8000/cb", "http://2130706433:8000/cb", "http://user@127.0.0.1:8000/cb", "http://127.0.0.1:8000/cb?x=1", "http://127.0.0.1:8000/cb/",
	} {
		to := a.authorize(browser{}, ask("redirect_uri", uri))
		if !strings.HasPrefix(to.String(), gateURL+"/error?error=invalid_request&") {
			t.Errorf("%q led to %s", uri, to)
		}
	}
	twice := ask()
	twice["redirect_uri"] = []string{callback, "https://evil.example/"}
	named := ask()
	named["client_id"] = []string{"app", "conf"}
	for _, q := range []url.Values{twice, named, ask("redirect_uri", ""), ask("client_id", ""), ask("client_id", "nobody"), ask("client_id", "plain")} {
		if to := a.authorize(browser{}, q); !strings.HasPrefix(to.String(), gateURL+"/error?") {
			t.Errorf("%v led to %s", q, to)
		}
	}
	for _, uri := range []string{callback, "http://127.0.0.1:8000/cb", "http://127.0.0.1:49152/cb", "http://127.0.0.1/cb", "com.example.app:/cb"} {
		if to := a.authorize(browser{}, ask("redirect_uri", uri)); !strings.HasPrefix(to.String(), gateURL+"/signin?") {
			t.Errorf("%q led to %s", uri, to)
		}
	}
}

func TestAuthorizeRefuses(t *testing.T) {
	a := newSignIns(t)
	a.clients.list["m2m"].OAuth().RedirectURIs = []string{callback}
	duplicate := ask()
	duplicate["nonce"] = []string{"a", "b"}
	for _, test := range []struct {
		name string
		q    url.Values
		code string
	}{
		{"no response_type", ask("response_type", ""), "invalid_request"},
		{"the implicit flow", ask("response_type", "token"), "unsupported_response_type"},
		{"the hybrid flow", ask("response_type", "code id_token"), "unsupported_response_type"},
		{"a fragment", ask("response_mode", "fragment"), "invalid_request"},
		{"a request object", ask("request", "e30.e30."), "request_not_supported"},
		{"request_uri", ask("request_uri", "https://evil.example/r"), "request_uri_not_supported"},
		{"a client of another grant", ask("client_id", "m2m"), "unauthorized_client"},
		{"PKCE missing", ask("code_challenge", "", "code_challenge_method", ""), "invalid_request"},
		{"PKCE missing, confidential", ask("client_id", "conf", "code_challenge", "", "code_challenge_method", ""), "invalid_request"},
		{"PKCE method alone", ask("code_challenge", ""), "invalid_request"},
		{"PKCE plain", ask("code_challenge_method", "plain"), "invalid_request"},
		{"PKCE plain by default", ask("code_challenge_method", ""), "invalid_request"},
		{"PKCE plain of who need none", ask("client_id", "lax", "code_challenge_method", "plain"), "invalid_request"},
		{"PKCE s256 in small", ask("code_challenge_method", "s256"), "invalid_request"},
		{"PKCE too short", ask("code_challenge", "short"), "invalid_request"},
		{"PKCE padded", ask("code_challenge", s256(verifier)+"="), "invalid_request"},
		{"prompt unknown", ask("prompt", "maybe"), "invalid_request"},
		{"prompt none with another", ask("prompt", "none login"), "invalid_request"},
		{"prompt none, no session", ask("prompt", "none"), "login_required"},
		{"max_age negative", ask("max_age", "-1"), "invalid_request"},
		{"max_age no number", ask("max_age", "1h"), "invalid_request"},
		{"invalid id_token_hint", ask("id_token_hint", "e30.e30.e30"), "invalid_request"},
		{"resource unknown", ask("resource", "https://elsewhere.example"), "invalid_target"},
		{"resource with a fragment", ask("resource", shop+"#x"), "invalid_target"},
		{"scope malformed", ask("scope", "openid \"x\""), "invalid_scope"},
		{"a parameter twice", duplicate, "invalid_request"},
		{"NUL", ask("login_hint", "a\x00"), "invalid_request"},
		{"not UTF-8", ask("nonce", "\xff"), "invalid_request"},
		{"too long", ask("nonce", strings.Repeat("x", 4097)), "invalid_request"},
		{"too long together", ask("nonce", strings.Repeat("x", 4096), "login_hint", strings.Repeat("x", 4096)), "invalid_request"},
		{"too many classes", ask("acr_values", strings.Repeat("x", 4096), "login_hint", strings.Repeat("x", 4096)), "invalid_request"},
	} {
		t.Run(test.name, func(t *testing.T) {
			a.begun = nil
			to := a.authorize(browser{}, test.q)
			q := to.Query()
			if !strings.HasPrefix(to.String(), callback+"&") || q.Get("error") != test.code || q.Get("state") != "st&te" || q.Get("iss") != base || q.Has("code") {
				t.Errorf("led to %s, want the error %s", to, test.code)
			}
			if a.begun != nil {
				t.Error("a run was begun")
			}
		})
	}
}

// TestLongStates: clients pack what they know into the state, and get it back whole.
func TestLongStates(t *testing.T) {
	a := newSignIns(t)
	for _, size := range []int{1 << 10, 2 << 10, 4 << 10} {
		state := strings.Repeat("x", size)
		b := browser{}
		a.code(b, ask("state", state, "nonce", strings.Repeat("n", 512), "login_hint", strings.Repeat("h", 254)))
		a.status = schemas.Complete
		if to := a.authorize(b, ask("state", state, "prompt", "none")); to.Query().Get("state") != state || to.Query().Get("code") == "" {
			t.Errorf("a state of %d bytes led to %s", size, to)
		}
		a.status = schemas.Incomplete
	}
	if to := a.authorize(browser{}, ask("state", strings.Repeat("x", 4097))); to.Query().Get("error") != "invalid_request" || to.Query().Has("state") {
		t.Errorf("a state that is too long led to %s", to)
	}
}

// TestPromptNone: a client that asks without the person being asked gets an answer
// at once, whichever.
func TestPromptNone(t *testing.T) {
	a, b := newSignIns(t), browser{}
	a.code(b, ask())
	if to := a.authorize(b, ask("prompt", "none")); to.Query().Get("error") != "login_required" {
		t.Errorf("led to %s", to)
	}
	if a.session == nil || a.session.UserID != a.user.ID {
		t.Errorf("the run was begun with the session %+v", a.session)
	}
	a.status = schemas.Complete
	to := a.authorize(b, ask("prompt", "none"))
	if to.Query().Get("code") == "" || !strings.HasPrefix(to.String(), callback+"&") {
		t.Errorf("led to %s", to)
	}
	a.status = schemas.Failed
	if to := a.authorize(b, ask()); to.Query().Get("error") != "access_denied" {
		t.Errorf("led to %s", to)
	}
	other := newSignIns(t)
	if to := other.authorize(b, ask("prompt", "none")); to.Query().Get("error") != "login_required" {
		t.Errorf("led to %s", to)
	}
}

// TestIDTokenHint: another user's session does not count for a client that expects ann.
func TestIDTokenHint(t *testing.T) {
	a, b := newSignIns(t), browser{}
	r, err := a.redeem(a.code(b, ask()))
	a.must(err)
	a.authorize(b, ask("id_token_hint", r.IDToken))
	if a.session == nil || a.begun.Login.Subject != a.user.ID {
		t.Errorf("began %+v with %+v", a.begun, a.session)
	}
	if to := a.authorize(b, ask("id_token_hint", r.IDToken, "client_id", "conf")); to.Query().Get("error") != "invalid_request" {
		t.Errorf("another client's hint led to %s", to)
	}
	if to := a.authorize(b, ask("id_token_hint", r.AccessToken)); to.Query().Get("error") != "invalid_request" {
		t.Errorf("an access token as the hint led to %s", to)
	}
}
