package oauth_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server/oauth"
	"github.com/postern-id/postern/server/runs"
)

// refusedBy sends a request that is refused, and returns the log entry and the newest event.
func (a *fixture) refusedBy(r *http.Request, h func(http.ResponseWriter, *http.Request) error) (runs.Entry, schemas.Event) {
	a.t.Helper()
	var entry runs.Entry
	before := len(a.events)
	_ = h(httptest.NewRecorder(), r.WithContext(context.WithValue(r.Context(), runs.EntryKey{}, &entry)))
	if len(a.events) == before {
		a.t.Fatalf("%s is not recorded", r.URL)
	}
	return entry, a.events[len(a.events)-1]
}

// What was refused is in the audit log and in the log line, wherever it was sent: of limited length, with control
// characters escaped, and without secrets.
func TestRefusedValuesAreRecorded(t *testing.T) {
	s := newUntrustedClients(t)
	tokens, err := s.refreshableOf("tool")
	s.must(err)
	form := func(change ...string) url.Values {
		q := url.Values{"client_id": {"tool"}, "grant_type": {"refresh_token"}, "refresh_token": {tokens.RefreshToken}}
		for i := 0; i < len(change); i += 2 {
			q.Set(change[i], change[i+1])
		}
		return q
	}
	code := s.code(browser{}, ask("client_id", "tool", "redirect_uri", clientBack, "scope", "openid"))
	hint := tokens.IDToken
	authorize := func(change ...string) (*http.Request, func(http.ResponseWriter, *http.Request) error) {
		return authorization(ask(append([]string{"client_id", "tool", "redirect_uri", clientBack}, change...)...)), s.provider.Authorize
	}
	token := func(change ...string) (*http.Request, func(http.ResponseWriter, *http.Request) error) {
		return request(form(change...).Encode()), s.provider.Token
	}
	logout := func(q url.Values) (*http.Request, func(http.ResponseWriter, *http.Request) error) {
		return httptest.NewRequest("GET", "/oauth2/logout?"+q.Encode(), nil), s.provider.Logout
	}
	register := func(members map[string]any) (*http.Request, func(http.ResponseWriter, *http.Request) error) {
		text, err := json.Marshal(members)
		s.must(err)
		r := httptest.NewRequest("POST", oauth.RegisterPath, strings.NewReader(string(text)))
		r.Header.Set("Content-Type", "application/json")
		return r, func(w http.ResponseWriter, r *http.Request) error { return s.provider.Register(w, r, nil) }
	}
	redirects := []string{clientBack}
	type refusal struct {
		action, parameter, refused string
		request                    *http.Request
		handle                     func(http.ResponseWriter, *http.Request) error
	}
	var tests []refusal
	add := func(action, parameter, refused string) func(*http.Request, func(http.ResponseWriter, *http.Request) error) {
		return func(r *http.Request, h func(http.ResponseWriter, *http.Request) error) {
			tests = append(tests, refusal{action, parameter, refused, r, h})
		}
	}
	const atAuthorize, atToken, atRegister = "authorization.refused", "token.refused", "registration.refused"
	long := "https://app.example.com/" + strings.Repeat("a", 1000)
	for sent, want := range map[string]string{
		"https://app.example.com/other": "https://app.example.com/other", "https://app.example.com/x?code=secret#key": "https://app.example.com/x?...",
		"https://app.example.com/x#key=secret": "https://app.example.com/x?...", "https://ann:secret@app.example.com/": "an address that cannot be shown",
		"cursor://x?secret": "cursor://x?...", long: long[:300], "https://app.example.com/\x1b[31m\n\u202e": `https://app.example.com/\x1b[31m\n\u202e`,
		"eyJhbGciOiJub25lIn0.eyJzZWNyZXQiOjF9.": "a token that cannot be shown", "https://app.example.com/\xff": `https://app.example.com/\xff`,
	} {
		add(atAuthorize, "redirect_uri", want)(authorize("redirect_uri", sent))
		add(atAuthorize, "post_logout_redirect_uri", want)(logout(url.Values{"client_id": {"tool"}, "post_logout_redirect_uri": {sent}}))
		if strings.HasSuffix(sent, "\xff") {
			continue
		}
		add(atAuthorize, "resource", want)(authorize("resource", sent))
		if !strings.HasSuffix(sent, "/other") {
			add(atRegister, "redirect_uris", want)(register(map[string]any{"redirect_uris": []string{sent}}))
		}
	}
	add(atAuthorize, "client_id", "nobody")(authorize("client_id", "nobody"))
	add(atAuthorize, "client_id", "https://client.example.com/absent")(authorize("client_id", "https://client.example.com/absent"))
	add(atAuthorize, "client_id", "https://CLIENT.example.com/x")(authorize("client_id", "https://CLIENT.example.com/x"))
	add(atAuthorize, "response_type", `token\x1b`)(authorize("response_type", "token\x1b"))
	add(atAuthorize, "response_mode", "fragment")(authorize("response_mode", "fragment"))
	add(atAuthorize, "scope", `a\"b`)(authorize("scope", `openid a"b`))
	add(atAuthorize, "code_challenge_method", "plain")(authorize("code_challenge_method", "plain"))
	add(atAuthorize, "code_challenge", "")(authorize("code_challenge", "secret-verifier"))
	add(atAuthorize, "prompt", "maybe")(authorize("prompt", "maybe"))
	add(atAuthorize, "max_age", "1h")(authorize("max_age", "1h"))
	add(atAuthorize, "request", "")(authorize("request", "eyJ.secret.x"))
	add(atAuthorize, "request_uri", "https://rp.example.com/r?...")(authorize("request_uri", "https://rp.example.com/r?secret"))
	add(atAuthorize, "id_token_hint", "iss "+base+" aud tool")(authorize("client_id", "other", "id_token_hint", hint))
	add(atAuthorize, "id_token_hint", "not a JWT")(authorize("id_token_hint", "secret"))
	add(atAuthorize, "id_token_hint", "iss "+base+" aud tool")(logout(url.Values{"client_id": {"other"}, "id_token_hint": {hint}}))
	add(atAuthorize, "client_id", "nobody")(logout(url.Values{"client_id": {"nobody"}, "post_logout_redirect_uri": {"https://app.example.com/"}}))
	add(atToken, "grant_type", "password")(token("grant_type", "password", "username", "ann", "password", "secret"))
	add(atToken, "grant_type", "client_credentials")(token("grant_type", "client_credentials"))
	add(atToken, "scope", "other")(token("scope", "openid other"))
	add(atToken, "resource", "https://elsewhere.example/?...")(token("resource", "https://elsewhere.example/?secret"))
	add(atToken, "redirect_uri", "https://app.example.com/?...")(token("grant_type", "authorization_code", "code", code, "code_verifier", verifier, "redirect_uri", "https://app.example.com/?secret"))
	add(atToken, "code_verifier", "")(token("grant_type", "authorization_code", "code", code, "code_verifier", strings.Repeat("secret", 10), "redirect_uri", clientBack))
	add("client.refused", "client_id", "https://CLIENT.example.com/absent")(token("client_id", "https://CLIENT.example.com/absent"))
	add("client.refused", "client_id", "nobody")(token("client_id", "nobody"))
	add("client.refused", "client_id", "a value that may be a secret")(token("client_id", code))
	add("client.refused", "client_assertion_type", "urn:example")(token("client_assertion", "secret", "client_assertion_type", "urn:example"))
	add(atRegister, "grant_types", "password")(register(map[string]any{"redirect_uris": redirects, "grant_types": []string{"password"}}))
	add(atRegister, "response_types", "token")(register(map[string]any{"redirect_uris": redirects, "response_types": []string{"token"}}))
	add(atRegister, "token_endpoint_auth_method", "tls_client_auth")(register(map[string]any{"redirect_uris": redirects, "token_endpoint_auth_method": "tls_client_auth"}))
	add(atRegister, "software_statement", "")(register(map[string]any{"redirect_uris": redirects, "software_statement": "eyJ.secret.x"}))
	add(atRegister, "jwks_uri", "http://client.example.com/?...")(register(map[string]any{"redirect_uris": redirects, "jwks_uri": "http://client.example.com/?secret"}))
	add(atRegister, "logo_uri", `javascript:alert(\"secret\")`)(register(map[string]any{"redirect_uris": redirects, "logo_uri": `javascript:alert("secret")`}))
	add(atRegister, "client_name", "")(register(map[string]any{"redirect_uris": redirects, "client_name": strings.Repeat("a", 201)}))
	for _, test := range tests {
		entry, e := s.refusedBy(test.request, test.handle)
		if e.Action != test.action || e.Detail["parameter"] != test.parameter || e.Detail["refused"] != test.refused || entry.Refused != test.parameter+"="+test.refused {
			t.Errorf("%s: the event is %+v, and in the log is %q; expected %+v", test.request.URL, e, entry.Refused, test)
		}
		for name, text := range e.Detail {
			if name == "method" { // client_secret
				continue
			}
			if strings.Contains(text, "secret") && !strings.Contains(test.refused, "secret") || strings.ContainsAny(text, "\x1b\n") || strings.Contains(text, "\xff") || len(text) > 600 {
				t.Errorf("%s: %s is %q", test.request.URL, name, text)
			}
		}
	}
}

// The audience of a client assertion is recorded, and the assertion is not.
func TestRefusedAudienceIsRecorded(t *testing.T) {
	w := newFixture(t)
	signer := newTestSigner(w, "signer")
	for _, test := range []struct {
		assertion, parameter, refused string
	}{
		{signer.with(map[string]any{"aud": []string{base, "https://other.example/?secret"}}), "client_assertion aud", base + " https://other.example/?..."},
		{signer.with(map[string]any{"iss": "other"}), "client_assertion iss", "other"},
		{signer.headed(map[string]any{"kid": "x\x1b"}), "client_assertion kid", `x\x1b`},
	} {
		entry, e := w.refusedBy(present(test.assertion), w.provider.Token)
		if e.Action != "client.refused" || e.Detail["parameter"] != test.parameter || e.Detail["refused"] != test.refused || entry.Refused != test.parameter+"="+test.refused {
			t.Errorf("the event is %+v, and in the log is %q; expected %+v", e, entry.Refused, test)
		}
	}
}

// refreshableOf registers a client, and returns tokens for it. It registers another one, too.
func (s *untrustedClients) refreshableOf(id string) (*reply, error) {
	for _, each := range []string{id, "other"} {
		s.create(s.directory.Applications, `{"name":"App `+each+`","inboundAuthConfig":[{"type":"oauth2","config":{"clientId":"`+each+`","publicClient":true,
			"redirectUris":["`+clientBack+`"],"grantTypes":["authorization_code","refresh_token"]}}]}`)
	}
	return s.signIn(id, clientBack, "openid"), nil
}
