package main

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// RP-Initiated Logout.
func TestConformanceLogout(t *testing.T) {
	const prefix = "oidcc-rp-initiated-logout-"
	conformance(t, "query", map[string]trial{
		prefix + "discovery-endpoint-verification": func(t *testing.T, newParty parties) {
			p := newParty(t)
			if p.discovery()["end_session_endpoint"] != p.at("/oauth2/logout") {
				t.Errorf("the metadata is %v", p.discovery())
			}
		},
		prefix + "base":                                    postLogoutRedirect(rpGoodbye+"?state=see+you", "see you", rpGoodbye),
		prefix + "no-state":                                postLogoutRedirect(rpGoodbye, "", rpGoodbye),
		prefix + "no-post-logout-redirect-uri":             postLogoutRedirect("", "see you", ""),
		prefix + "bad-post-logout-redirect-uri":            stay(func(q url.Values) { q.Set("post_logout_redirect_uri", "https://rp.example.com/elsewhere") }),
		prefix + "modified-id-token-hint":                  stay(func(q url.Values) { q.Set("id_token_hint", modified(q.Get("id_token_hint"))) }),
		prefix + "bad-id-token-hint":                       stay(func(q url.Values) { q.Set("id_token_hint", "bad") }),
		prefix + "no-id-token-hint":                        stay(func(q url.Values) { q.Del("id_token_hint") }),
		prefix + "query-added-to-post-logout-redirect-uri": stay(func(q url.Values) { q.Set("post_logout_redirect_uri", rpGoodbye+"?extra=1") }),
		prefix + "no-params":                               stay(func(q url.Values) { clear(q) }),
		prefix + "only-state":                              stay(func(q url.Values) { clear(q); q.Set("state", "see you") }),
	})
}

// signedIn is a party with a signed-in user, and a logout request for the user.
func signedIn(t *testing.T, newParty parties) (*party, url.Values) {
	p := newParty(t)
	got, _, _ := p.signInAndVerify()
	return p, url.Values{"id_token_hint": {got.ID}, "post_logout_redirect_uri": {rpGoodbye}, "state": {"see you"}}
}

// postLogoutRedirect signs the user out, and redirects to an address; "" for a page of this server.
func postLogoutRedirect(want, state, redirect string) trial {
	return func(t *testing.T, newParty parties) {
		p, q := signedIn(t, newParty)
		for name, value := range map[string]string{"state": state, "post_logout_redirect_uri": redirect} {
			if q.Set(name, value); value == "" {
				q.Del(name)
			}
		}
		reply, _ := p.visit(p.at("/oauth2/logout?" + q.Encode()))
		to := reply.Header.Get("Location")
		if want == "" && strings.HasPrefix(to, "https://rp.example.com/") || want != "" && to != want {
			t.Errorf("led to %q, want %q", to, want)
		}
		p.refused(p.ask("prompt", "none"), "login_required")
	}
}

// stay shows a page of this server, and signs no user out without confirmation.
func stay(change func(url.Values)) trial {
	return func(t *testing.T, newParty parties) {
		p, q := signedIn(t, newParty)
		change(q)
		reply, _ := p.visit(p.at("/oauth2/logout?" + q.Encode()))
		if to := reply.Header.Get("Location"); reply.StatusCode != http.StatusOK && !strings.HasPrefix(to, p.at("/gate/")) {
			t.Errorf("%d, led to %q", reply.StatusCode, to)
		}
		if p.signInAndVerify("prompt", "none"); p.answers != 1 {
			t.Errorf("the person had to sign in %d times", p.answers)
		}
	}
}

// modified is a token with one claim changed.
func modified(raw string) string {
	at := strings.Index(raw, ".") + 20
	letter := "A"
	if raw[at] == 'A' {
		letter = "B"
	}
	return raw[:at] + letter + raw[at+1:]
}
