package server_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/throttle"
	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server"
	"github.com/postern-id/postern/server/oauth"
)

// newRegistry is a server where clients register, with a token or, if it is open,
// without.
func newRegistry(t *testing.T, open bool) *testServer {
	t.Helper()
	var p *oauth.Provider
	h := newTestServer(t, func(o *server.Options) {
		o.Throttle = throttle.New(throttle.Options{Budgets: throttle.Budgets{Registrations: throttle.Budget{Burst: 2, Every: 1e18}}})
		p = oauth.New(oauth.Options{Issuer: publicURL, Gate: publicURL + "/gate", Tokens: fakeTokens{}, OpenRegistration: open})
		o.OAuth = p
	})
	p.Clients = h.directory
	return h
}

// Access to registration, and the errors.
func TestClientRegistrationPermissions(t *testing.T) {
	const body = `{"redirect_uris":["https://client.example.com/back"]}`
	closed, opened := newRegistry(t, false), newRegistry(t, true)
	for _, test := range []struct {
		name      string
		h         *testServer
		header    string
		status    int
		code, ask string
	}{
		{"nobody", closed, "", 401, "invalid_token", `Bearer realm="postern"`},
		{"a bad token", closed, "Authorization: Bearer x", 401, "invalid_token", `Bearer realm="postern", error="invalid_token"`},
		{"a user", closed, closed.bearer(schemas.NewID(), "openid"), 403, "insufficient_scope", `Bearer realm="postern", error="insufficient_scope", scope="system:applications:write"`},
		{"the administrator", closed, closed.admin, 201, "", ""},
		{"any client if it is open", opened, "", 201, "", ""},
		{"a bad token where it is open", opened, "Authorization: Bearer x", 401, "invalid_token", `Bearer realm="postern", error="invalid_token"`},
		{"a user where it is open", opened, opened.bearer(schemas.NewID(), "openid"), 403, "insufficient_scope", `Bearer realm="postern", error="insufficient_scope"`},
		{"the administrator where it is open", opened, opened.admin, 201, "", ""},
	} {
		rec := test.h.do("POST", oauth.RegisterPath, body, test.header)
		var reported struct {
			Error       string `json:"error"`
			Description string `json:"error_description"`
			ClientID    string `json:"client_id"`
		}
		if err := json.Unmarshal(rec.Body.Bytes(), &reported); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		if test.name == "nobody" && !(strings.Contains(reported.Description, "have an administrator register the client") && strings.Contains(reported.Description, "publish a client metadata document")) {
			t.Errorf("%s: %q names no way that works", test.name, reported.Description)
		}
		if got := rec.Header().Get("WWW-Authenticate"); rec.Code != test.status || reported.Error != test.code || !strings.HasPrefix(got, test.ask) || got != "" && test.ask == "" {
			t.Errorf("%s: %d %s, %s", test.name, rec.Code, rec.Body, got)
		}
		if rec.Header().Get("Cache-Control") != "no-store" || (reported.ClientID != "") != (test.status == http.StatusCreated) {
			t.Errorf("%s: %v %s", test.name, rec.Header(), rec.Body)
		}
	}
	// Anonymous callers are limited, and an administrator is not.
	opened.do("POST", oauth.RegisterPath, body)
	if rec := opened.do("POST", oauth.RegisterPath, body); rec.Code != http.StatusTooManyRequests || rec.Header().Get("Retry-After") == "" {
		t.Errorf("the third registration without a token: %d %s", rec.Code, rec.Body)
	}
	if rec := opened.do("POST", oauth.RegisterPath, body, opened.admin); rec.Code != http.StatusCreated {
		t.Errorf("the administrator after that: %d %s", rec.Code, rec.Body)
	}
	if rec := opened.do("GET", oauth.RegisterPath, ""); rec.Code != http.StatusMethodNotAllowed {
		t.Errorf("GET: %d", rec.Code)
	}
}

// A client that may not register learns the alternatives of this server.
func TestClosedRegistrationNamesTheAlternatives(t *testing.T) {
	for _, test := range []struct {
		policy oauth.DocumentPolicy
		want   string // of documents; "" for nothing
	}{
		{oauth.DocumentPolicy{}, "publish a client metadata document, and use"},
		{oauth.DocumentPolicy{Hosts: []string{"a.example"}}, "allowed_hosts"},
		{oauth.DocumentPolicy{Disabled: true}, ""},
	} {
		got := oauth.New(oauth.Options{Issuer: publicURL, Tokens: fakeTokens{}, Documents: test.policy}).ClosedRegistration()
		if !strings.Contains(got, "have an administrator register the client") || !strings.Contains(got, test.want) || test.want == "" && strings.Contains(got, "document") {
			t.Errorf("%+v: %q", test.policy, got)
		}
	}
}
