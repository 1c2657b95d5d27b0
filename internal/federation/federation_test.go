package federation_test

import (
	"errors"
	"maps"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/federation"
	"github.com/postern-id/postern/internal/federation/federationtest"
	"github.com/postern-id/postern/schemas"
)

const callback = "https://id.example.com/gate/callback"

// fixture is a provider and a client of it.
type fixture struct {
	t        *testing.T
	now      time.Time
	provider *federationtest.Provider
	settings *schemas.IdentityProvider
	client   *federation.Client
}

func newFixture(t *testing.T) *fixture {
	w := &fixture{t: t, now: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)}
	w.provider = federationtest.New("https://other.example.org", func() time.Time { return w.now })
	w.settings = settings(w.provider)
	w.client = federation.New(w.provider)
	return w
}

func settings(p *federationtest.Provider) *schemas.IdentityProvider {
	return &schemas.IdentityProvider{ID: "p1", Handle: "other", Name: "Other", Issuer: p.Issuer, ClientID: p.ClientID, ClientSecret: p.ClientSecret}
}

// begin starts a sign-in that requires a fresh authentication.
func (w *fixture) begin() *federation.AuthorizationRequest {
	w.t.Helper()
	hour := 3600
	asked, err := w.client.Begin(w.t.Context(), w.settings, federation.Request{RedirectURI: callback, MaxAge: &hour, Now: w.now})
	if err != nil {
		w.t.Fatal(err)
	}
	return asked
}

// answer is the response that ada's browser delivers.
func (w *fixture) answer(asked *federation.AuthorizationRequest, fault federationtest.Fault) federation.Response {
	w.t.Helper()
	r, err := w.provider.SignIn(asked.URL, ada(), fault)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func ada() federationtest.Person {
	return federationtest.Person{Subject: "1815", Claims: map[string]any{"email": "ada@example.org", "email_verified": true, "long": strings.Repeat("x", 2000)}}
}

func (w *fixture) finish(asked *federation.AuthorizationRequest, r federation.Response) (*federation.Identity, error) {
	return w.client.Finish(w.t.Context(), w.settings, asked.State, r, w.now)
}

// fails makes sure that a sign-in fails by a check, and that the error reveals nothing.
func fails(t *testing.T, id *federation.Identity, err error, check federation.Check) {
	t.Helper()
	reported, ok := errors.AsType[*federation.Error](err)
	if !ok || reported.Check != check || id != nil {
		t.Fatalf("got %v and %v, expected the check %s to fail", id, err, check)
	}
	for _, secret := range []string{"a secret", "code-", "an-access-token", "ada@", "1815", "eyJ"} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("%q contains %q", err, secret)
		}
	}
}

func TestSignIn(t *testing.T) {
	w := newFixture(t)
	for range 3 {
		asked := w.begin()
		got, err := w.finish(asked, w.answer(asked, ""))
		if err != nil {
			t.Fatal(err)
		}
		if got.Subject != "1815" || got.Name != "ada@example.org" || !got.AuthTime.Equal(w.now) || got.Claims["email"] != "ada@example.org" || got.Claims["long"] != "" {
			t.Errorf("got %+v", got)
		}
	}
	// Each document is fetched once, however many users sign in.
	if asked := strings.Join(w.provider.Asked, " "); asked != "/.well-known/openid-configuration /token /keys /token /token" {
		t.Errorf("it was asked for %s", asked)
	}
}

// No fault of a provider signs a user in.
func TestFaults(t *testing.T) {
	for _, d := range federationtest.Catalog() {
		t.Run(string(d.Fault), func(t *testing.T) {
			w := newFixture(t)
			asked := w.begin()
			id, err := w.finish(asked, w.answer(asked, d.Fault))
			fails(t, id, err, d.Check)
		})
	}
}

// A code is valid once, in the sign-in it was issued for and with the provider that issued
// it.
func TestCodesOfAnotherRequest(t *testing.T) {
	w := newFixture(t)
	mine, other := w.begin(), w.begin()
	r := w.answer(other, "")
	id, err := w.finish(mine, r)
	fails(t, id, err, federation.CheckState)

	state := func(a *federation.AuthorizationRequest) string { return query(t, a.URL).Get("state") }
	r.State = state(mine) // another user's code with the state of this sign-in
	id, err = w.finish(mine, r)
	fails(t, id, err, federation.CheckToken)

	r = w.answer(mine, "")
	if _, err = w.finish(mine, r); err != nil {
		t.Fatal(err)
	}
	id, err = w.finish(mine, r)
	fails(t, id, err, federation.CheckToken)

	for name, change := range map[string]func(*schemas.IdentityProvider){
		"another provider":  func(p *schemas.IdentityProvider) { p.ID = "p2" },
		"another issuer":    func(p *schemas.IdentityProvider) { p.Issuer = "https://third.example.org" },
		"another client id": func(p *schemas.IdentityProvider) { p.ClientID = "third" },
	} {
		begun := w.begin()
		r := w.answer(begun, "")
		before := *w.settings
		change(w.settings)
		id, err := w.finish(begun, r)
		*w.settings = before
		t.Run(name, func(t *testing.T) { fails(t, id, err, federation.CheckSettings) })
	}
}

// A client of the application's own may omit state and iss. The response of another sign-in
// is still rejected, whether the provider supports PKCE or not.
func TestOpenedAnswers(t *testing.T) {
	w := newFixture(t)
	begin := func() *federation.AuthorizationRequest {
		asked, err := w.client.Begin(t.Context(), w.settings, federation.Request{RedirectURI: "https://app.example.com/", Opened: true, Now: w.now})
		if err != nil {
			t.Fatal(err)
		}
		return asked
	}
	mine, other := begin(), begin()
	bare := func(a *federation.AuthorizationRequest) federation.Response {
		return federation.Response{Code: w.answer(a, "").Code}
	}

	id, err := w.finish(mine, bare(other))
	fails(t, id, err, federation.CheckToken)
	w.provider.Lax = true
	id, err = w.finish(mine, bare(other))
	fails(t, id, err, federation.CheckNonce)
	id, err = w.finish(mine, w.answer(other, "")) // with the state of the other sign-in
	fails(t, id, err, federation.CheckState)
	id, err = w.finish(mine, w.answer(mine, "wrong-sender"))
	fails(t, id, err, federation.CheckSender)
	if id, err = w.finish(mine, bare(mine)); err != nil || id.Subject != "1815" {
		t.Errorf("got %v, %v", id, err)
	}
}

func query(t *testing.T, address string) url.Values {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.Query()
}

func TestRequest(t *testing.T) {
	w := newFixture(t)
	w.provider.Document = func(doc map[string]any) {
		doc["authorization_endpoint"] = w.provider.Issuer + "/authorize?tenant=a+b&state=fixed&prompt=none"
	}
	w.settings.Scopes = []string{"email", "profile"}
	got, err := w.client.Begin(t.Context(), w.settings, federation.Request{
		RedirectURI: callback, LoginHint: "ada & co", UILocales: "de", ACRValues: []string{"phr", "phrh"}, Now: w.now,
	})
	if err != nil {
		t.Fatal(err)
	}
	q := query(t, got.URL)
	want := url.Values{
		"tenant": {"a b"}, "response_type": {"code"}, "client_id": {"postern"}, "redirect_uri": {callback}, "scope": {"openid email profile"},
		"login_hint": {"ada & co"}, "ui_locales": {"de"}, "acr_values": {"phr phrh"}, "code_challenge_method": {"S256"},
	}
	for name, length := range map[string]int{"state": 43, "nonce": 43, "code_challenge": 43} {
		if len(q.Get(name)) != length || len(q[name]) != 1 {
			t.Errorf("%s is %q", name, q[name])
		}
		q.Del(name)
	}
	if !maps.EqualFunc(q, want, func(a, b []string) bool { return strings.Join(a, ",") == strings.Join(b, ",") }) {
		t.Errorf("asked %v\nexpected %v", q, want)
	}
	if strings.Contains(got.URL, "fixed") || !strings.Contains(string(got.State), `"verifier"`) || strings.Contains(got.URL, "verifier") {
		t.Errorf("asked %s", got.URL)
	}
}
