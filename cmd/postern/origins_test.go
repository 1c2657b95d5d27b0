package main

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/schemas"
)

// Browsers receive the origins that the operator has listed for the relying party, and none
// that only an application lists.
func TestRelatedOriginsAreConfigured(t *testing.T) {
	const own, related = "https://localhost:8090", "https://shop.example.net"
	w := newTestApp(t, "POSTERN_PASSKEY_RELATED_ORIGINS="+related)
	w.create(w.directory.Applications, `{"name": "Mine", "passkeyAllowedOrigins": ["https://evil.example"]}`)
	rec := w.exchange(http.MethodGet, "/.well-known/webauthn", "")
	var reported struct{ Origins []string }
	if err := json.Unmarshal(rec.Body.Bytes(), &reported); err != nil || !slices.Equal(reported.Origins, []string{own, related}) {
		t.Errorf("%d %s, %v", rec.Code, rec.Body, err)
	}
	w.origin = related
	w.enrol("ada")
	if s := w.answer(w.start(schemas.Authentication), "passkey", nil); s.FlowStatus != schemas.Incomplete {
		t.Errorf("the next sign-in: %+v", s)
	}
}

// The page of another program, at another port of the loopback address of an application, gets nothing with the cookies
// of the browser; the redirect URI still has any port (RFC 8252 §7.3).
func TestLoopbackPagesOfOtherPorts(t *testing.T) {
	w := newTestApp(t)
	client := w.create(w.directory.Applications, `{"name":"Local","inboundAuthConfig":[{"type":"oauth2","config":{"redirectUris":["http://localhost:5173/cb","http://127.0.0.1/cb","http://[::1]:4000/cb"]}}]}`).Value.(*schemas.Application).ClientID
	for _, path := range []string{"/flow/execute", "/oauth2/token", "/oauth2/userinfo"} {
		for origin, admitted := range map[string]bool{
			"http://localhost:5173": true, "http://127.0.0.1": true, "http://[::1]:4000": true,
			"http://localhost:5174": false, "http://localhost": false, "http://127.0.0.1:5173": false, "http://127.0.0.1:80": false, "http://[::1]:4001": false, "https://localhost:5173": false,
		} {
			rec := w.exchange(http.MethodPost, path, "{}", jsonBody, "Origin: "+origin)
			if got := rec.Header().Get("Access-Control-Allow-Origin"); (got == origin) != admitted || (rec.Header().Get("Access-Control-Allow-Credentials") == "true") != admitted {
				t.Errorf("%s for %s: %q", path, origin, got)
			}
		}
	}
	for uri, page := range map[string]string{"http://localhost:5174/cb": "/gate/signin?", "http://127.0.0.1:5173/cb": "/gate/signin?", "http://localhost:5174/other": "/gate/error?"} {
		query := url.Values{"client_id": {client}, "response_type": {"code"}, "scope": {"openid"}, "redirect_uri": {uri}}
		if to := w.exchange(http.MethodGet, "/oauth2/authorize?"+query.Encode(), "").Header().Get("Location"); !strings.Contains(to, page) {
			t.Errorf("%s: %s", uri, to)
		}
	}
}
