package server_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/server"
)

// acceptsJSON reports whether FuzzBodies sends bodies to a route. The endpoints below /oauth2 and the tools
// have targets of their own. One that revokes all tokens would leave the others without effect.
func acceptsJSON(r server.Route) bool {
	hasOwn := slices.ContainsFunc([]string{"/oauth2/", "/oidc/", "/mcp", "/revoke-tokens"}, func(prefix string) bool { return strings.HasPrefix(r.Path, prefix) })
	return slices.Contains([]string{http.MethodPost, http.MethodPut, http.MethodPatch}, r.Method) && !hasOwn
}

// FuzzBodies sends bodies to each endpoint that accepts JSON, as an administrator. The reply is never a
// 5xx, and each error has the one shape.
func FuzzBodies(f *testing.F) {
	h := newTestServer(f)
	ids := map[string]string{} // of an object of each collection
	for _, r := range h.directory.Resources() {
		ids[r.Noun().Path] = h.create(r.Noun().Path, numbered(samples()[r.Noun().Plural].body, "9"))
	}
	var routes []server.Route
	for _, r := range h.routes() {
		if acceptsJSON(r) {
			routes = append(routes, r)
		}
	}
	if len(routes) < 30 || len(routes) > 255 {
		f.Fatalf("%d endpoints accept a body, expected 30 to 255", len(routes))
	}
	for i := range routes {
		f.Add(uint8(i), `{"name":"x","attributes":{"username":null},"status":7,"token":"x","definition":"handle: x"}`, false)
	}
	f.Add(uint8(0), `null`, false)
	f.Add(uint8(0), `[{"op":"replace"}]`, true)
	f.Add(uint8(1), "\xff", true)
	f.Fuzz(func(t *testing.T, at uint8, body string, patch bool) {
		w := &passkeyFixture{t: t, handler: h.handler}
		r := routes[int(at)%len(routes)]
		kind := "application/json"
		if patch {
			kind = "application/merge-patch+json"
		}
		collection, _, _ := strings.Cut(r.Path, "/{id}")
		path := strings.NewReplacer("{id}", ids[collection], "{n}", "1", "{credentialId}", "x").Replace(r.Path)
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
