package oauth_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server/oauth"
)

const (
	base   = "https://id.example.com"
	secret = "s3cret-of-256-random-bits"
	shop   = "https://shop.example.com/api"
)

// clients are the clients of a test, in a map.
type clients struct {
	oauth.Clients
	list    map[string]*schemas.Application
	roles   map[string][]string // what roles grant to a client
	checked atomic.Int64        // calls of CheckSecret
	broken  error
}

func (c *clients) Client(_ context.Context, id string) (*schemas.Application, error) {
	if app := c.list[id]; app != nil || c.broken != nil {
		return app, c.broken
	}
	return nil, schemas.Errorf(schemas.NotFound, schemas.CodeAppNotFound, "no client %q", id)
}

func (c *clients) CheckSecret(app *schemas.Application, secret string) bool {
	c.checked.Add(1)
	hash := sha256.Sum256([]byte(secret))
	return subtle.ConstantTimeCompare(hash[:], app.OAuth().SecretHash) == 1
}

func (c *clients) ClientScopes(_ context.Context, app *schemas.Application) ([]string, error) {
	return slices.Concat(app.OAuth().Scopes, c.roles[app.ClientID]), c.broken
}

func (c *clients) IdentityScopes(_ context.Context, o *schemas.OAuthProfile) ([]string, error) {
	return append(schemas.IdentityScopes(), o.OwnScopes()...), nil
}

func (c *clients) ServerClaims(context.Context, []string) ([]schemas.ResourceServer, error) {
	return nil, c.broken
}

func (c *clients) IsResourceServer(_ context.Context, a *schemas.Application, identifier string) (bool, error) {
	return identifier == "https://orders.example.com/" && slices.Contains(a.OAuth().Scopes, "orders"), nil
}

func (c *clients) Resource(_ context.Context, identifier string) (string, error) {
	if schemas.ComparableURL(identifier) == schemas.ComparableURL(shop) {
		return shop, c.broken
	}
	return "", c.broken
}

// ClientExpiry is nil: no client expires.
func (c *clients) ClientExpiry(context.Context, string) (*schemas.ClientExpiry, error) {
	return nil, c.broken
}

// client is a client with the secret, registered for client_credentials.
func client(id, method string, scopes ...string) *schemas.Application {
	hash := sha256.Sum256([]byte(secret))
	return &schemas.Application{ID: "app-" + id, Name: id, ClientID: id, InboundAuthConfig: []schemas.InboundAuth{{Type: "oauth2", Config: schemas.OAuthProfile{
		ClientID: id, SecretHash: hash[:], TokenEndpointAuthMethod: method, Scopes: scopes,
		GrantTypes: []string{schemas.GrantClientCredentials},
	}}}}
}

// keys keeps signing keys in memory that are not rotated.
type keys struct {
	token.Keys
	mu   sync.Mutex
	list []schemas.SigningKey
}

func (k *keys) SigningKeys(context.Context) ([]schemas.SigningKey, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.list), nil
}

func (k *keys) AddSigningKey(_ context.Context, key schemas.SigningKey) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.list = append(k.list, key)
	return nil
}

func (k *keys) NeedSigningKey(context.Context, string, time.Time) error { return nil }

// fixture is an authorization server with its clients.
type fixture struct {
	*clients
	t        testing.TB
	tokens   *token.Issuer
	provider *oauth.Provider
	now      time.Time

	mu     sync.Mutex
	events []schemas.Event
	full   error           // what recording fails with, if not nil
	used   map[string]bool // assertions of clients, by hash
	// published are the texts at addresses, and fetched how often each was read.
	published map[string]string
	fetched   map[string]int
}

// useAssertion remembers what clients sign.
func (w *fixture) useAssertion(_ context.Context, hash []byte, expires time.Time) (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	first := !w.used[string(hash)]
	w.used[string(hash)] = true
	return first && expires.After(w.now), w.full
}

// fetchKeys reads what clients publish.
func (w *fixture) fetchKeys(ctx context.Context, uri string) ([]byte, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fetched[uri]++
	if w.published[uri] == "" {
		return nil, errors.New("no route to 10.0.0.1")
	}
	return []byte(w.published[uri]), ctx.Err()
}

func (w *fixture) record(_ context.Context, e schemas.Event, _ ...schemas.Change) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.full != nil {
		return w.full
	}
	w.events = append(w.events, e)
	return nil
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	public := client("spa", schemas.AuthMethodNone, "openid")
	public.OAuth().SecretHash = nil
	brief := client("brief", schemas.AuthMethodBasic, "system:users:read")
	brief.OAuth().Token.AccessToken.ValidityPeriod = 90
	web := client("web", schemas.AuthMethodBasic, "openid", "system")
	web.OAuth().GrantTypes = []string{schemas.GrantAuthorizationCode}
	w := &fixture{t: t, now: time.Now(), used: map[string]bool{}, published: map[string]string{}, fetched: map[string]int{}, clients: &clients{
		list: map[string]*schemas.Application{
			"m2m":  client("m2m", schemas.AuthMethodBasic, "system", "shop:orders", "openid", "profile"),
			"post": client("post", schemas.AuthMethodPost, "shop:orders"), "jwt": client("jwt", schemas.AuthMethodPrivateKeyJWT, "system"),
			"none": client("none", schemas.AuthMethodBasic), "a b:c%é": client("a b:c%é", schemas.AuthMethodBasic, "shop:orders"),
			"spa": public, "brief": brief, "web": web,
			"plain": {ID: "app-plain", ClientID: "plain"}, // has no OAuth configuration
		},
		roles: map[string][]string{"none": {"system:audit:read"}},
	}}
	var err error
	w.tokens, err = token.New(t.Context(), &keys{}, bytes.Repeat([]byte{1}, 32), token.Options{Issuer: base, AccessTTL: 10 * time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	w.provider = oauth.New(oauth.Options{Issuer: base, Clients: w.clients, Tokens: w.tokens, Record: w.record,
		UseAssertion: w.useAssertion, FetchKeys: w.fetchKeys, Now: func() time.Time { return w.now }})
	return w
}

// request is a token request. Headers are "Name: value".
func request(body string, headers ...string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/oauth2/token", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if value == "" {
			r.Header.Del(name)
		} else {
			r.Header.Add(name, value)
		}
	}
	return r
}

// basic is the header of HTTP Basic authentication as RFC 6749 §2.3.1 makes it.
func basic(id, secret string) string {
	return rawBasic(url.QueryEscape(id) + ":" + url.QueryEscape(secret))
}

func rawBasic(credentials string) string {
	return "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(credentials))
}

// granted is the reply of a token request that went well.
type granted struct {
	AccessToken string `json:"access_token"`
	TokenType   string `json:"token_type"`
	ExpiresIn   int    `json:"expires_in"`
	Scope       string `json:"scope"`
}

// grant sends a request that must go well.
func (w *fixture) grant(r *http.Request) (granted, *httptest.ResponseRecorder) {
	w.t.Helper()
	rec := httptest.NewRecorder()
	if err := w.provider.Token(rec, r); err != nil {
		w.t.Fatalf("refused: %v", err)
	}
	var g granted
	d := json.NewDecoder(rec.Body)
	d.DisallowUnknownFields() // no refresh token, among others
	if err := d.Decode(&g); err != nil || rec.Code != http.StatusOK {
		w.t.Fatalf("%d, %v", rec.Code, err)
	}
	return g, rec
}

// refusal sends a request that must be refused, and makes sure that nothing was
// written.
func (w *fixture) refusal(r *http.Request) *oauth.Error {
	w.t.Helper()
	rec := httptest.NewRecorder()
	err := w.provider.Token(rec, r)
	reported, ok := errors.AsType[*oauth.Error](err)
	if !ok {
		w.t.Fatalf("got %d %s and the error %v, want it refused", rec.Code, rec.Body, err)
	}
	if rec.Body.Len() > 0 {
		w.t.Errorf("wrote %q in addition to the error", rec.Body)
	}
	return reported
}
