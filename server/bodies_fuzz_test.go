package server_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/postern-id/postern/server"
)

// FuzzBodies sends bodies to each endpoint that accepts JSON, as an administrator. The reply is never a
// 5xx, and each error has the one shape. The endpoints below /oauth2 and the
// tools have targets of their own; one that revokes all tokens would leave the others without effect.
func FuzzBodies(f *testing.F) {
	h := newTestServer(f)
	user := h.create("/users", `{"type":"Person","attributes":{"username":"ada"}}`)
	var routes []server.Route
	for _, r := range h.routes() {
		if strings.HasPrefix(r.Path, "/oauth2/") || strings.HasPrefix(r.Path, "/oidc/") || r.Path == "/revoke-tokens" || r.Path == "/mcp" || r.Method != http.MethodPost && r.Method != http.MethodPut && r.Method != http.MethodPatch {
			continue
		}
		routes = append(routes, r)
	}
	if len(routes) < 30 || len(routes) > 255 {
		f.Fatalf("%d endpoints accept a body, expected 30 to 255", len(routes))
	}
	for i := range routes {
		for _, body := range []string{`{}`, `null`, `{"name":"x","attributes":{"username":null},"status":7}`, `{"token":"x","definition":"handle: x"}`} {
			f.Add(uint8(i), body, false)
		}
	}
	f.Add(uint8(0), `[{"op":"replace"}]`, true)
	f.Add(uint8(1), "\xff", true)
	f.Fuzz(func(t *testing.T, at uint8, body string, patch bool) {
		w := &passkeyFixture{t: t, handler: h.handler}
		r := routes[int(at)%len(routes)]
		kind := "application/json"
		if patch {
			kind = "application/merge-patch+json"
		}
		path := strings.NewReplacer("{id}", user, "{n}", "1", "{credentialId}", "x").Replace(r.Path)
		rec := w.do(r.Method, path, body, h.admin, "Content-Type: "+kind)
		if rec.Code >= http.StatusInternalServerError {
			t.Fatalf("%s %s %q: %d %s", r.Method, path, body, rec.Code, rec.Body)
		}
		if rec.Code < http.StatusBadRequest {
			return
		}
		var e failure
		if err := json.Unmarshal(rec.Body.Bytes(), &e); err != nil {
			t.Fatalf("%s %s %q: %s", r.Method, path, body, rec.Body)
		}
		fails(t, rec, rec.Code, e.Code)
	})
}
