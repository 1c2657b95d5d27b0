package server_test

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/passkey/passkeytest"
	"github.com/postern-id/postern/internal/store/storetest"
	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/schemas"
)

// Tests of finding 7 of the security audit of November 2026.

func onBothStores(t *testing.T, test func(t *testing.T, h *testServer)) {
	t.Run("sqlite", func(t *testing.T) { test(t, newTestServer(t)) })
	t.Run("postgres", func(t *testing.T) { test(t, newOpenServer(t, "postgres", storetest.EmptyPostgres(t))) })
}

// accountChanges are the requests that change the account of the user with that id.
func (h *testServer) accountChanges(user, identity string) map[string]string {
	h.t.Helper()
	keys, _ := h.ok(200, "GET /users/"+user+"/passkeys", "")
	key := keys.list("passkeys")[0].text("id")
	return map[string]string{
		"POST /register/passkey/start": `{"userId":"` + user + `"}`, "PATCH /users/me/passkeys/" + key: `{"name":"x"}`, "DELETE /users/me/passkeys/" + key: "",
		"POST /users/me/factors/totp/start": "", "POST /users/me/factors/totp/finish": `{"sessionToken":"x","code":"1"}`,
		"POST /users/me/factors/recovery-codes/start": "", "POST /users/me/factors/recovery-codes/finish": `{"sessionToken":"x"}`,
		"DELETE /users/me/factors/totp": "", "DELETE /users/me/identities/" + identity: "", "GET /users/me/export": "",
	}
}

// accountRestrictions are the requests that only take access away from an account.
func accountRestrictions() []string {
	return []string{"DELETE /users/me/sessions", "DELETE /users/me/sessions/" + schemas.NewID(), "DELETE /users/me/consents/" + schemas.NewID()}
}

func (h *testServer) request(request, body string, headers ...string) *httptest.ResponseRecorder {
	h.t.Helper()
	method, path, _ := strings.Cut(request, " ")
	return h.do(method, path, body, headers...)
}

// An application that shows the sign-in itself has an assertion for each of its users.
// With that it neither changes their accounts nor reads where else they sign in, be
// the sign-in fresh and the user without a permission.
func TestAudit07AnAssertionManagesNoAccount(t *testing.T) {
	onBothStores(t, func(t *testing.T, h *testServer) {
		carl := h.user("carl")
		authenticator := h.enrol(carl)
		h.provider("corp")
		identity := h.link(carl, "corp", "1")
		lunch := h.create("/applications", `{"name":"Lunch menu"}`)
		client := h.create("/applications", `{"name":"Client","inboundAuthConfig":[{"type":"oauth2","config":{"redirectUris":["https://shop.example.com/back"],"scopes":["openid","email"]}}]}`)
		var atomic struct{ Assertion string }
		h.post("/auth/passkey/finish", asserted(t, authenticator, h.startAuthentication(`{}`)), &atomic)
		before := h.footprint()
		for name, header := range map[string]string{
			"an application that is no client": h.at(lunch, carl), "a client": h.at(client, carl), "no application": "Authorization: Bearer " + atomic.Assertion,
		} {
			requests := h.accountChanges(carl, identity)
			for _, list := range []string{"passkeys", "sessions", "factors", "identities", "consents"} {
				requests["GET /users/me/"+list] = ""
			}
			for _, request := range accountRestrictions() {
				requests[request] = ""
			}
			for request, body := range requests {
				rec := h.request(request, body, header)
				fails(t, rec, 403, "insufficient_scope")
				if got := rec.Header().Get("WWW-Authenticate"); got != `Bearer realm="postern", error="insufficient_scope", scope="account"` {
					t.Errorf("%s by the assertion for %s: %s", request, name, got)
				}
			}
			h.ok(200, "GET /users/me", "", header)
		}
		if after := h.footprint(); after != before {
			t.Errorf("before %s, after %s", before, after)
		}
		// What a token for accounts began is not finished by an ordinary one.
		begun := h.startRegistration(`{"userId":"`+carl+`"}`, h.at(h.accountApp(), carl))
		fails(t, h.do("POST", "/register/passkey/finish", asJSON(t, attested(t, passkeytest.New(), begun)), h.at(lunch, carl)), 403, "insufficient_scope")
	})
}

// With the scope for accounts changes take a sign-in of the last five minutes: other
// requests are answered with the challenge of RFC 9470, and do nothing.
func TestAudit07ChangesTakeARecentSignIn(t *testing.T) {
	onBothStores(t, func(t *testing.T, h *testServer) {
		carl := h.user("carl")
		h.enrol(carl)
		h.provider("corp")
		identity := h.link(carl, "corp", "1")
		app, _ := h.ok(200, "GET /applications/"+h.accountApp(), "")
		access := h.accessHeader(token.Claims{
			Subject: carl, ClientID: app.text("clientId"), Audience: []string{h.base}, Scope: []string{"account"}, AuthTime: h.clock(),
			Generation: h.generation(app.text("id")),
		})
		headers := map[string]string{"an assertion": h.at(app.text("id"), carl), "an access token": access}
		h.pass(5*time.Minute - time.Second)
		h.ok(200, "POST /register/passkey/start", `{"userId":"`+carl+`"}`, headers["an access token"])
		begun := h.startRegistration(`{"userId":"`+carl+`"}`, headers["an assertion"])
		h.pass(2 * time.Second)
		before := h.footprint()
		for name, header := range headers {
			for request, body := range h.accountChanges(carl, identity) {
				rec := h.request(request, body, header)
				f := fails(t, rec, 401, "insufficient_user_authentication")
				if !strings.Contains(f.Description.DefaultValue, "sign in again") {
					t.Errorf("%s: the error does not say what to do: %s", request, f.Description.DefaultValue)
				}
				if got := rec.Header().Get("WWW-Authenticate"); !strings.HasPrefix(got, `Bearer realm="postern", error="insufficient_user_authentication", max_age=300, error_description="`) {
					t.Errorf("%s by %s: %s", request, name, got)
				}
			}
			for _, list := range []string{"passkeys", "sessions", "factors", "identities", "consents"} {
				h.ok(200, "GET /users/me/"+list, "", header)
			}
			for _, request := range accountRestrictions() {
				if rec := h.request(request, "", header); rec.Code != 200 && rec.Code != 404 {
					t.Errorf("%s by %s: %d %s", request, name, rec.Code, rec.Body)
				}
			}
		}
		if after := h.footprint(); after != before {
			t.Errorf("before %s, after %s", before, after)
		}
		// A ceremony that a recent sign-in began may end a little later.
		h.post("/register/passkey/finish", attested(t, passkeytest.New(), begun), &struct{}{}, headers["an assertion"])
		h.ok(200, "POST /register/passkey/start", `{"userId":"`+carl+`"}`) // system acts for any user
	})
}
