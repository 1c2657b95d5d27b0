package server_test

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server"
)

// fakeTools replies with the caller; to "busy" with an error.
type fakeTools struct{}

func (fakeTools) Serve(w http.ResponseWriter, r *http.Request, c directory.Call) error {
	if r.Header.Get("X-Busy") != "" {
		e := schemas.Errorf(schemas.Throttled, "too_many_requests", "wait")
		e.RetryAfter = time.Second
		return e
	}
	return json.NewEncoder(w).Encode(c)
}

// newToolServer returns a server with a client that can get tokens for the tools.
func newToolServer(t *testing.T) *testServer {
	h := newTestServer(t)
	app := schemas.Application{ID: schemas.NewID(), Name: "Assistant", ClientID: "assistant", OUID: h.unit, CreatedAt: h.clock(), UpdatedAt: h.clock()}
	if err := h.db.Update(t.Context(), func(tx *store.Tx) error { return store.Applications().Insert(tx, &app) }); err != nil {
		t.Fatal(err)
	}
	return h
}

func access(audience string, scope ...string) token.Claims {
	return token.Claims{Subject: ada, ClientID: "assistant", Audience: []string{audience}, Scope: scope}
}

const toolChallenge = `resource_metadata="` + publicURL + `/.well-known/oauth-protected-resource", scope="system"`

// A caller without access learns where to get a token, for every method: MCP authorization, RFC
// 9728 §5.1.
func TestToolChallenges(t *testing.T) {
	h := newToolServer(t)
	const tools = publicURL + "/mcp"
	revoked := h.accessHeader(access(tools, "system"))
	claims, err := h.tokens.Verify(t.Context(), strings.TrimPrefix(revoked, "Authorization: Bearer "), tools)
	if err != nil {
		t.Fatal(err)
	}
	h.apply(schemas.RevokeToken{ID: claims.ID, ExpiresAt: claims.Expires})
	short := access(tools, "system")
	short.Validity = time.Second
	expired := h.accessHeader(short)
	h.pass(2 * time.Second)
	for name, tt := range map[string]struct {
		header, code, reason string
		status               int
	}{
		"none":                 {"", "unauthorized", "", 401},
		"nonsense":             {"Authorization: Bearer nonsense", "invalid_token", "invalid_token", 401},
		"for the API alone":    {h.accessHeader(access(publicURL, "system")), "invalid_token", "invalid_token", 401},
		"for something else":   {h.accessHeader(access(tools+"/", "system")), "invalid_token", "invalid_token", 401},
		"an assertion":         {h.admin, "invalid_token", "invalid_token", 401},
		"expired":              {expired, "invalid_token", "invalid_token", 401},
		"revoked":              {revoked, "invalid_token", "invalid_token", 401},
		"without system":       {h.accessHeader(access(tools, "openid")), "forbidden", "insufficient_scope", 403},
		"with what is below":   {h.accessHeader(access(tools, "system:applications", "system:flows:write")), "forbidden", "insufficient_scope", 403},
		"with what reads like": {h.accessHeader(access(tools, "systems", "SYSTEM")), "forbidden", "insufficient_scope", 403},
	} {
		for _, method := range []string{"POST", "GET", "DELETE", "PUT", "HEAD"} {
			rec := h.do(method, "/mcp", "", tt.header)
			if method != "HEAD" {
				fails(t, rec, tt.status, tt.code)
			}
			want := `Bearer error="` + tt.reason + `", ` + toolChallenge
			if tt.reason == "" { // RFC 6750 §3.1
				want = "Bearer " + toolChallenge
			}
			got := rec.Header().Get("WWW-Authenticate")
			if rec.Code != tt.status || !strings.HasPrefix(got, want) || tt.reason == "" && got != want {
				t.Errorf("%s, %s: %d, WWW-Authenticate: %s", name, method, rec.Code, got)
			}
		}
	}
}

func TestToolsAreCalledInTheNameOfTheClient(t *testing.T) {
	h := newToolServer(t)
	good := access(publicURL+"/mcp", "openid", "system")
	good.Audience = append(good.Audience, publicURL)
	rec := h.do("POST", "/mcp", "{}", h.accessHeader(good))
	var c directory.Call
	if err := json.Unmarshal(rec.Body.Bytes(), &c); err != nil || rec.Code != 200 {
		t.Fatalf("%d %s, %v", rec.Code, rec.Body, err)
	}
	if c.Actor != (schemas.Actor{Type: schemas.UserActor, ID: ada, Client: "assistant"}) || !c.Permits("system") || c.TraceID != rec.Header().Get("X-Trace-Id") {
		t.Errorf("called by %+v", c)
	}
	rec = h.do("POST", "/mcp", "{}", h.accessHeader(good), "X-Busy: yes")
	fails(t, rec, 429, "too_many_requests")
	if rec.Header().Get("Retry-After") != "1" || rec.Header().Get("WWW-Authenticate") != "" {
		t.Errorf("a busy reply has %v", rec.Header())
	}
}

func TestToolMethods(t *testing.T) {
	h := newToolServer(t)
	good := h.accessHeader(access(publicURL+"/mcp", "system"))
	for _, method := range []string{"GET", "DELETE", "PUT", "PATCH"} {
		rec := h.do(method, "/mcp", "", good)
		fails(t, rec, 405, "method_not_allowed")
		if got := rec.Header().Get("Allow"); got != "OPTIONS, POST" {
			t.Errorf("%s: Allow: %s", method, got)
		}
	}
}

// In open mode of the API, the tools are not open.
func TestToolsAreNeverOpen(t *testing.T) {
	h := newTestServer(t, func(o *server.Options) { o.Open = func(context.Context) bool { return true } })
	fails(t, h.do("POST", "http://localhost:8090/mcp", "{}"), 401, "unauthorized")
}

// Pages of other origins are rejected first.
func TestToolsAndOrigins(t *testing.T) {
	h := newToolServer(t)
	good := h.accessHeader(access(publicURL+"/mcp", "system"))
	for origin, want := range map[string]int{
		"": 200, publicURL: 200, spaOrigin: 200,
		rpOrigin: 403, // of an application: its pages may call flows, and not the tools
		"null":   403, "*": 403, "https://evil.example": 403, publicURL + ".evil.example": 403, publicURL + ":8443": 403, "http://id.example.com": 403,
	} {
		rec := h.do("POST", "/mcp", "{}", good, "Origin: "+origin)
		if rec.Code != want {
			t.Errorf("Origin %q: %d %s", origin, rec.Code, rec.Body)
		}
		preflight := h.do("OPTIONS", "/mcp", "", "Origin: "+origin, "Access-Control-Request-Method: POST", "Access-Control-Request-Headers: authorization, mcp-protocol-version")
		if want == 403 {
			fails(t, rec, 403, "origin_not_allowed")
			fails(t, h.do("POST", "/mcp", "{}", "Origin: "+origin), 403, "origin_not_allowed")
			fails(t, preflight, 403, "origin_not_allowed")
			if got := rec.Header().Get("WWW-Authenticate"); got != "" {
				t.Errorf("Origin %q: another token would do no good, but it is asked for one: %s", origin, got)
			}
		}
		if origin != "" && want == 200 && (preflight.Code != 204 || !strings.Contains(preflight.Header().Get("Access-Control-Allow-Headers"), "Mcp-Protocol-Version")) {
			t.Errorf("Origin %q: the preflight gets %d %v", origin, preflight.Code, preflight.Header())
		}
	}
	r := httptest.NewRequest("POST", "/mcp", strings.NewReader("{}"))
	r.Header["Origin"] = []string{publicURL, "https://evil.example"}
	r.Header.Set("Authorization", strings.TrimPrefix(good, "Authorization: "))
	fails(t, record(h.passkeyFixture, r), 403, "origin_not_allowed")
}

// A page that uses DNS rebinding has its own name in Host.
func TestToolsAndDNSRebinding(t *testing.T) {
	h := newToolServer(t)
	good := h.accessHeader(access(publicURL+"/mcp", "system"))
	for _, tt := range []struct {
		local, host string
		want        int
	}{
		{"127.0.0.1", "localhost:8090", 200}, {"127.0.0.1", "127.0.0.1:8090", 200}, {"::1", "[::1]:8090", 200}, {"127.0.0.1", "LOCALHOST", 200},
		{"127.0.0.1", "id.example.com", 200}, // by a proxy on this machine
		{"127.0.0.1", "evil.example:8090", 403}, {"127.0.0.1", "localhost.evil.example", 403}, {"::1", "evil.example", 403}, {"127.0.0.1", "", 403},
		{"192.0.2.1", "backend:8090", 200},
	} {
		r := httptest.NewRequest("POST", "/mcp", strings.NewReader("{}"))
		r.Host = tt.host
		r.Header.Set("Authorization", strings.TrimPrefix(good, "Authorization: "))
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(&net.TCPAddr{IP: net.ParseIP(tt.local), Port: 8090})))
		rec := record(h.passkeyFixture, r)
		if rec.Code != tt.want {
			t.Errorf("Host %q over %s: %d %s", tt.host, tt.local, rec.Code, rec.Body)
		}
		if tt.want == 403 {
			fails(t, rec, 403, "host_not_allowed")
		}
	}
}
