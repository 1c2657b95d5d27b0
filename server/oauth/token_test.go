package oauth_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server/oauth"
)

const both = base + " " + base + "/mcp"

// The granted scopes and audiences.
func TestClientCredentials(t *testing.T) {
	w := newFixture(t)
	m2m := basic("m2m", secret)
	for name, test := range map[string]struct {
		body     string
		header   string
		scope    string
		audience string
	}{
		"as the specification prints it":            {"grant_type=client_credentials&scope=system", m2m, "system", both},
		"all that is registered, and about no user": {"grant_type=client_credentials", m2m, "system shop:orders", both},
		"no scope at all":                           {"grant_type=client_credentials&scope=", m2m, "system shop:orders", both},
		"less than is registered":                   {"grant_type=client_credentials&scope=shop:orders", m2m, "shop:orders", base},
		"below what is registered":                  {"grant_type=client_credentials&scope=system:users:read+shop:orders:write", m2m, "system:users:read shop:orders:write", base},
		"a scope twice":                             {"grant_type=client_credentials&scope=system+system", m2m, "system", both},
		"by a role":                                 {"grant_type=client_credentials&scope=system:audit:read", basic("none", secret), "system:audit:read", base},
		"nothing registered":                        {"grant_type=client_credentials", basic("none", secret), "", base},
		"for the API":                               {"grant_type=client_credentials&scope=system&resource=" + url.QueryEscape(base), m2m, "system", base},
		"for the tools":                             {"grant_type=client_credentials&scope=system&resource=" + url.QueryEscape(base+"/mcp"), m2m, "system", base + "/mcp"},
		"for a resource server":                     {"grant_type=client_credentials&scope=shop:orders&resource=" + url.QueryEscape(shop), m2m, "shop:orders", shop},
		"for two, one of them twice":                {"grant_type=client_credentials&scope=system&resource=" + url.QueryEscape(shop) + "&resource=" + url.QueryEscape(base) + "&resource=" + url.QueryEscape(shop), m2m, "system", shop + " " + base},
		"secret in the body":                        {"grant_type=client_credentials&client_id=post&client_secret=" + secret, "", "shop:orders", base},
		"the same id in the body":                   {"grant_type=client_credentials&scope=system&client_id=m2m", m2m, "system", both},
		"an id that must be encoded":                {"grant_type=client_credentials", basic("a b:c%é", secret), "shop:orders", base},
		"another case of Basic":                     {"grant_type=client_credentials&scope=system", strings.Replace(m2m, "Basic", "bASIC", 1), "system", both},
		"unknown parameters":                        {"grant_type=client_credentials&scope=system&audience=x&audience=y&scope.0=root&scope.999999999=root", m2m, "system", both},
		"parameters without values":                 {"grant_type=client_credentials&scope=system&client_secret=&client_assertion=&resource=", m2m, "system", both},
	} {
		t.Run(name, func(t *testing.T) {
			headers := []string{test.header}
			if test.header == "" {
				headers = nil
			}
			w.t = t
			g, rec := w.grant(request(test.body, headers...))
			if g.TokenType != "Bearer" || g.ExpiresIn != 600 || g.Scope != test.scope {
				t.Errorf("granted %+v, want the scope %q for 600 seconds", g, test.scope)
			}
			if rec.Header().Get("Cache-Control") != "no-store" || rec.Header().Get("Pragma") != "no-cache" {
				t.Errorf("caches may keep it: %v", rec.Header())
			}
			claims := verify(t, w, g.AccessToken, strings.Fields(test.audience)[0])
			if got := strings.Join(claims.Audience, " "); got != test.audience {
				t.Errorf("it is for %s, want %s", got, test.audience)
			}
			if got := strings.Join(claims.Scope, " "); got != test.scope {
				t.Errorf("the token's scope is %q, and the reply says %q", got, test.scope)
			}
		})
	}
}

// verify checks a client's own token.
func verify(t *testing.T, w *fixture, raw, audience string) *token.Claims {
	t.Helper()
	claims, err := w.tokens.Verify(t.Context(), raw, audience)
	if err != nil {
		t.Fatal(err)
	}
	if claims.Type != token.AccessType || claims.Subject != claims.ClientID || w.list[claims.ClientID] == nil {
		t.Errorf("a token of a client says %+v", claims)
	}
	if claims.Session != "" || !claims.AuthTime.IsZero() || claims.ACR != "" || claims.UserType != "" {
		t.Errorf("a client's token has claims of a user: %+v", claims)
	}
	return claims
}

func TestValidityOfTheClient(t *testing.T) {
	w := newFixture(t)
	g, _ := w.grant(request("grant_type=client_credentials", basic("brief", secret)))
	claims := verify(t, w, g.AccessToken, base)
	if g.ExpiresIn != 90 || claims.Expires.Sub(claims.IssuedAt) != 90*time.Second {
		t.Errorf("granted for %d seconds: %+v", g.ExpiresIn, claims)
	}
}

// An unknown client and a wrong secret are indistinguishable, in the reply and in the work.
func TestUnknownClientsAreNotReported(t *testing.T) {
	w := newFixture(t)
	var reported []*oauth.Error
	for _, header := range []string{basic("m2m", "wrong"), basic("nobody", secret), basic("plain", secret), basic("jwt", "wrong"), basic("post", "wrong"), basic("spa", "wrong")} {
		before := w.checked.Load()
		reported = append(reported, w.refusal(request("grant_type=client_credentials", header)))
		if n := w.checked.Load() - before; n != 1 {
			t.Errorf("%d secrets were checked, want 1", n)
		}
	}
	for _, e := range reported[1:] {
		if !reflect.DeepEqual(e, reported[0]) {
			t.Errorf("the responses differ: %+v and %+v", e, reported[0])
		}
	}
}

// Internal failures are not reported as the client's fault.
func TestBrokenStore(t *testing.T) {
	w := newFixture(t)
	fire := errors.New("disk on fire")
	for _, body := range []string{"", "&scope=system", "&resource=" + url.QueryEscape(shop)} {
		w.broken = fire
		rec := httptest.NewRecorder()
		if err := w.provider.Token(rec, request("grant_type=client_credentials"+body, basic("m2m", secret))); !errors.Is(err, fire) || rec.Body.Len() > 0 {
			t.Errorf("%q: %v, and wrote %q", body, err, rec.Body)
		}
	}
}

// The tokens that a client gets within an hour are one event, and without it
// there is no token.
func TestTokensAreAudited(t *testing.T) {
	w := newFixture(t)
	ask := func() error {
		return w.provider.Token(httptest.NewRecorder(), request("grant_type=client_credentials&scope=system", basic("m2m", secret)))
	}
	w.full = errors.New("disk is full")
	for range 2 {
		if err := ask(); !errors.Is(err, w.full) {
			t.Fatalf("nothing can be recorded: %v", err)
		}
	}
	w.full = nil
	var done sync.WaitGroup
	for range 20 {
		done.Go(func() {
			if err := ask(); err != nil {
				t.Error(err)
			}
		})
	}
	done.Wait()
	w.grant(request("grant_type=client_credentials", basic("brief", secret)))
	w.refusal(request("grant_type=client_credentials", basic("nobody", secret)))
	if last := w.events[len(w.events)-1]; last.Action != "client.refused" || last.ApplicationID != "" {
		t.Errorf("recorded %+v, expected the refusal of an unknown client", last)
	}
	w.events = w.events[:len(w.events)-1]
	w.now = w.now.Add(59 * time.Minute)
	w.grant(request("grant_type=client_credentials", basic("m2m", secret)))
	if len(w.events) != 2 {
		t.Fatalf("%d events, want one for each client", len(w.events))
	}
	got := w.events[0]
	want := schemas.Event{ID: got.ID, At: got.At, Action: "token.issued", ApplicationID: "app-m2m",
		Actor:  schemas.Actor{Type: schemas.ApplicationActor, ID: "app-m2m", Client: "app-m2m"},
		Detail: map[string]string{"grant": "client_credentials", "scope": "system", "audience": both}}
	if !reflect.DeepEqual(got, want) || got.ID == "" || got.At.IsZero() {
		t.Errorf("recorded %+v, want %+v", got, want)
	}
	w.now = w.now.Add(time.Minute)
	w.grant(request("grant_type=client_credentials", basic("m2m", secret)))
	if len(w.events) != 3 {
		t.Errorf("%d events after an hour", len(w.events))
	}
}

func TestDocuments(t *testing.T) {
	w := newFixture(t)
	for name, test := range map[string]struct {
		serve func(http.ResponseWriter, *http.Request) error
		want  string
	}{
		"authorization server": {w.provider.Server, `{"issuer":"https://id.example.com","token_endpoint":"https://id.example.com/oauth2/token",
			"jwks_uri":"https://id.example.com/oauth2/jwks","scopes_supported":["openid","profile","email","address","phone","offline_access","account","groups","roles","organization","system"],
			"grant_types_supported":["authorization_code","refresh_token","client_credentials"],
			"token_endpoint_auth_methods_supported":["client_secret_basic","client_secret_post","private_key_jwt","none"],
			"token_endpoint_auth_signing_alg_values_supported":["ES256","ES384","ES512","PS256","PS384","PS512","RS256","RS384","RS512","EdDSA","Ed25519"],
			"registration_endpoint":"https://id.example.com/oauth2/dcr/register","authorization_endpoint":"https://id.example.com/oauth2/authorize",
			"userinfo_endpoint":"https://id.example.com/oauth2/userinfo","end_session_endpoint":"https://id.example.com/oauth2/logout",
			"backchannel_logout_supported":true,"backchannel_logout_session_supported":true,"introspection_endpoint":"https://id.example.com/oauth2/introspect",
			"introspection_endpoint_auth_methods_supported":["client_secret_basic","client_secret_post","private_key_jwt"],
			"introspection_endpoint_auth_signing_alg_values_supported":["ES256","ES384","ES512","PS256","PS384","PS512","RS256","RS384","RS512","EdDSA","Ed25519"],
			"revocation_endpoint":"https://id.example.com/oauth2/revoke",
			"revocation_endpoint_auth_methods_supported":["client_secret_basic","client_secret_post","private_key_jwt","none"],
			"revocation_endpoint_auth_signing_alg_values_supported":["ES256","ES384","ES512","PS256","PS384","PS512","RS256","RS384","RS512","EdDSA","Ed25519"],
			"response_types_supported":["code"],"response_modes_supported":["query","form_post"],"code_challenge_methods_supported":["S256"],
			"authorization_response_iss_parameter_supported":true,"subject_types_supported":["public"],"id_token_signing_alg_values_supported":["RS256","ES256"],
			"acr_values_supported":["urn:postern:acr:vouched","urn:postern:acr:recovery","urn:postern:acr:otp","urn:postern:acr:password","urn:postern:acr:mfa",
				"phr","phrh","urn:postern:acr:mfa-phr","urn:postern:acr:mfa-phrh"],
			"prompt_values_supported":["none","login","consent","select_account"],"claim_types_supported":["normal","distributed"],
			"claims_supported":["iss","sub","aud","exp","iat","auth_time","nonce","acr","amr","sid","at_hash","username","preferred_username","name","given_name",
				"family_name","middle_name","nickname","profile","picture","website","gender","birthdate","zoneinfo","locale","updated_at","email","email_verified","address",
				"phone_number","phone_number_verified","groups","roles","ouId","ouName","ouHandle","userType"],
			"claims_parameter_supported":true,"request_parameter_supported":false,"request_uri_parameter_supported":false,
			"client_id_metadata_document_supported":true}`},
		"protected resource": {w.provider.Resource, `{"resource":"https://id.example.com/mcp","authorization_servers":["https://id.example.com"],
			"scopes_supported":["system"],"bearer_methods_supported":["header"]}`},
		"keys": {w.provider.Keys, string(w.tokens.JWKS())},
	} {
		rec := httptest.NewRecorder()
		if err := test.serve(rec, httptest.NewRequest(http.MethodGet, "/", nil)); err != nil {
			t.Fatal(err)
		}
		var got, want any
		if json.Unmarshal(rec.Body.Bytes(), &got) != nil || json.Unmarshal([]byte(test.want), &want) != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %s, want %s", name, rec.Body, test.want)
		}
		if rec.Header().Get("Content-Type") != "application/json" || !strings.Contains(rec.Header().Get("Cache-Control"), "public") {
			t.Errorf("%s: %v", name, rec.Header())
		}
	}
}

// The errors of client authentication name the methods that work.
func TestMetadataIsTrue(t *testing.T) {
	w := newFixture(t)
	rec := httptest.NewRecorder()
	_ = w.provider.Server(rec, httptest.NewRequest(http.MethodGet, "/", nil))
	var reported struct {
		Methods []string `json:"token_endpoint_auth_methods_supported"`
		Grants  []string `json:"grant_types_supported"`
	}
	datatest.Unmarshal(t, rec.Body.Bytes(), &reported)
	for _, method := range []string{schemas.AuthMethodBasic, schemas.AuthMethodPost, schemas.AuthMethodPrivateKeyJWT, schemas.AuthMethodNone} {
		r := map[string]*http.Request{
			schemas.AuthMethodBasic:         request("grant_type=client_credentials", basic("m2m", secret)),
			schemas.AuthMethodPost:          request("grant_type=client_credentials&client_id=post&client_secret=" + secret),
			schemas.AuthMethodPrivateKeyJWT: present(newTestSigner(w, "signer").with(nil)),
			schemas.AuthMethodNone:          request("grant_type=refresh_token&refresh_token=x&client_id=spa"),
		}[method]
		if err := w.provider.Token(httptest.NewRecorder(), r); hasCode(err, "invalid_client") == slices.Contains(reported.Methods, method) {
			t.Errorf("%s: %v, and the metadata lists %v", method, err, reported.Methods)
		}
	}
	for _, grant := range []string{"client_credentials", "authorization_code", "refresh_token", "password", "implicit"} {
		err := w.provider.Token(httptest.NewRecorder(), request("grant_type="+grant, basic("m2m", secret)))
		if hasCode(err, "unsupported_grant_type") == slices.Contains(reported.Grants, grant) {
			t.Errorf("%s: %v, and the metadata lists %v", grant, err, reported.Grants)
		}
	}
}

func hasCode(err error, code string) bool {
	reported, ok := errors.AsType[*oauth.Error](err)
	return ok && reported.Code == code
}
