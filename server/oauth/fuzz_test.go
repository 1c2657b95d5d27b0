package oauth_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server/oauth"
)

// checkReply fails unless a request for a browser led to the client, to the hosted pages or to an
// own address, or was refused with an error of the protocol.
func checkReply(t *testing.T, rec *httptest.ResponseRecorder, err error, client string) {
	t.Helper()
	if err != nil {
		reported, isReported := errors.AsType[*oauth.Error](err)
		if !isReported && schemas.AsError(err).Class == schemas.Internal {
			t.Fatalf("failed with %v (%v)", err, reported)
		}
		return
	}
	to := rec.Header().Get("Location")
	at, parsing := url.Parse(to)
	if parsing != nil || strings.ContainsAny(to, "\r\n") {
		t.Fatalf("leads to %q: %v", to, parsing)
	}
	if to != "" && at.Scheme+"://"+at.Host != base && !strings.HasPrefix(to, client) {
		t.Fatalf("leads to %q", to)
	}
	if rec.Code >= http.StatusInternalServerError {
		t.Fatalf("%d %s", rec.Code, rec.Body)
	}
}

// FuzzAuthorize looks for an authorization request that fails inside, or leads a browser anywhere
// but to the hosted pages and to the registered URI of the client.
func FuzzAuthorize(f *testing.F) {
	a := newSignIns(f)
	a.provider.AdmitFetch = func(context.Context) error {
		return schemas.Errorf(schemas.Unavailable, schemas.CodeOverloaded, "nothing is fetched")
	}
	cookie := "__Host-postern-session=" + schemas.NewSecret()
	f.Add(ask().Encode(), cookie)
	for _, change := range [][]string{
		{"prompt", "none login"}, {"max_age", "-1"}, {"max_age", "99999999999999999999"}, {"claims", `{"id_token":{"acr":null}}`}, {"claims", "{"}, {"ui_locales", "de \x00"},
		{"redirect_uri", "javascript:alert(1)"}, {"redirect_uri", callback + "#x"}, {"redirect_uri", callback + "@evil.example"}, {"response_mode", "form_post"}, {"response_mode", "fragment"},
		{"state", "\r\nLocation: https://evil.example"}, {"scope", "openid \x7f"}, {"resource", "https://evil.example/#x"}, {"id_token_hint", "e30.e30.e30"}, {"login_hint", "<script>"},
		{"request", "x"}, {"request_uri", "https://evil.example"}, {"client_id", "https://evil.example/client"}, {"acr_values", strings.Repeat("a ", 300)},
	} {
		f.Add(ask(change...).Encode(), "")
	}
	f.Add("client_id=app&client_id=app", "__Host-postern-browser=x; __Host-postern-browser=y")
	f.Add("%zz=%;a=b", "=;=\x00")
	f.Fuzz(func(t *testing.T, query, cookie string) {
		a.fixture.t = t
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			r := httptest.NewRequest(method, "/oauth2/authorize", nil)
			r.URL.RawQuery = query
			if method == http.MethodPost {
				r = request(query)
				r.URL.Path = "/oauth2/authorize"
			}
			r.Header["Cookie"] = []string{cookie}
			rec := httptest.NewRecorder()
			err := a.provider.Authorize(rec, r)
			checkReply(t, rec, err, callback)
		}
	})
}

// FuzzLogout looks for a sign-out request that fails inside, ends the session of another browser,
// or leads to a URI that no client has registered.
func FuzzLogout(f *testing.F) {
	a, b := newSignIns(f), browser{}
	a.clients.list["app"].OAuth().PostLogoutRedirectURIs = []string{postLogoutURI}
	a.code(b, ask())
	for _, query := range []string{"", "client_id=app&post_logout_redirect_uri=" + url.QueryEscape(postLogoutURI), "post_logout_redirect_uri=https://evil.example/&client_id=app", "confirm=yes",
		"id_token_hint=e30.e30.e30", "state=%0d%0a&client_id=app&post_logout_redirect_uri=" + url.QueryEscape(postLogoutURI), "client_id=%00", "ui_locales=%ff"} {
		f.Add(query)
	}
	f.Fuzz(func(t *testing.T, query string) {
		a.fixture.t = t
		r := httptest.NewRequest(http.MethodGet, "/oauth2/logout", nil)
		r.URL.RawQuery = query
		rec := httptest.NewRecorder()
		err := a.provider.Logout(rec, r)
		checkReply(t, rec, err, postLogoutURI)
		for _, e := range a.events {
			if e.Action == "session.ended" {
				t.Fatalf("%q ended the session of another browser", query)
			}
		}
	})
}

// FuzzCallback looks for a body that fails inside or gets a code without an assertion.
func FuzzCallback(f *testing.F) {
	a, b := newSignIns(f), browser{}
	a.authorize(b, ask())
	for _, body := range []string{`{"authId":"ID","assertion":"e30.e30.e30"}`, `{"authId":"ID","assertion":null}`, `{"authId":["ID"]}`, `{"AUTHID":"ID"}`, `[]`, `"`, ``, "\xff", `{"authId":"\u0000","assertion":""}`} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		a.fixture.t = t
		r := httptest.NewRequest(http.MethodPost, "/oauth2/auth/callback", strings.NewReader(strings.ReplaceAll(body, "ID", a.begun.ID)))
		r.Header.Set("Content-Type", "application/json")
		for name, value := range b {
			r.AddCookie(&http.Cookie{Name: name, Value: value})
		}
		rec := httptest.NewRecorder()
		err := a.provider.CallbackBy(rec, r)
		if err == nil {
			t.Fatalf("%q: %d %s", body, rec.Code, rec.Body)
		}
		checkReply(t, rec, err, callback)
	})
}
