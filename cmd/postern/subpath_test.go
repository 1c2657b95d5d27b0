package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// A server whose public URL has a path works behind a proxy that keeps the path and behind one that removes it:
// the whole sign-in, the pages, the tools and the metadata at the root of the site. The path is that of
// endpoints of the API.
func TestPublicURLWithAPath(t *testing.T) {
	for name, proxy := range map[string]func(http.Handler) http.Handler{
		"kept":    func(h http.Handler) http.Handler { return h },
		"removed": withoutPath,
	} {
		t.Run(name, func(t *testing.T) {
			w := createUsers(t, "POSTERN_SERVER_PUBLIC_URL=https://example.com/auth")
			w.http = proxy(w.http)
			p := w.newParties("query")(t)
			got, id, _ := p.signInAndVerify("scope", "openid email")
			if id.Issuer != "https://example.com/auth" || p.answers != 1 {
				t.Errorf("the issuer is %s, after %d sign-ins", id.Issuer, p.answers)
			}
			if p.ask("prompt", "none").params.Get("code") == "" {
				t.Error("the session of the browser is lost")
			}
			if said := p.userinfo(got.Access); said["email"] != "pat@example.com" {
				t.Errorf("userinfo says %v", said)
			}
			p.visitPages()
			p.visitRoot()
			p.readMetadata()
		})
	}
}

// withoutPath is a proxy that removes the path from requests, and forwards the well-known addresses at the root.
func withoutPath(h http.Handler) http.Handler {
	stripped := http.StripPrefix("/auth", h)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/.well-known/") {
			h.ServeHTTP(w, r)
		} else {
			stripped.ServeHTTP(w, r)
		}
	})
}

// visitPages visits pages, and follows what they load and where they lead.
func (p *party) visitPages() {
	p.t.Helper()
	for path, want := range map[string]string{
		"/console": `<base href="/auth/console/">`, "/console/users": `<base href="/auth/console/">`, "/gate/account": "<!DOCTYPE html>", "/docs": "<!DOCTYPE html>",
		"/schemas/flow.json": `"$schema"`, "/health/readiness": `"status"`, "/auth/passkey/nothing": "auth/passkey", "/users": "unauthorized",
	} {
		if reply, text := p.visit(p.at(path)); !strings.Contains(strings.ToLower(text), strings.ToLower(want)) {
			p.t.Errorf("%s: %d %.300s", path, reply.StatusCode, text)
		}
	}
	if status, said := p.postJSON("/auth/passkey/start", map[string]any{}); status != http.StatusOK {
		p.t.Errorf("an endpoint with the name of the path: %d %s", status, said)
	}
	if reply, _ := p.visit("https://example.com/authority/users"); reply.StatusCode != http.StatusNotFound && reply.Header.Get("X-Trace-Id") != "" {
		p.t.Errorf("another path of the site is answered by Postern: %d", reply.StatusCode)
	}
}

// visitRoot opens the root, which has links to the pages and says nothing else, for browsers and for programs without
// preferences.
func (p *party) visitRoot() {
	p.t.Helper()
	for accept, status := range map[string]int{"text/html,*/*;q=0.8": http.StatusOK, "*/*": http.StatusOK, "": http.StatusOK, "application/json": http.StatusNotFound} {
		for _, address := range []string{p.at("/"), p.at("")} {
			r, err := http.NewRequest(http.MethodGet, address, nil)
			r.Header.Set("Accept", accept)
			reply, text := p.do(r, err)
			isPage := strings.Contains(text, `href="/auth/gate/account"`) && strings.Contains(text, `href="/auth/console"`)
			if reply.StatusCode != status || isPage != (status == http.StatusOK) {
				p.t.Errorf("%s for %q: %d %.300s", address, accept, reply.StatusCode, text)
			}
		}
	}
	r, err := http.NewRequest(http.MethodGet, p.at("/nothing"), nil)
	r.Header.Set("Accept", "*/*")
	if reply, _ := p.do(r, err); reply.StatusCode != http.StatusNotFound || !strings.HasPrefix(reply.Header.Get("Content-Type"), "application/json") {
		p.t.Errorf("an unknown address: %d", reply.StatusCode)
	}
}

// readMetadata reads the metadata at the addresses of RFC 8414 §3.1 and RFC 9728 §3.1, and below the path.
func (p *party) readMetadata() {
	p.t.Helper()
	for address, want := range map[string]string{
		"https://example.com/.well-known/oauth-authorization-server/auth":      "https://example.com/auth",
		"https://example.com/.well-known/openid-configuration/auth":            "https://example.com/auth",
		"https://example.com/auth/.well-known/openid-configuration":            "https://example.com/auth",
		"https://example.com/.well-known/oauth-protected-resource/auth/mcp":    "https://example.com/auth/mcp",
		"https://example.com/auth/.well-known/oauth-protected-resource":        "https://example.com/auth/mcp",
		"https://example.com/.well-known/oauth-authorization-server/authority": "",
	} {
		var metadata struct{ Issuer, Resource string }
		_, text := p.visit(address)
		_ = json.Unmarshal([]byte(text), &metadata)
		if got := metadata.Issuer + metadata.Resource; got != want {
			p.t.Errorf("%s: %q, want %q: %.200s", address, got, want, text)
		}
	}
	reply, _ := p.do(http.NewRequest(http.MethodPost, p.at("/mcp"), strings.NewReader("{}")))
	if field := reply.Header.Get("WWW-Authenticate"); !strings.Contains(field, `resource_metadata="https://example.com/auth/.well-known/oauth-protected-resource"`) {
		p.t.Errorf("the tools refer to %s", field)
	}
}
