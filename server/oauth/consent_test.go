package oauth_test

import (
	"bytes"
	"net/http"
	"testing"
	"time"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// This turns the client "app" into one that registered itself.
func (a *signIns) untrustedClient() *schemas.Application {
	app := a.clients.list["app"]
	app.Registration = schemas.RegisteredDynamically
	return app
}

// agree has ann agree to scopes for a client.
func (a *signIns) agree(app *schemas.Application, scopes ...string) {
	a.t.Helper()
	a.must(a.store.Apply(a.t.Context(), []schemas.Change{schemas.GrantConsent{UserID: a.user.ID, ApplicationID: app.ID, Scopes: scopes, At: a.now}}))
}

// A grant without consent gives no code to an untrusted client, nor to one that requests consent.
func TestNoCodeWithoutConsent(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*schemas.Application)
		prompt string
		want   string
	}{
		"an administrator's":         {func(*schemas.Application) {}, "", ""},
		"one that registered itself": {func(app *schemas.Application) { app.Registration = schemas.RegisteredDynamically }, "", "consent_required"},
		"by a document":              {func(app *schemas.Application) { app.Registration = schemas.RegisteredByDocument }, "", "consent_required"},
		"vouched for":                {func(app *schemas.Application) { app.Registration, app.Verified = schemas.RegisteredDynamically, true }, "", ""},
		"set to ask":                 {func(app *schemas.Application) { app.RequireConsent = true }, "", "consent_required"},
		"that asks":                  {func(*schemas.Application) {}, "consent", "consent_required"},
	} {
		t.Run(name, func(t *testing.T) {
			a := newSignIns(t)
			test.change(a.clients.list["app"])
			b := browser{}
			a.authorize(b, ask("prompt", test.prompt))
			a.grantRequest(a.begun, "")
			rec, err := a.callback(b, a.begun.ID)
			a.must(err)
			q := location(t, rec).Query()
			if q.Get("error") != test.want || (q.Get("code") == "") != (test.want != "") || q.Get("state") != "st&te" || q.Get("iss") != base {
				t.Errorf("answered %v, want %q", q, test.want)
			}
		})
	}
}

// A run that is refused answers its request, in its own browser alone.
func TestRefusalIsAnswered(t *testing.T) {
	a := newSignIns(t)
	b := browser{}
	a.authorize(b, ask())
	a.must(a.store.Apply(t.Context(), []schemas.Change{schemas.RefuseAuthRequest{
		ID: a.begun.ID, BrowserHash: a.begun.BrowserHash, At: a.now, Refusal: schemas.Refusal{Code: "access_denied", Description: "no, \"thanks\""},
	}}))
	for range 2 {
		rec, err := a.callback(b, a.begun.ID)
		a.must(err)
		q := location(t, rec).Query()
		if q.Get("error") != "access_denied" || q.Get("error_description") != "no, 'thanks'" || q.Has("code") || q.Get("state") != "st&te" || q.Get("iss") != base {
			t.Errorf("answered %v", q)
		}
	}
	rec, err := a.callback(browser{}, a.begun.ID)
	a.must(err)
	if q := location(t, rec); q.Path != "/gate/error" {
		t.Errorf("another browser is sent to %s", q)
	}
}

// What a client has of a user is what they agreed to, from the first token on.
func TestTokensHaveTheApprovedScopes(t *testing.T) {
	a := newSignIns(t)
	app := a.untrustedClient()
	a.agree(app, "openid", "email")
	a.consented = true
	got, err := a.redeem(a.code(browser{}, ask("scope", "openid profile email")))
	a.must(err)
	if got.Scope != "openid email" {
		t.Errorf("the token carries %q", got.Scope)
	}
	a.agree(app, "profile")
	got, err = a.refresh(got.RefreshToken)
	a.must(err)
	if got.Scope != "openid profile email" {
		t.Errorf("after more was agreed to the token carries %q", got.Scope)
	}

	code := a.code(browser{}, ask())
	a.must(a.store.Update(t.Context(), func(tx *store.Tx) error {
		_, err := store.RevokeConsent(tx, a.user.ID, app.ID, a.now.Add(time.Hour))
		return err
	}))
	if a.live(got.AccessToken) {
		t.Error("an access token outlived what it rests on")
	}
	_, err = a.refresh(got.RefreshToken)
	wantRefused(t, err, "invalid_grant")
	_, err = a.redeem(code)
	wantRefused(t, err, "invalid_grant")
}

// An untrusted client has no permission of this API that the user did not approve in the request,
// whether by consent or with refresh tokens from before approvals existed. It keeps approved ones
// while it refreshes.
func TestAudit05NoPermissionWithoutApproval(t *testing.T) {
	s := newUntrustedClients(t)
	reported, err := s.register(`{"redirect_uris":["`+clientBack+`"],"token_endpoint_auth_method":"none","grant_types":["authorization_code","refresh_token"]}`, nil)
	s.must(err)
	id := reported["client_id"].(string)
	refreshed := func(got *reply) string {
		again, err := s.refresh(got.RefreshToken, "client_id", id)
		s.must(err)
		return again.Scope
	}
	approved := s.signIn(id, clientBack, "openid system")
	if approved.Scope != "openid system" {
		t.Errorf("what was approved is %q", approved.Scope)
	}
	s.approves = false // the consent from before is there still
	silent := s.signIn(id, clientBack, "openid system")
	if silent.Scope != "openid" {
		t.Errorf("without an approval the token carries %q", silent.Scope)
	}
	if got := refreshed(silent); got != "openid" {
		t.Errorf("refreshed without an approval it carries %q", got)
	}
	if got := refreshed(approved); got != "openid system" {
		t.Errorf("what was approved is %q when it is refreshed", got)
	}
	app, err := s.directory.Client(t.Context(), id)
	s.must(err)
	s.vouch(app, `"description":"known"`)
	if got := s.signIn(id, clientBack, "openid system").Scope; got != "openid system" {
		t.Errorf("a client that an administrator vouches for gets %q", got)
	}
}

// An approval is of one user, and counts for no other.
func TestAudit05ApprovalIsOfItsUser(t *testing.T) {
	s := newUntrustedClients(t)
	reported, err := s.register(`{"redirect_uris":["`+clientBack+`"],"token_endpoint_auth_method":"none"}`, nil)
	s.must(err)
	id := reported["client_id"].(string)
	s.approves = false
	b := browser{}
	s.authorize(b, ask("client_id", id, "redirect_uri", clientBack, "scope", "openid system"))
	s.must(s.store.Apply(t.Context(), []schemas.Change{schemas.ApproveAuthRequest{ID: s.begun.ID, BrowserHash: s.begun.BrowserHash, At: s.now,
		Approval: schemas.Approval{UserID: schemas.NewID(), Scopes: []string{"system"}, At: s.now}}}))
	s.grantRequest(s.begun, "")
	rec, err := s.callback(b, s.begun.ID)
	s.must(err)
	got, err := s.redeem(location(t, rec).Query().Get("code"), "client_id", id, "redirect_uri", clientBack)
	s.must(err)
	if got.Scope != "openid" {
		t.Errorf("by the approval of another user the token carries %q", got.Scope)
	}
}

// The client of such a request learns at once that the user must sign in.
func TestAudit05ApprovalIsExplicit(t *testing.T) {
	s := newUntrustedClients(t)
	reported, err := s.register(`{"redirect_uris":["`+clientBack+`"],"token_endpoint_auth_method":"none"}`, nil)
	s.must(err)
	id := reported["client_id"].(string)
	b := browser{}
	s.code(b, ask("client_id", id, "redirect_uri", clientBack, "scope", "openid system"))
	for scope, want := range map[string]string{"openid system": "login_required", "openid system:users:read": "login_required", "openid": ""} {
		s.status = schemas.Complete // a run that would sign in by the session
		to := s.authorize(b, ask("client_id", id, "redirect_uri", clientBack, "scope", scope, "prompt", "none"))
		if q := to.Query(); q.Get("error") != want || (q.Get("code") == "") != (want != "") {
			t.Errorf("%s: answered %v", scope, q)
		}
		s.status = schemas.Incomplete
		if s.authorize(b, ask("client_id", id, "redirect_uri", clientBack, "scope", scope)); (want != "") == s.begun.Login.Accept(&schemas.Session{UserID: s.user.ID, CreatedAt: s.now}, s.now) {
			t.Errorf("%s: the session is accepted: %v", scope, want != "")
		}
	}
}

// Who is not to be asked anything, and must be, is not: OpenID Connect Core
// §3.1.2.6.
func TestSilentSignInWithoutConsent(t *testing.T) {
	a := newSignIns(t)
	b := browser{}
	a.code(b, ask())
	a.asks = true
	to := a.authorize(b, ask("prompt", "none"))
	if q := to.Query(); q.Get("error") != "consent_required" {
		t.Errorf("answered %v", q)
	}
}

// A run may be begun for a request that waits, by the browser that it is from.
func TestOpenRequests(t *testing.T) {
	a := newSignIns(t)
	b := browser{}
	a.authorize(b, ask())
	open := func(b browser) error {
		r, err := http.NewRequest(http.MethodPost, "/flow/execute", nil)
		a.must(err)
		for name, value := range b {
			r.AddCookie(&http.Cookie{Name: name, Value: value})
		}
		run := engine.Request{}
		err = a.provider.BindRun(r, &run, &a.begun.ID)
		if err == nil && (run.AuthRequest.ID != a.begun.ID || !bytes.Equal(run.Browser, a.begun.BrowserHash)) {
			t.Errorf("bound to %+v", run)
		}
		return err
	}
	a.must(open(b))
	for name, other := range map[string]browser{"no browser": {}, "another": {"__Host-postern-browser": "other"}} {
		if err := open(other); !schemas.HasCode(err, schemas.CodeAuthRequest) {
			t.Errorf("%s: %v", name, err)
		}
	}
	a.grantRequest(a.begun, "")
	if err := open(b); !schemas.HasCode(err, schemas.CodeAuthRequest) {
		t.Errorf("answered: %v", err)
	}
}
