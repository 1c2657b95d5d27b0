package oauth_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"testing"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/delivery"
	"github.com/postern-id/postern/internal/outbound"
	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server/oauth"
)

// requester answers requests with a status, or an error, and keeps the last.
type requester struct {
	status int
	err    error
	asked  *http.Request
	form   url.Values
}

func (r *requester) Do(_ context.Context, asked *http.Request) (*outbound.Response, error) {
	body, _ := io.ReadAll(asked.Body)
	r.asked = asked
	r.form, _ = url.ParseQuery(string(body))
	return &outbound.Response{Status: r.status}, r.err
}

func logoutDelivery(application string) schemas.Delivery {
	return schemas.Delivery{ID: schemas.NewID(), Kind: schemas.LogoutDelivery, Target: application, Body: []byte(`{"sessionId":"the session","userId":"ada"}`)}
}

func backchannel(t *testing.T, r oauth.Requester, apps ...*schemas.Application) (*oauth.Backchannel, *token.Issuer) {
	t.Helper()
	issuer, err := token.New(t.Context(), &keys{}, make([]byte, 32), token.Options{Issuer: base})
	if err != nil {
		t.Fatal(err)
	}
	return &oauth.Backchannel{Tokens: issuer, Requests: r, Application: func(_ context.Context, id string) (*schemas.Application, error) {
		for _, app := range apps {
			if app.ID == id {
				return app, nil
			}
		}
		if id == "broken" {
			return nil, errors.New("the store is down")
		}
		return nil, schemas.Errorf(schemas.NotFound, schemas.CodeAppNotFound, "no application %q", id)
	}}, issuer
}

// listener is a client that wants to know of sign-outs.
func listener() *schemas.Application {
	app := client("shop", schemas.AuthMethodBasic)
	app.OAuth().BackchannelLogoutURI = "https://shop.example.com/out?x=1"
	return app
}

// What comes of an answer: it has arrived, it is refused, or it is sent again.
func TestBackchannelAnswers(t *testing.T) {
	silent := client("silent", schemas.AuthMethodBasic)
	down := schemas.Errorf(schemas.Unavailable, outbound.CodeFailed, "the address did not answer")
	for name, test := range map[string]struct {
		application       string
		status            int
		err               error
		asked             bool
		again, rejectWith bool
	}{
		"200":                 {"app-shop", 200, nil, true, false, false},
		"204":                 {"app-shop", 204, nil, true, false, false},
		"400":                 {"app-shop", 400, nil, true, false, true},
		"302":                 {"app-shop", 302, nil, true, true, false},
		"404":                 {"app-shop", 404, nil, true, true, false},
		"503":                 {"app-shop", 503, nil, true, true, false},
		"no answer":           {"app-shop", 0, down, true, true, false},
		"a private address":   {"app-shop", 0, schemas.Errorf(schemas.Invalid, outbound.CodeRefused, "private"), true, false, true},
		"too much at once":    {"app-shop", 0, schemas.Errorf(schemas.Unavailable, schemas.CodeOverloaded, "later"), true, true, false},
		"a client that left":  {"gone", 0, nil, false, false, false},
		"no client to notify": {"app-silent", 0, nil, false, false, false},
		"a broken store":      {"broken", 0, nil, false, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := &requester{status: test.status, err: test.err}
			b, _ := backchannel(t, r, listener(), silent)
			err := b.Send(t.Context(), logoutDelivery(test.application))
			if refused := errors.Is(err, delivery.ErrRefused); refused != test.rejectWith || (err != nil) != (test.again || test.rejectWith) {
				t.Errorf("%v, expected refused: %v, sent again: %v", err, test.rejectWith, test.again)
			}
			if (r.asked != nil) != test.asked {
				t.Errorf("asked %v", r.asked)
			}
		})
	}
	b, _ := backchannel(t, &requester{})
	if err := b.Send(t.Context(), schemas.Delivery{Target: "app-shop", Body: []byte("{")}); !errors.Is(err, delivery.ErrRefused) {
		t.Errorf("a body that cannot be read: %v", err)
	}
}

// The token is what Back-Channel Logout §2.4 says, signed as the client's ID
// tokens are, another at each time, and good for nothing here.
func TestLogoutToken(t *testing.T) {
	for algorithm, signed := range map[string]jose.SignatureAlgorithm{"": jose.RS256, "RS256": jose.RS256, "ES256": jose.ES256} {
		r, app := &requester{status: 200}, listener()
		app.OAuth().Token.IDToken.SignedResponseAlg = algorithm
		b, issuer := backchannel(t, r, app)
		seen := map[any]bool{}
		for range 2 {
			if err := b.Send(t.Context(), logoutDelivery(app.ID)); err != nil {
				t.Fatal(err)
			}
			if r.asked.Method != "POST" || r.asked.URL.String() != app.OAuth().BackchannelLogoutURI ||
				r.asked.Header.Get("Content-Type") != "application/x-www-form-urlencoded" || len(r.form) != 1 {
				t.Errorf("asked %s %s with %v", r.asked.Method, r.asked.URL, r.form)
			}
			raw := r.form.Get("logout_token")
			claims := logoutClaims(t, raw, issuer, signed)
			if seen[claims["jti"]] {
				t.Error("two tokens have one jti")
			}
			seen[claims["jti"]] = true
			if _, err := issuer.Verify(t.Context(), raw, "shop"); err == nil {
				t.Error("a logout token gives access")
			}
			if _, err := issuer.VerifyIDToken(t.Context(), raw); err == nil {
				t.Error("a logout token passes for an ID token")
			}
		}
	}
}

// logoutClaims verifies a token by the published keys.
func logoutClaims(t *testing.T, raw string, issuer *token.Issuer, algorithm jose.SignatureAlgorithm) map[string]any {
	t.Helper()
	parsed, err := jwt.ParseSigned(raw, []jose.SignatureAlgorithm{algorithm})
	if err != nil {
		t.Fatal(err)
	}
	var set jose.JSONWebKeySet
	datatest.Unmarshal(t, issuer.JWKS(), &set)
	claims := map[string]any{}
	if err := parsed.Claims(set, &claims); err != nil {
		t.Fatal(err)
	}
	if typ := parsed.Headers[0].ExtraHeaders[jose.HeaderType]; typ != "logout+jwt" {
		t.Errorf("typ is %v", typ)
	}
	lasts := claims["exp"].(float64) - claims["iat"].(float64)
	if claims["iss"] != base || claims["sub"] != "ada" || claims["aud"] != "shop" || claims["sid"] != "the session" || lasts <= 0 || lasts > 120 {
		t.Errorf("it says %v", claims)
	}
	events, _ := claims["events"].(map[string]any)
	if event, ok := events["http://schemas.openid.net/event/backchannel-logout"].(map[string]any); !ok || len(event) != 0 || len(events) != 1 {
		t.Errorf("its events are %v", claims["events"])
	}
	if _, has := claims["nonce"]; has || len(claims) != 8 {
		t.Errorf("it says more: %v", claims)
	}
	return claims
}

// The addresses of clients are asked through the client that keeps to the public
// internet.
func TestBackchannelAvoidsInternalAddresses(t *testing.T) {
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the private address was asked") }))
	defer inside.Close()
	listed := outbound.Rules{Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
	for registration, rules := range map[string]outbound.Rules{
		"": {},
		// The rules do not apply to clients that no administrator has approved.
		schemas.RegisteredByDocument: listed, schemas.RegisteredDynamically: listed,
	} {
		app := listener()
		app.Registration = registration
		app.OAuth().BackchannelLogoutURI = inside.URL
		b, _ := backchannel(t, outbound.New(rules), app)
		if err := b.Send(t.Context(), logoutDelivery(app.ID)); !errors.Is(err, delivery.ErrRefused) {
			t.Errorf("%v, expected that it is refused", err)
		}
	}
}
