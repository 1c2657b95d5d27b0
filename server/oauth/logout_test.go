package oauth_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

const goodbye = "https://app.example.com/bye"

func (a *signIns) logout(b browser, q url.Values) *httptest.ResponseRecorder {
	a.t.Helper()
	rec, err := b.do(a.t, a.provider.Logout, httptest.NewRequest("GET", "/oauth2/logout?"+q.Encode(), nil))
	a.must(err)
	return rec
}

func (a *signIns) signedIn(b browser) bool {
	a.authorize(b, ask())
	return a.session != nil
}

func TestLogout(t *testing.T) {
	a, b := newSignIns(t), browser{}
	a.clients.list["app"].OAuth().PostLogoutRedirectURIs = []string{goodbye}
	r, err := a.redeem(a.code(b, ask()))
	a.must(err)
	rec := a.logout(b, url.Values{"id_token_hint": {r.IDToken}, "post_logout_redirect_uri": {goodbye}, "state": {"s"}})
	if rec.Code != http.StatusFound || rec.Header().Get("Location") != goodbye+"?state=s" || a.signedIn(b) || a.live(r.AccessToken) {
		t.Errorf("%d %v", rec.Code, rec.Header())
	}
	if _, err := a.refresh(r.RefreshToken); err == nil {
		t.Error("the refresh token outlived the session")
	}
	if e := a.events[len(a.events)-1]; e.Action != "session.ended" || e.UserID != a.user.ID || e.Resource.ID == "" {
		t.Errorf("recorded %+v", e)
	}
	if rec := a.logout(b, nil); rec.Header().Get("Location") != gateURL+"/signedout" {
		t.Errorf("nobody is signed in: %v", rec.Header())
	}
}

// TestLogoutIsAsked: a page that sends people here cannot sign them out, nor have
// them sent on to where it likes.
func TestLogoutIsAsked(t *testing.T) {
	a, b, other := newSignIns(t), browser{}, browser{}
	a.clients.list["app"].OAuth().PostLogoutRedirectURIs = []string{goodbye}
	a.code(b, ask())
	foreign, err := a.redeem(a.code(other, ask()))
	a.must(err)
	for _, q := range []url.Values{nil, {"client_id": {"app"}, "post_logout_redirect_uri": {goodbye}}, {"id_token_hint": {foreign.IDToken}}, {"confirm": {"yes"}}} {
		rec := a.logout(b, q)
		if rec.Code != http.StatusOK || !strings.Contains(rec.Body.String(), "Sign out?") || !a.signedIn(b) {
			t.Errorf("%v: %d %v", q, rec.Code, rec.Header())
		}
	}
	for _, q := range []url.Values{
		{"client_id": {"app"}, "post_logout_redirect_uri": {"https://evil.example"}}, {"post_logout_redirect_uri": {goodbye}}, {"client_id": {"conf"}, "post_logout_redirect_uri": {goodbye}},
		{"id_token_hint": {foreign.AccessToken}}, {"id_token_hint": {foreign.IDToken}, "client_id": {"conf"}},
	} {
		if to := a.logout(b, q).Header().Get("Location"); !strings.HasPrefix(to, gateURL+"/error?") {
			t.Errorf("%v led to %s", q, to)
		}
	}
	page := a.logout(b, nil).Body.String()
	confirm := regexp.MustCompile(`name="confirm" value="([^"]+)"`).FindStringSubmatch(page)
	if confirm == nil {
		t.Fatal(page)
	}
	post := httptest.NewRequest("POST", "/oauth2/logout", strings.NewReader("confirm="+confirm[1]))
	post.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	rec, err := b.do(t, a.provider.Logout, post)
	if err != nil || rec.Code != http.StatusSeeOther || a.signedIn(b) || !a.signedIn(other) {
		t.Errorf("%d %v, %v", rec.Code, rec.Header(), err)
	}
}
