package main

import (
	"net/http"
	"testing"

	"github.com/postern-id/postern/schemas"
)

// BenchmarkRequests measures single requests without the network.
func BenchmarkRequests(b *testing.B) {
	w := newTestApp(b)
	w.enrol("ada")
	user := w.authenticate(w.start(schemas.Authentication)).Assertion
	claims := w.claimsOf(user)
	admin := w.admin()
	authorize := authorizationRequest(b, w)
	requests := map[string]struct {
		status                    int
		method, path, token, body string
	}{
		"list applications":  {200, "GET", "/applications", admin, ""},
		"read a user":        {200, "GET", "/users/" + claims.Subject, admin, ""},
		"own account":        {200, "GET", "/users/me", user, ""},
		"start registration": {200, "POST", "/register/passkey/start", user, `{"userId":"` + claims.Subject + `"}`},
		"authorize":          {302, "GET", authorize, "", ""},
		"flow meta":          {200, "GET", "/flow/meta?type=APP&id=" + claims.Application, "", ""},
		"discovery":          {200, "GET", "/.well-known/openid-configuration", "", ""},
		"readiness":          {200, "GET", "/health/readiness", "", ""},
	}
	for name, r := range requests {
		b.Run(name, func(b *testing.B) {
			w.measure(b, func(int64) {
				if rec := w.call(r.method, r.path, r.token, r.body); rec.Code != r.status {
					b.Errorf("%d %s", rec.Code, rec.Body)
				}
			})
		})
	}
}

// authorizationRequest creates a public client and returns an authorization request of it.
func authorizationRequest(b *testing.B, w *testApp) string {
	token := w.admin()
	c := w.call(http.MethodPost, "/applications", token, `{"name":"Shop","inboundAuthConfig":[{"type":"oauth2","config":{"clientId":"shop","publicClient":true,"redirectUris":["https://shop.example/callback"],"grantTypes":["authorization_code"]}}]}`)
	if c.Code != http.StatusCreated {
		b.Fatal(c.Body)
	}
	return "/oauth2/authorize?response_type=code&client_id=shop&redirect_uri=https%3A%2F%2Fshop.example%2Fcallback&scope=openid&state=s&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeGK1i_zU-Qn_8bGyQZ8&code_challenge_method=S256"
}
