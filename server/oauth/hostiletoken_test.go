package oauth_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/postern-id/postern/schemas"
)

// TestTokensInTheWrongPlace uses each kind of token in place of another, and invalid tokens in
// every spelling. (The token package tests forged ones.)
func TestTokensInTheWrongPlace(t *testing.T) {
	a := newSignIns(t)
	good := must(a.redeem(a.code(browser{}, ask())))
	gone := must(a.redeem(a.code(browser{}, ask())))
	form := url.Values{"token": {gone.AccessToken}, "client_id": {"app"}}
	a.must(a.provider.Revoke(httptest.NewRecorder(), request(form.Encode())))
	ended := must(a.redeem(a.code(browser{}, ask())))
	_, c := claims(t, ended.AccessToken)
	a.must(a.store.Apply(t.Context(), []schemas.Change{schemas.EndSession{ID: c["sid"].(string)}}))
	assertion := must(a.tokens.Assert(t.Context(), schemas.Assertion{Subject: a.user.ID, Audience: []string{"app-app", base}, Permissions: []string{"openid"}}))
	parts := strings.Split(good.AccessToken, ".")
	table := map[string]string{
		"an ID token": good.IDToken, "an assertion": assertion, "a refresh token": good.RefreshToken,
		"revoked": gone.AccessToken, "revoked, with the other signature": mirrored(gone.AccessToken),
		"of a session that ended": ended.AccessToken, "of a session that ended, mirrored": mirrored(ended.AccessToken),
		"padded": good.AccessToken + "=", "with a line end": parts[0] + ".\n" + parts[1] + "." + parts[2], "with a fourth part": good.AccessToken + ".e30",
		"detached": parts[0] + ".." + parts[2], "unsigned": parts[0] + "." + parts[1] + ".", "the signature cut": good.AccessToken[:len(good.AccessToken)-4],
		"in JSON": fmt.Sprintf(`{"protected":%q,"payload":%q,"signature":%q}`, parts[0], parts[1], parts[2]), "huge": strings.Repeat("e30.", 9000),
	}
	for name, raw := range table {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, "/oauth2/userinfo", nil)
			r.Header.Set("Authorization", "Bearer "+raw)
			wantRefused(t, a.provider.UserInfo(httptest.NewRecorder(), r), "invalid_token")
			rec := httptest.NewRecorder()
			form := url.Values{"token": {raw}}
			if err := a.provider.Introspect(rec, request(form.Encode(), basic("conf", secret))); err != nil || rec.Body.String() != `{"active":false}` {
				t.Errorf("introspected %s, %v", rec.Body, err)
			}
			if raw != good.IDToken {
				if to := a.authorize(browser{}, ask("id_token_hint", raw)); to.Query().Get("error") != "invalid_request" {
					t.Errorf("as id_token_hint it led to %s", to)
				}
			}
			for _, audience := range []string{base + "/mcp", shop} {
				if _, err := a.tokens.Verify(t.Context(), raw, audience); err == nil {
					t.Errorf("it is good for %s", audience)
				}
			}
		})
	}
}
