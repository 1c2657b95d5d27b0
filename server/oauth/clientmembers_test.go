package oauth_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server/oauth"
)

// policy is the server with another policy for metadata that it does not support.
func (s *untrustedClients) policy(ignore bool) {
	o := s.provider.Options
	o.IgnoreUnsupported = ignore
	s.provider = oauth.New(o)
}

// No member that asks for protection is dropped in silence: not of a registration, and not of a document.
func TestUnsupportedProtection(t *testing.T) {
	for i, test := range []struct{ member, value string }{
		{"dpop_bound_access_tokens", `true`}, {"dpop_bound_access_tokens", `"true"`}, {"tls_client_certificate_bound_access_tokens", `true`},
		{"require_pushed_authorization_requests", `true`}, {"require_signed_request_object", `true`}, {"request_object_signing_alg", `"RS256"`},
		{"request_object_encryption_alg", `"RSA-OAEP"`}, {"id_token_encrypted_response_alg", `"RSA-OAEP"`}, {"id_token_encrypted_response_enc", `"A256GCM"`},
		{"userinfo_signed_response_alg", `"RS256"`}, {"userinfo_encrypted_response_alg", `"RSA-OAEP"`}, {"introspection_signed_response_alg", `"RS256"`},
		{"introspection_encrypted_response_alg", `"RSA-OAEP"`}, {"authorization_signed_response_alg", `"RS256"`}, {"authorization_encrypted_response_alg", `"RSA-OAEP"`},
		{"tls_client_auth_subject_dn", `"CN=client"`}, {"signed_jwks_uri", `"https://client.example.com/signed"`},
		{"frontchannel_logout_uri", `"https://client.example.com/out"`}, {"frontchannel_logout_session_required", `true`}, {"subject_type", `"pairwise"`},
	} {
		t.Run(test.member+" "+test.value, func(t *testing.T) {
			s := newUntrustedClients(t)
			more := fmt.Sprintf(`,%q:%s`, test.member, test.value)
			body := `{"redirect_uris":["https://client.example.com/back"]` + more + `}`
			if reported, err := s.register(body, nil); err == nil || !strings.Contains(err.Error(), test.member) {
				t.Errorf("the reply is %v, %v", reported, err)
			}
			wantLast(t, s, "registration.refused", "parameter", test.member)
			id := fmt.Sprintf("https://client%d.example.com/metadata", i)
			s.publish(id, document(id, more))
			s.wantNoClient(id)

			s.policy(true)
			reported, err := s.register(body, nil)
			s.must(err)
			if reported[test.member] != nil {
				t.Errorf("the reply has %v", reported)
			}
			s.wantIgnored(reported["client_id"].(string), test.member)
			id = fmt.Sprintf("https://other%d.example.com/metadata", i)
			s.publish(id, document(id, more))
			s.signIn(id, clientBack, "openid")
			s.wantIgnored(id, test.member)
		})
	}
}

// wantLast checks a detail of the newest event.
func wantLast(t *testing.T, s *untrustedClients, action, name, value string) {
	t.Helper()
	if e := s.events[len(s.events)-1]; e.Action != action || e.Detail[name] != value {
		t.Errorf("the event is %+v", e)
	}
}

// creation returns the event of a client's first registration.
func (s *untrustedClients) creation(clientID string) *schemas.Event {
	s.t.Helper()
	app, err := s.directory.Client(s.t.Context(), clientID)
	s.must(err)
	events, err := s.store.Events(s.t.Context(), schemas.EventQuery{Limit: 100, Action: "application.registered", ResourceID: app.ID})
	s.must(err)
	if len(events) != 1 {
		s.t.Fatalf("%d events of %s", len(events), clientID)
	}
	return &events[0]
}

func (s *untrustedClients) wantIgnored(clientID, member string) {
	s.t.Helper()
	if e := s.creation(clientID); !slices.Contains(strings.Fields(e.Detail["ignoredMembers"]), member) {
		s.t.Errorf("the event is %+v", e)
	}
}

// What asks for nothing, and what protects nothing, is no reason to refuse a client; the audit log names it.
func TestMetadataWithoutEffect(t *testing.T) {
	s := newUntrustedClients(t)
	reported, err := s.register(`{"redirect_uris":["https://client.example.com/back"],"dpop_bound_access_tokens":false,"request_object_signing_alg":"none","frontchannel_logout_uri":"",
		"require_signed_request_object":null,"request_uris":["https://client.example.com/r"],"backchannel_token_delivery_mode":"poll","unheard_of":{"a":1},"client_name#ja":"x",
		"software_id":"tool","software_version":"1.2","registration_access_token":"x","client_id_issued_at":1,"token_endpoint_auth_signing_alg":"ES256","jwks_uri":"https://client.example.com/jwks"}`, nil)
	s.must(err)
	for member, want := range map[string]any{"software_id": "tool", "software_version": "1.2", "dpop_bound_access_tokens": nil, "request_uris": nil, "backchannel_token_delivery_mode": nil,
		"unheard_of": nil, "registration_access_token": nil, "jwks_uri": nil, "token_endpoint_auth_signing_alg": nil} {
		if reported[member] != want {
			t.Errorf("%s is %v", member, reported[member])
		}
	}
	got := strings.Fields(s.creation(reported["client_id"].(string)).Detail["ignoredMembers"])
	slices.Sort(got)
	if want := strings.Fields("backchannel_token_delivery_mode client_name#ja jwks_uri request_uris token_endpoint_auth_signing_alg unheard_of"); !slices.Equal(got, want) {
		t.Errorf("ignored %v, want %v", got, want)
	}
}

// A known client with a document goes on, whatever its new version asks for.
func TestKnownDocumentAsksForProtection(t *testing.T) {
	s := newUntrustedClients(t)
	s.publish(documentID, document(documentID, ""))
	got := s.signIn(documentID, clientBack, "openid")
	s.now = s.now.Add(2 * time.Hour)
	s.publish(documentID, document(documentID, `,"dpop_bound_access_tokens":true`))
	_, err := s.refresh(got.RefreshToken, "client_id", documentID)
	s.must(err)
	app, err := s.directory.Client(t.Context(), documentID)
	s.must(err)
	events, err := s.store.Events(t.Context(), schemas.EventQuery{Limit: 100, Action: "registration.reduced", ResourceID: app.ID})
	s.must(err)
	if len(events) != 1 || events[0].Detail["ignoredMembers"] != "dpop_bound_access_tokens" {
		t.Errorf("the events are %+v", events)
	}
}

// One redirect URI that the client cannot use is left out; without any other the client is refused.
func TestUnusableRedirectURIs(t *testing.T) {
	long := "https://client.example.com/" + strings.Repeat("a", 500)
	for i, test := range []struct{ member, sent, kept, refused string }{
		{"redirect_uris", `["cursor://anysphere/cb?token=secret","https://client.example.com/back"]`, "[https://client.example.com/back]", "cursor://anysphere/cb?...: expected https"},
		{"redirect_uris", `["http://127.0.0.1:3334/cb","http://client.example.com/cb","https://*.example.com/cb"]`, "[http://127.0.0.1:3334/cb]", "plain http"},
		{"redirect_uris", `["https://client.example.com/back","javascript:alert(1)"]`, "[https://client.example.com/back]", "javascript:alert(1): "},
		{"redirect_uris", `["https://client.example.com/back","` + long + `","https://client.example.com/back"]`, "[https://client.example.com/back]", "expected at most 500"},
		{"redirect_uris", `["","https://client.example.com/back\u001b[1m","https://client.example.com/back"]`, "[https://client.example.com/back]", `back\x1b[1m: expected`},
		{"redirect_uris", `["cursor://anysphere/cb","https://client.example.com/x#y"]`, "", "cursor://anysphere/cb"},
		{"post_logout_redirect_uris", `["http://client.example.com/bye","https://client.example.com/bye"]`, "[https://client.example.com/bye]", "plain http"},
		{"post_logout_redirect_uris", `["http://client.example.com/bye"]`, "", "http://client.example.com/bye"},
	} {
		t.Run(test.member+" "+test.sent[:20], func(t *testing.T) {
			s := newUntrustedClients(t)
			redirects := `"redirect_uris":["https://client.example.com/back"],`
			if test.member == "redirect_uris" {
				redirects = ""
			}
			body := fmt.Sprintf(`{%s%q:%s,"token_endpoint_auth_method":"none"}`, redirects, test.member, test.sent)
			reported, err := s.register(body, nil)
			id := fmt.Sprintf("https://client%d.example.com/metadata", i)
			s.publish(id, fmt.Sprintf(`{"client_id":%q,`, id)+body[1:])
			if test.kept == "" {
				wantRefused(t, err, "invalid_redirect_uri")
				if text := err.Error(); !strings.Contains(text, test.member+": "+test.refused+": expected") {
					t.Errorf("the error is %s", text)
				}
				wantLast(t, s, "registration.refused", "refused", test.refused)
				s.wantNoClient(id)
				return
			}
			s.must(err)
			if got := fmt.Sprint(reported[test.member]); got != test.kept {
				t.Errorf("the reply has %s", got)
			}
			s.signIn(id, strings.Trim(fmt.Sprint(reported["redirect_uris"]), "[]"), "openid")
			for _, client := range []string{reported["client_id"].(string), id} {
				app, err := s.directory.Client(t.Context(), client)
				s.must(err)
				stored := map[string][]string{"redirect_uris": app.OAuth().RedirectURIs, "post_logout_redirect_uris": app.OAuth().PostLogoutRedirectURIs}[test.member]
				if detail := s.creation(client).Detail["refusedRedirectUris"]; !strings.Contains(detail, test.refused) || strings.Contains(detail, "secret") || fmt.Sprint(stored) != test.kept {
					t.Errorf("%s has %v; recorded as refused is %s", client, stored, detail)
				}
			}
		})
	}
}

// What a client registers for its sign-ins applies to requests that do not ask for it themselves.
func TestRegisteredSignIns(t *testing.T) {
	s := newUntrustedClients(t)
	reported, err := s.register(`{"redirect_uris":["https://client.example.com/back"],"token_endpoint_auth_method":"none","default_max_age":300,"require_auth_time":true,
		"default_acr_values":["phr","urn:example:unknown","urn:postern:acr:mfa"],"initiate_login_uri":"https://client.example.com/start"}`, nil)
	s.must(err)
	if reported["default_max_age"] != 300.0 || reported["require_auth_time"] != true || fmt.Sprint(reported["default_acr_values"]) != "[phr urn:postern:acr:mfa]" ||
		reported["initiate_login_uri"] != "https://client.example.com/start" {
		t.Errorf("the reply is %v", reported)
	}
	id := reported["client_id"].(string)
	s.wantIgnored(id, "default_acr_values")
	for _, test := range []struct {
		change []string
		age    int
		acr    []string
	}{
		{nil, 300, []string{"phr", "urn:postern:acr:mfa"}},
		{[]string{"max_age", "60"}, 60, []string{"phr", "urn:postern:acr:mfa"}},
		{[]string{"acr_values", "urn:postern:acr:password"}, 300, []string{"urn:postern:acr:password"}},
	} {
		s.authorize(browser{}, ask(append(test.change, "client_id", id, "redirect_uri", clientBack)...))
		if l := s.begun.Login; l.MaxAge == nil || *l.MaxAge != test.age || !reflect.DeepEqual(l.ACRValues, test.acr) {
			t.Errorf("%v: the sign-in must be %+v", test.change, l)
		}
	}
	for _, wrong := range []string{`"default_max_age":-1`, `"default_max_age":"300"`, `"default_max_age":1.5`, `"require_auth_time":"yes"`, `"default_acr_values":"phr"`,
		`"initiate_login_uri":"http://client.example.com/start"`, `"initiate_login_uri":"javascript:alert(1)"`} {
		_, err := s.register(`{"redirect_uris":["https://client.example.com/back"],`+wrong+`}`, nil)
		wantRefused(t, err, "invalid_client_metadata")
	}
	reported, err = s.register(`{"redirect_uris":["https://client.example.com/back"],"default_max_age":99999999999,"default_acr_values":["urn:example:unknown"]}`, nil)
	s.must(err)
	if reported["default_max_age"] != 2147483647.0 || reported["default_acr_values"] != nil {
		t.Errorf("the reply is %v", reported)
	}
}

// A session that is older than the client's default_max_age is not enough.
func TestDefaultMaxAgeOfASession(t *testing.T) {
	a, b := newSignIns(t), browser{}
	a.code(b, ask())
	limit := 60
	a.clients.list["app"].OAuth().DefaultMaxAge = &limit
	a.status = schemas.Complete
	if to := a.authorize(b, ask("prompt", "none")); to.Query().Get("code") == "" {
		t.Errorf("a new session led to %s", to)
	}
	a.now = a.now.Add(2 * time.Minute)
	if to := a.authorize(b, ask("prompt", "none")); to.Query().Get("error") != "login_required" {
		t.Errorf("an old session led to %s", to)
	}
}

// A client is authenticated only by signatures of the algorithm that it registered.
func TestAlgorithmOfClientAssertions(t *testing.T) {
	w := newFixture(t)
	signer := newTestSigner(w, "signer")
	w.list[signer.id].OAuth().TokenEndpointAuthSigningAlg = "ES384"
	if e := w.refusal(present(signer.with(nil))); e.Code != "invalid_client" || !strings.Contains(e.Description, "ES384") {
		t.Errorf("got %v", e)
	}
	w.list[signer.id].OAuth().TokenEndpointAuthSigningAlg = "ES256"
	w.grant(present(signer.with(nil)))
	s := newUntrustedClients(t)
	_, err := s.register(`{"redirect_uris":["https://client.example.com/back"],"token_endpoint_auth_method":"private_key_jwt",
		"token_endpoint_auth_signing_alg":"HS256","jwks_uri":"https://client.example.com/jwks"}`, nil)
	wantRefused(t, err, "invalid_client_metadata")
}
