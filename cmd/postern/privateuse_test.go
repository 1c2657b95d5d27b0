package main

import (
	"net/http"
	"strings"
	"testing"

	"golang.org/x/oauth2"
)

const editorRedirect = "editor://example.assistant/oauth/callback"

// Editors register a scheme that is not a domain name. A server accepts configured schemes
// from clients that do not rely on a secret, and from no others.
func TestPrivateUseSchemes(t *testing.T) {
	r := newRegistrars(t, "POSTERN_OAUTH_DCR_PRIVATE_USE_SCHEMES=editor")
	for name, test := range map[string]struct {
		redirect, method, wrong string
	}{
		"named":                     {redirect: editorRedirect, method: "none"},
		"a domain name":             {redirect: "com.example.editor:/callback", method: "none"},
		"another":                   {redirect: "other://example/callback", method: "none", wrong: "oauth.dcr.private_use_schemes"},
		"with a secret":             {redirect: editorRedirect, method: "client_secret_basic", wrong: "public clients"},
		"one that browsers act on":  {redirect: "javascript://example/%0aalert(1)", method: "none", wrong: "the scheme 'javascript'"},
		"one that only begins like": {redirect: "editor-x://example/callback", method: "none", wrong: "editor-x"},
	} {
		said, status := r.register(t, "redirect_uris", []string{test.redirect}, "token_endpoint_auth_method", test.method)
		why, _ := said["error_description"].(string)
		if test.wrong == "" && status != http.StatusCreated || test.wrong != "" && (said["error"] != "invalid_redirect_uri" || !strings.Contains(why, test.wrong)) {
			t.Errorf("%s: %d %v", name, status, said)
		}
		if strings.HasPrefix(test.redirect, "javascript:") && strings.Contains(why, "private_use_schemes") {
			t.Errorf("%s: what can never be named is said to be a matter of configuration: %s", name, why)
		}
	}
	signsInto(t, r, editorRedirect)
}

// signsInto has a user sign in to a self-registered client with a redirect URI, and the
// client redeem its code.
func signsInto(t *testing.T, r *registrars, redirect string) {
	t.Helper()
	p := r.party(t, "redirect_uris", []string{redirect}, "token_endpoint_auth_method", "none")
	verifier := oauth2.GenerateVerifier()
	a := p.ask("code_challenge", oauth2.S256ChallengeFromVerifier(verifier), "code_challenge_method", "S256")
	if !strings.HasPrefix(a.to, redirect+"?") {
		t.Fatalf("answered %+v", a)
	}
	if got, status := p.redeem(a.params.Get("code"), "code_verifier", verifier); status != http.StatusOK || got.Access == "" {
		t.Errorf("%d %+v", status, got)
	}
}

// Without configured schemes, none is accepted.
func TestPrivateUseSchemesAreListed(t *testing.T) {
	r := newRegistrars(t)
	if said, status := r.register(t, "redirect_uris", []string{editorRedirect}, "token_endpoint_auth_method", "none"); status != http.StatusBadRequest {
		t.Errorf("%d %v", status, said)
	}
}
