package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server"
	"github.com/postern-id/postern/server/oauth"
	"github.com/postern-id/postern/server/runs"
)

// oneClient is the client m2m, whose secret is "secret".
type oneClient struct {
	oauth.Clients
	broken error
	trace  string // of the request that was recorded
}

func (c *oneClient) record(ctx context.Context, _ schemas.Event, _ ...schemas.Change) error {
	c.trace = runs.TraceID(ctx)
	return nil
}

func (c *oneClient) Client(_ context.Context, id string) (*schemas.Application, error) {
	if c.broken != nil {
		return nil, c.broken
	}
	if id != "m2m" {
		return nil, schemas.Errorf(schemas.NotFound, schemas.CodeAppNotFound, "no client")
	}
	return &schemas.Application{ClientID: id, InboundAuthConfig: []schemas.InboundAuth{{Config: schemas.OAuthProfile{
		TokenEndpointAuthMethod: schemas.AuthMethodBasic, GrantTypes: []string{schemas.GrantClientCredentials}, Scopes: []string{"system"},
	}}}}, nil
}

func (*oneClient) CheckSecret(app *schemas.Application, secret string) bool {
	return app.ClientID == "m2m" && secret == "secret"
}

func (*oneClient) ClientScopes(_ context.Context, app *schemas.Application) ([]string, error) {
	return app.OAuth().Scopes, nil
}

func (*oneClient) ServerClaims(context.Context, []string) ([]schemas.ResourceServer, error) {
	return nil, nil
}

func (*oneClient) IdentityScopes(context.Context, *schemas.OAuthProfile) ([]string, error) {
	return schemas.IdentityScopes(), nil
}

func (*oneClient) IsResourceServer(context.Context, *schemas.Application, string) (bool, error) {
	return false, nil
}

func (*oneClient) Resource(context.Context, string) (string, error) { return "", nil }

// Access writes a token that Verify of the same knows.
func (fakeTokens) Access(_ context.Context, a token.Claims) (string, error) {
	return strings.Join(a.Scope, " "), nil
}

func (fakeTokens) AccessTTL() time.Duration { return time.Hour }

func (fakeTokens) JWKS() []byte { return []byte(`{"keys":[]}`) }

const (
	serviceToken = "Authorization: Basic bTJtOnNlY3JldA=="
	formType     = "Content-Type: application/x-www-form-urlencoded"
)

func newOAuthServer(t *testing.T) (*passkeyFixture, *oneClient) {
	clients := &oneClient{}
	return newPasskeyFixture(t, func(o *server.Options) {
		o.OAuth = oauth.New(oauth.Options{Issuer: publicURL, Clients: clients, Tokens: fakeTokens{}, Record: clients.record})
	}), clients
}

func TestTokenEndpoint(t *testing.T) {
	w, clients := newOAuthServer(t)
	rec := w.do("POST", "/oauth2/token", "grant_type=client_credentials&scope=system", serviceToken, formType)
	want := `{"access_token":"system","token_type":"Bearer","expires_in":3600,"scope":"system"}` + "\n"
	if rec.Code != http.StatusOK || rec.Body.String() != want {
		t.Fatalf("%d %s, want %s", rec.Code, rec.Body, want)
	}
	for name, value := range map[string]string{"Cache-Control": "no-store", "Pragma": "no-cache", "Content-Type": "application/json", "X-Content-Type-Options": "nosniff"} {
		if got := rec.Header().Get(name); got != value {
			t.Errorf("%s: %s, want %s", name, got, value)
		}
	}
	if trace := rec.Header().Get("X-Trace-Id"); clients.trace != trace || trace == "" {
		t.Errorf("the audit log says %q of the request %q", clients.trace, trace)
	}
}

// Every error of the endpoint has the form of RFC 6749 §5.2, those too that other
// endpoints answer otherwise.
func TestTokenEndpointFails(t *testing.T) {
	w, clients := newOAuthServer(t)
	const body, basic = "grant_type=client_credentials", `Basic realm="postern", charset="UTF-8"`
	const allowed = "OPTIONS, POST"
	for name, test := range map[string]struct {
		method, body     string
		headers          []string
		broken           error
		status           int
		code, ask, allow string
	}{
		"GET":             {"GET", "", []string{serviceToken}, nil, 405, "invalid_request", "", allowed},
		"HEAD":            {"HEAD", "", nil, nil, 405, "", "", allowed},
		"PUT":             {"PUT", body, []string{serviceToken, formType}, nil, 405, "invalid_request", "", allowed},
		"DELETE":          {"DELETE", "", nil, nil, 405, "invalid_request", "", allowed},
		"JSON":            {"POST", `{}`, []string{serviceToken}, nil, 400, "invalid_request", "", ""},
		"another secret":  {"POST", body, []string{serviceToken + "A", formType}, nil, 401, "invalid_client", basic, ""},
		"nobody":          {"POST", body, []string{formType}, nil, 401, "invalid_client", "", ""},
		"too much":        {"POST", body + "&scope=root", []string{serviceToken, formType}, nil, 400, "invalid_scope", "", ""},
		"a fault of ours": {"POST", body, []string{serviceToken, formType}, errors.New("disk on fire"), 500, "server_error", "", ""},
		"a store with no time": {"POST", body, []string{serviceToken, formType}, schemas.Errorf(schemas.Unavailable, schemas.CodeOverloaded, "busy"),
			503, "temporarily_unavailable", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			clients.broken = test.broken
			before := len(w.log.String())
			rec := w.do(test.method, "/oauth2/token", test.body, test.headers...)
			var reported map[string]string
			if err := json.Unmarshal(rec.Body.Bytes(), &reported); err != nil && test.code != "" {
				t.Fatalf("%v in %s", err, rec.Body)
			}
			if rec.Code != test.status || reported["error"] != test.code && test.method != "HEAD" || test.code != "" && (reported["error_description"] == "" || len(reported) != 2) {
				t.Errorf("%d %s, want %d %s", rec.Code, rec.Body, test.status, test.code)
			}
			h := rec.Header()
			if h.Get("WWW-Authenticate") != test.ask || h.Get("Allow") != test.allow || h.Get("Cache-Control") != "no-store" {
				t.Errorf("header %v", h)
			}
			if ours := test.status == http.StatusInternalServerError; strings.Contains(w.log.String()[before:], "disk on fire") != ours || strings.Contains(rec.Body.String(), "fire") {
				t.Errorf("got %s, and logged %s", rec.Body, w.log.String()[before:])
			}
		})
	}
}

// Applications' own pages may ask for tokens with credentials; pages of other origins
// may read the public documents alone, without credentials.
func TestOAuthAcrossOrigins(t *testing.T) {
	w, _ := newOAuthServer(t)
	for _, path := range []string{
		"/oauth2/token", "/oauth2/jwks", "/.well-known/oauth-authorization-server",
		"/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp",
	} {
		method := "GET"
		if path == "/oauth2/token" {
			method = "POST"
		}
		for origin, admitted := range map[string]bool{spaOrigin: true, rpOrigin: true, "https://evil.example": false, "null": false} {
			ask := w.do("OPTIONS", path, "", "Origin: "+origin, "Access-Control-Request-Method: "+method, "Access-Control-Request-Headers: authorization")
			do := w.do(method, path, "", "Origin: "+origin)
			for _, rec := range []*httptest.ResponseRecorder{ask, do} {
				h := rec.Header()
				want := map[bool]string{true: origin, false: map[string]string{"GET": "*"}[method]}[admitted]
				if got := h.Get("Access-Control-Allow-Origin"); got != want || got == "*" && h.Get("Access-Control-Allow-Credentials") != "" {
					t.Errorf("%s from %s: %q", path, origin, got)
				}
				if !slices.Contains(h.Values("Vary"), "Origin") {
					t.Errorf("%s: replies to all origins look alike to caches", path)
				}
			}
			if method == "GET" && do.Code != http.StatusOK {
				t.Errorf("GET %s: %d", path, do.Code)
			}
		}
	}
}

func newAuthorizingServer(t *testing.T) *passkeyFixture {
	clients := &oneClient{}
	return newPasskeyFixture(t, func(o *server.Options) {
		o.OAuth = oauth.New(oauth.Options{Issuer: publicURL, Clients: clients, Tokens: fakeTokens{}, Record: clients.record,
			Store: emptyStore{}, Gate: publicURL + "/gate", RefreshKey: make([]byte, 32)})
	})
}

// emptyStore is for requests that fail before they need the store.
type emptyStore struct{ oauth.Store }

func (emptyStore) Assume(ctx context.Context) context.Context { return ctx }

func (emptyStore) Confirm(context.Context) (bool, error) { return true, nil }

// TestMethodGuards: what the library would answer by any method is answered by its
// own alone.
func TestMethodGuards(t *testing.T) {
	w := newAuthorizingServer(t)
	for path, allow := range map[string]string{
		"/oauth2/token": "OPTIONS, POST", "/oauth2/introspect": "OPTIONS, POST", "/oauth2/revoke": "OPTIONS, POST",
		"/oauth2/authorize": "GET, HEAD, OPTIONS, POST", "/oauth2/userinfo": "GET, HEAD, OPTIONS, POST", "/oauth2/jwks": "GET, HEAD, OPTIONS", "/oauth2/claims/idToken": "GET, HEAD, OPTIONS",
		"/.well-known/openid-configuration": "GET, HEAD, OPTIONS",
	} {
		rec := w.do("PUT", path+"?grant_type=client_credentials", "")
		if rec.Code != http.StatusMethodNotAllowed || rec.Header().Get("Allow") != allow {
			t.Errorf("PUT %s: %d, Allow: %s", path, rec.Code, rec.Header().Get("Allow"))
		}
	}
}

// TestServerMetadata: the documents of RFC 8414 and OpenID Connect are one.
func TestServerMetadata(t *testing.T) {
	w := newAuthorizingServer(t)
	one, other := w.do("GET", oauth.ServerPath, ""), w.do("GET", oauth.OpenIDPath, "")
	if one.Code != http.StatusOK || other.Code != http.StatusOK || one.Body.String() != other.Body.String() || one.Body.Len() == 0 {
		t.Errorf("%d %s\n%d %s", one.Code, one.Body, other.Code, other.Body)
	}
}

// TestWWWAuthenticate: RFC 6750 §3, and no code for who brought no token (§3.1).
func TestWWWAuthenticate(t *testing.T) {
	w := newAuthorizingServer(t)
	rec := w.do("GET", "/oauth2/userinfo", "")
	if rec.Code != http.StatusUnauthorized || rec.Header().Get("WWW-Authenticate") != `Bearer realm="postern"` || rec.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("%d %v", rec.Code, rec.Header())
	}
	rec = w.do("GET", "/oauth2/userinfo", "", "Authorization: Basic eDp5")
	if got := rec.Header().Get("WWW-Authenticate"); rec.Code != http.StatusUnauthorized || !strings.HasPrefix(got, `Bearer realm="postern", error="invalid_token", error_description="`) {
		t.Errorf("%d %s", rec.Code, got)
	}
}

// TestAuthorizationErrorsArePages: a person is shown what is wrong, and not sent to
// where the request says.
func TestAuthorizationErrorsArePages(t *testing.T) {
	w := newAuthorizingServer(t)
	rec := w.do("GET", "/oauth2/authorize?client_id=nobody&redirect_uri=https://evil.example", "")
	to := rec.Header().Get("Location")
	if rec.Code != http.StatusFound || !strings.HasPrefix(to, publicURL+"/gate/error?error=invalid_client&") {
		t.Errorf("%d, to %s", rec.Code, to)
	}
	if trace := rec.Header().Get("X-Trace-Id"); trace == "" || !strings.HasSuffix(to, "&traceId="+trace) {
		t.Errorf("the page %s does not name the trace %q", to, trace)
	}
}

// TestCallbackOrigins: applications that sign people in by themselves post to the
// callback with the browser's cookies.
func TestCallbackOrigins(t *testing.T) {
	w := newAuthorizingServer(t)
	rec := w.do("OPTIONS", "/oauth2/auth/callback", "", "Origin: "+rpOrigin, "Access-Control-Request-Method: POST")
	if h := rec.Header(); rec.Code != http.StatusNoContent || h.Get("Access-Control-Allow-Origin") != rpOrigin || h.Get("Access-Control-Allow-Credentials") != "true" {
		t.Errorf("%d %v", rec.Code, h)
	}
	rec = w.do("OPTIONS", "/oauth2/authorize", "", "Origin: "+rpOrigin, "Access-Control-Request-Method: POST")
	if got := rec.Header().Get("Access-Control-Allow-Origin"); got != "" {
		t.Errorf("pages of %s may call the authorization endpoint", got)
	}
}
