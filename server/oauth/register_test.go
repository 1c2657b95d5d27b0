package oauth_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server/oauth"
)

const clientBack = "https://client.example.com/back"

// What untrusted clients request, and what they get.
func TestRegistration(t *testing.T) {
	s := newUntrustedClients(t)
	system := directory.SystemCall()
	s.publish("https://client.example.com/sector", `["https://client.example.com/back", "https://client.example.com/other"]`)
	tests := []struct {
		name, body string
		by         *directory.Call
		want       map[string]any
	}{
		{"what must be", `{"redirect_uris":["https://client.example.com/back"]}`, nil, map[string]any{
			"client_name": "client.example.com", "token_endpoint_auth_method": "client_secret_basic", "grant_types": "[authorization_code]",
			"response_types": "[code]", "redirect_uris": "[https://client.example.com/back]", "scope": "openid profile email address phone offline_access groups roles organization system"}},
		{"a tool on a device", `{"client_name":"Tool","redirect_uris":["http://127.0.0.1:3334/oauth/callback","com.example.tool:/back"],"application_type":"native",
			"token_endpoint_auth_method":"none","grant_types":["authorization_code","refresh_token"],"response_types":["code"],"scope":"system","software_id":"x","unheard_of":{"a":1}}`, nil, map[string]any{
			"client_name": "Tool", "token_endpoint_auth_method": "none", "grant_types": "[authorization_code refresh_token]", "scope": "system", "client_secret": nil, "unheard_of": nil}},
		{"of unknown scopes those that there are", `{"redirect_uris":["https://client.example.com/back"],"scope":"openid tools:read system:users:read account"}`, nil,
			map[string]any{"scope": "openid system:users:read"}},
		{"of unknown grants those that there are", `{"redirect_uris":["https://client.example.com/back"],"grant_types":["implicit","authorization_code","client_credentials"],"response_types":["code","token"]}`, nil,
			map[string]any{"grant_types": "[authorization_code]", "response_types": "[code]"}},
		{"registration-logo-uri, -policy-uri, -tos-uri", `{"redirect_uris":["https://client.example.com/back"],"logo_uri":"https://client.example.com/logo.png",
			"policy_uri":"https://client.example.com/policy","tos_uri":"https://client.example.com/tos","client_uri":"https://client.example.com","contacts":["ops@client.example.com"]}`, nil,
			map[string]any{"logo_uri": "https://client.example.com/logo.png", "policy_uri": "https://client.example.com/policy", "tos_uri": "https://client.example.com/tos", "contacts": "[ops@client.example.com]"}},
		{"registration-jwks-uri", `{"redirect_uris":["https://client.example.com/back"],"token_endpoint_auth_method":"private_key_jwt","jwks_uri":"https://client.example.com/jwks"}`, nil,
			map[string]any{"jwks_uri": "https://client.example.com/jwks", "client_secret": nil}},
		{"keys that are used for nothing", `{"redirect_uris":["https://client.example.com/back"],"jwks_uri":"https://client.example.com/jwks"}`, nil, map[string]any{"jwks_uri": nil}},
		{"registration-sector-uri", `{"redirect_uris":["https://client.example.com/back"],"subject_type":"public","sector_identifier_uri":"https://client.example.com/sector"}`, nil,
			map[string]any{"sector_identifier_uri": "https://client.example.com/sector"}},
		{"who wants to know of sign-outs", `{"redirect_uris":["https://client.example.com/back"],"backchannel_logout_uri":"https://client.example.com/out","backchannel_logout_session_required":true}`, nil,
			map[string]any{"backchannel_logout_uri": "https://client.example.com/out", "backchannel_logout_session_required": true}},
		{"a name of another script", `{"redirect_uris":["https://client.example.com/back"],"client_name":"\u0e17\u0e35\u0e48 Gra\u0308te 1\ufe0f\u20e3 \ud83d\udd27"}`, nil, map[string]any{"client_name": "\u0e17\u0e35\u0e48 Gra\u0308te 1\ufe0f\u20e3 \U0001f527"}},
		{"null is nothing", `{"redirect_uris":["https://client.example.com/back"],"client_name":null,"jwks":null,"grant_types":null}`, nil, map[string]any{"grant_types": "[authorization_code]"}},
		{"an ID token signed otherwise", `{"redirect_uris":["https://client.example.com/back"],"id_token_signed_response_alg":"ES256"}`, nil, map[string]any{"id_token_signed_response_alg": "ES256"}},
		{"a secret of its own choice", `{"redirect_uris":["https://client.example.com/back"],"client_id":"CONSOLE","client_secret":"chosen-by-somebody-who-is-not-the-server"}`, nil, map[string]any{}},
		{"a machine, by an administrator", `{"client_name":"Machine","grant_types":["client_credentials"],"scope":"system"}`, &system,
			map[string]any{"grant_types": "[client_credentials]", "scope": "system", "response_types": "[]"}},
		{"a machine that names no scope", `{"client_name":"Idle machine","grant_types":["client_credentials"]}`, &system, map[string]any{"scope": nil}},
		{"an account, by an administrator", `{"redirect_uris":["https://client.example.com/back"],"scope":"openid account"}`, &system, map[string]any{"scope": "openid account"}},
	}
	for _, test := range tests {
		reported, err := s.register(test.body, test.by)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		for member, want := range test.want {
			got := reported[member]
			if _, list := got.([]any); list {
				got = fmt.Sprint(got)
			}
			if got != want {
				t.Errorf("%s: %s is %v, expected %v", test.name, member, got, want)
			}
		}
		if reported["client_id"] == "CONSOLE" || reported["client_secret"] == "chosen-by-somebody-who-is-not-the-server" || reported["client_secret_expires_at"] != 0.0 ||
			reported["client_id_issued_at"] == nil || reported["app_id"] == "" {
			t.Errorf("%s: got %v", test.name, reported)
		}
		app, err := s.directory.Client(t.Context(), reported["client_id"].(string))
		s.must(err)
		expiry, err := s.directory.ClientExpiry(t.Context(), app.ClientID)
		s.must(err)
		if app.ID != reported["app_id"] || app.Registration != schemas.RegisteredDynamically || (expiry == nil) != (test.by != nil) {
			t.Errorf("%s: the application is %+v with the lease %+v", test.name, app, expiry)
		}
		if o := app.OAuth(); *o.PKCERequired != *o.PublicClient || *o.PublicClient != (o.TokenEndpointAuthMethod == schemas.AuthMethodNone) {
			t.Errorf("%s: the client is %+v", test.name, o)
		}
	}
}

func TestRegistrationsRefused(t *testing.T) {
	s := newUntrustedClients(t)
	s.publish("https://client.example.com/sector", `["https://client.example.com/other"]`)
	s.publish("https://client.example.com/no-list", `{"a":1}`)
	with := func(more string) string { return `{"redirect_uris":["https://client.example.com/back"],` + more + `}` }
	redirect := func(uri string) string {
		return fmt.Sprintf(`{"redirect_uris":[%q],"token_endpoint_auth_method":"none"}`, uri)
	}
	writer := &directory.Call{Actor: schemas.Actor{Type: schemas.UserActor, ID: s.user.ID}, Permissions: []string{"system:applications:write"}}
	const badRedirect, bad = "invalid_redirect_uri", "invalid_client_metadata"
	tests := []struct {
		body, code string
		by         *directory.Call
	}{
		{``, bad, nil}, {`[]`, bad, nil}, {`null`, bad, nil}, {`"x"`, bad, nil}, {`{"a":1,"a":2}`, bad, nil}, {`{} {}`, bad, nil},
		{`{}`, badRedirect, nil}, {`{"redirect_uris":[]}`, badRedirect, nil}, {`{"redirect_uris":[null]}`, badRedirect, nil}, {with(`"contacts":[null]`), bad, nil}, {with(`"jwks":{"keys":[null]}`), bad, nil},
		{`{"redirect_uris":"https://client.example.com/back"}`, badRedirect, nil},
		{`{"Redirect_URIs":["https://client.example.com/back"]}`, badRedirect, nil}, // names are compared exactly
		{redirect("https://client.example.com/back#frag"), badRedirect, nil},        // redirect-uri-regfrag
		{redirect("http://client.example.com/back"), badRedirect, nil}, {redirect("https://*.example.com/back"), badRedirect, nil},
		{redirect("javascript:alert(1)"), badRedirect, nil}, {redirect("data:text/html,x"), badRedirect, nil}, {redirect("tool:/back"), badRedirect, nil},
		{redirect("https://user@client.example.com/back"), badRedirect, nil}, {redirect("/back"), badRedirect, nil},
		{redirect("https://client.example.com/" + strings.Repeat("a", 500)), badRedirect, nil},
		{`{"redirect_uris":[` + strings.Repeat(`"https://client.example.com/a",`, 10) + `"https://client.example.com/b"]}`, badRedirect, nil},
		{`{"redirect_uris":["com.example.tool:/back"]}`, badRedirect, nil}, // for a client with a secret
		{with(`"grant_types":["client_credentials"],"scope":"system"`), bad, nil}, {with(`"grant_types":["password"]`), bad, nil}, {with(`"grant_types":[]`), bad, nil},
		{with(`"grant_types":["refresh_token"]`), bad, nil},
		{with(`"response_types":["token"]`), bad, nil}, {with(`"response_types":["id_token"]`), bad, nil},
		{with(`"token_endpoint_auth_method":"client_secret_jwt"`), bad, nil}, {with(`"token_endpoint_auth_method":"tls_client_auth"`), bad, nil},
		{with(`"token_endpoint_auth_method":"private_key_jwt"`), bad, nil},
		{with(`"token_endpoint_auth_method":"private_key_jwt","jwks":{"keys":[{"kty":"oct","k":"c2VjcmV0"}]}`), bad, nil},
		{with(`"jwks":{"keys":[]},"jwks_uri":"https://client.example.com/jwks"`), bad, nil}, {with(`"jwks_uri":"http://client.example.com/jwks"`), bad, nil},
		{with(`"application_type":"desktop"`), bad, nil}, {with(`"subject_type":"pairwise"`), bad, nil}, {with(`"id_token_signed_response_alg":"none"`), bad, nil},
		{with(`"id_token_signed_response_alg":"HS256"`), bad, nil}, {with(`"userinfo_signed_response_alg":"RS256"`), bad, nil},
		{with(`"id_token_encrypted_response_alg":"RSA-OAEP"`), bad, nil}, {with(`"backchannel_logout_uri":"http://client.example.com/out"`), bad, nil}, {with(`"userinfo_encrypted_response_alg":"RSA-OAEP"`), bad, nil}, {with(`"client_name":5`), bad, nil}, {with(`"contacts":"me"`), bad, nil},
		{with(`"client_name":"` + strings.Repeat("a", 201) + `"`), bad, nil}, {with(`"client_name":"Bank\u202egnp"`), bad, nil}, {with(`"client_name":"a\nb"`), bad, nil}, {with(`"client_name":"a\u0000"`), bad, nil},
		// Invisible names, and names that cover their neighbors.
		{with(`"client_name":"\u3164"`), bad, nil}, {with(`"client_name":"\u2800"`), bad, nil}, {with(`"client_name":"Bank\u034f"`), bad, nil},
		{with(`"client_name":"\ue000"`), bad, nil}, {with(`"client_name":"B\u00adank"`), bad, nil}, {with(`"client_name":"B` + strings.Repeat(`\u0489`, 5) + `"`), bad, nil},
		{with(`"logo_uri":"http://client.example.com/logo"`), bad, nil}, {with(`"logo_uri":"javascript:alert(1)"`), bad, nil}, {with(`"policy_uri":"data:text/html,x"`), bad, nil}, {with(`"tos_uri":"//client.example.com"`), bad, nil},
		{with(`"sector_identifier_uri":"https://client.example.com/sector"`), bad, nil}, // registration-sector-bad
		{with(`"sector_identifier_uri":"https://client.example.com/no-list"`), bad, nil}, {with(`"sector_identifier_uri":"https://client.example.com/nothing"`), bad, nil},
		{with(`"sector_identifier_uri":"http://client.example.com/sector"`), bad, nil},
		{with(`"software_statement":"a.b.c"`), "unapproved_software_statement", nil}, {with(`"software_statement":"abc"`), "invalid_software_statement", nil},
		{with(`"scope":"` + strings.TrimSpace(strings.Repeat("a ", 101)) + `"`), bad, nil},
		// Who may make applications gives away no more than they have.
		{`{"grant_types":["client_credentials"],"scope":"system"}`, "insufficient_scope", writer}, {with(`"scope":"system"`), "insufficient_scope", writer},
	}
	for _, test := range tests {
		reported, err := s.register(test.body, test.by)
		if refused, ok := errors.AsType[*oauth.Error](err); !ok || refused.Code != test.code || refused.Description == "" {
			t.Errorf("%s: got %v and %v, expected %s", test.body, reported, err, test.code)
		} else if strings.Contains(refused.Description, "inboundAuthConfig") {
			t.Errorf("%s: the error has no name of the metadata: %s", test.body, refused.Description)
		}
	}
	apps, err := s.directory.Applications.List(t.Context(), directory.SystemCall(), directory.Query{Limit: 100, Filter: "registration", Value: schemas.RegisteredDynamically})
	s.must(err)
	if apps.Total != 0 {
		t.Errorf("%d were registered anyway", apps.Total)
	}
	for _, headers := range [][]string{{"Content-Type: text/plain"}, {"Content-Type: application/x-www-form-urlencoded"}, {}, {"Content-Type: application/json", "Content-Encoding: gzip"}} {
		r := request(with(`"client_name":"x"`), append([]string{"Content-Type: "}, headers...)...)
		wantRefused(t, s.provider.Register(httptest.NewRecorder(), r, nil), "invalid_request")
	}
	r := request(with(`"client_name":"`+strings.Repeat("a", 20000)+`"`), "Content-Type: ", "Content-Type: application/json")
	reported, ok := errors.AsType[*oauth.Error](s.provider.Register(httptest.NewRecorder(), r, nil))
	if !ok || reported.Status != http.StatusRequestEntityTooLarge {
		t.Errorf("of a large body: %v", reported)
	}
}

// An untrusted client signs users in, and gets at most their permissions; on its own behalf it has
// none.
func TestUntrustedClientSignsIn(t *testing.T) {
	s := newUntrustedClients(t)
	reported, err := s.register(`{"client_name":"Tool","redirect_uris":["http://127.0.0.1:3334/cb"],"token_endpoint_auth_method":"none","grant_types":["authorization_code","refresh_token"]}`, nil)
	s.must(err)
	id := reported["client_id"].(string)
	got := s.signIn(id, "http://127.0.0.1:50000/cb", "openid system")
	if !slices.Contains(strings.Fields(got.Scope), "system") || got.RefreshToken == "" || got.IDToken == "" {
		t.Errorf("got %+v", got)
	}
	expiry, err := s.directory.ClientExpiry(t.Context(), id)
	s.must(err)
	if expiry.ExpiresAt.Before(s.now.Add(80 * 24 * time.Hour)) {
		t.Errorf("it is in use, and kept until %v", expiry.ExpiresAt)
	}
	_, err = s.token(map[string][]string{"grant_type": {"client_credentials"}, "client_id": {id}, "scope": {"system"}})
	if err == nil {
		t.Error("the client has a token of its own")
	}

	// Without PKCE nothing begins, unless there are a secret and a nonce.
	reported, err = s.register(`{"redirect_uris":["`+clientBack+`"]}`, nil)
	s.must(err)
	for name, test := range map[string]struct{ client, back, nonce, scope, want string }{
		"a secret and a nonce":           {reported["client_id"].(string), clientBack, "n", "openid", ""},
		"no nonce":                       {reported["client_id"].(string), clientBack, "", "openid", "invalid_request"},
		"a nonce that is never returned": {reported["client_id"].(string), clientBack, "n", "profile", "invalid_request"},
		"no secret":                      {id, "http://127.0.0.1:50000/cb", "n", "openid", "invalid_request"},
	} {
		to := s.authorize(browser{}, ask("client_id", test.client, "redirect_uri", test.back, "nonce", test.nonce, "scope", test.scope, "code_challenge", "", "code_challenge_method", ""))
		if got := to.Query().Get("error"); got != test.want {
			t.Errorf("without a code_challenge, %s: %v", name, to)
		}
	}
	got = s.signIn(reported["client_id"].(string), clientBack, "openid", basic(reported["client_id"].(string), reported["client_secret"].(string)))
	if got.AccessToken == "" || got.RefreshToken != "" {
		t.Errorf("got %+v", got)
	}
	// Only administrators can register the scope account.
	code := s.signIn(reported["client_id"].(string), clientBack, "openid account", basic(reported["client_id"].(string), reported["client_secret"].(string)))
	if strings.Contains(code.Scope, "account") {
		t.Errorf("a self-registered client got %q", code.Scope)
	}
}

// The audit log records registrations without an actor.
func TestRegistrationIsRecorded(t *testing.T) {
	s := newUntrustedClients(t)
	reported, err := s.register(`{"redirect_uris":["`+clientBack+`"]}`, nil)
	s.must(err)
	events, err := s.store.Events(t.Context(), schemas.EventQuery{Limit: 5, Action: "application.registered"})
	s.must(err)
	if len(events) != 1 || events[0].Resource.ID != reported["app_id"] || events[0].Actor != (schemas.Actor{}) || events[0].Detail["registration"] != schemas.RegisteredDynamically {
		t.Errorf("got %+v", events)
	}
}

// Of thousands of unused clients the oldest are removed.
func TestUntrustedClientsAreEvicted(t *testing.T) {
	if testing.Short() {
		t.Skip("registers two thousand clients")
	}
	s := newUntrustedClients(t)
	first, err := s.register(`{"redirect_uris":["`+clientBack+`"]}`, nil)
	s.must(err)
	used, err := s.register(`{"redirect_uris":["http://127.0.0.1/cb"],"token_endpoint_auth_method":"none"}`, nil)
	s.must(err)
	s.signIn(used["client_id"].(string), "http://127.0.0.1/cb", "openid")
	for range 2000 {
		s.now = s.now.Add(time.Second)
		_, err := s.register(`{"redirect_uris":["`+clientBack+`"]}`, nil)
		s.must(err)
	}
	if _, err := s.directory.Client(t.Context(), first["client_id"].(string)); !schemas.HasClass(err, schemas.NotFound) {
		t.Errorf("the first is still there: %v", err)
	}
	if _, err := s.directory.Client(t.Context(), used["client_id"].(string)); err != nil {
		t.Errorf("the one that is used is gone: %v", err)
	}
}

func TestMetadataOfRegistration(t *testing.T) {
	s := newUntrustedClients(t)
	rec := httptest.NewRecorder()
	s.must(s.provider.Server(rec, httptest.NewRequest("GET", oauth.OpenIDPath, nil)))
	for _, want := range []string{`"registration_endpoint":"` + base + oauth.RegisterPath + `"`, `"client_id_metadata_document_supported":true`} {
		if !strings.Contains(rec.Body.String(), want) {
			t.Errorf("the metadata lacks %s", want)
		}
	}
	rec = httptest.NewRecorder()
	s.must(oauth.New(oauth.Options{Documents: oauth.DocumentPolicy{Disabled: true}}).Server(rec, httptest.NewRequest("GET", oauth.OpenIDPath, nil)))
	if text := rec.Body.String(); !strings.Contains(text, `"client_id_metadata_document_supported":false`) {
		t.Errorf("without documents of clients the metadata says %s", text)
	}
}
