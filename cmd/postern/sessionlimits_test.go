package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/schemas"
)

// timeTravel makes what the store has of sessions and their tokens older.
type timeTravel struct {
	testing.TB
	db     *sql.DB
	driver string
}

func newTimeTravel(t testing.TB, w *testApp) timeTravel {
	t.Helper()
	c := w.cfg.Database
	db, err := sql.Open(c.Driver, c.DSN)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1)
	travel := timeTravel{t, db, c.Driver}
	if c.Driver == "sqlite" {
		travel.exec("PRAGMA busy_timeout = 60000")
	}
	return travel
}

func (a timeTravel) exec(statement string) {
	a.Helper()
	if _, err := a.db.Exec(statement); err != nil {
		a.Fatalf("%s: %v", statement, err)
	}
}

// pass lets a time pass.
func (a timeTravel) pass(d time.Duration) {
	a.Helper()
	us := d.Microseconds()
	a.exec(fmt.Sprintf("UPDATE sessions SET created_at = created_at - %d, seen_at = seen_at - %d, token_expires_at = token_expires_at - %d, proofs = 'null'", us, us, us))
	a.exec(fmt.Sprintf("UPDATE session_uses SET used_at = used_at - %d", us))
	a.exec(fmt.Sprintf("UPDATE refresh_families SET rotated_at = rotated_at - %d, created_at = created_at - %d", us, us))
	rows, err := a.db.Query("SELECT id, granted FROM refresh_families")
	if err != nil {
		a.Fatal(err)
	}
	grants := map[string]string{}
	for rows.Next() {
		var id, text string
		if err := rows.Scan(&id, &text); err != nil {
			a.Fatal(err)
		}
		var grant map[string]any
		datatest.Unmarshal(a, []byte(text), &grant)
		at, err := time.Parse(time.RFC3339, fmt.Sprint(grant["authTime"]))
		if err != nil {
			a.Fatal(err)
		}
		grant["authTime"] = at.Add(-d)
		changed, _ := json.Marshal(grant)
		grants[id] = string(changed)
	}
	if err := rows.Close(); err != nil {
		a.Fatal(err)
	}
	update := map[string]string{"sqlite": "UPDATE refresh_families SET granted = ? WHERE id = ?", "postgres": "UPDATE refresh_families SET granted = $1 WHERE id = $2"}[a.driver]
	for id, text := range grants {
		if _, err := a.db.Exec(update, text, id); err != nil {
			a.Fatal(err)
		}
	}
}

// entersSilently reports whether the user gets into the application with the session of the browser.
func (p *party) entersSilently() bool {
	p.t.Helper()
	params := p.ask("prompt", "none").params
	if e := params.Get("error"); e != "" && e != "login_required" {
		p.t.Errorf("a silent sign-in fails with %s", e)
	}
	return params.Get("code") != ""
}

func (p *party) refreshes(token *string) bool {
	p.t.Helper()
	got, status := p.token(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {*token}})
	if status != http.StatusOK && got.Error != "invalid_grant" {
		p.t.Errorf("a refresh fails with %d %+v", status, got)
	}
	if status == http.StatusOK {
		*token = got.Refresh
	}
	return status == http.StatusOK
}

// signInTwice signs the user in to a client with limits and, in the same browser, to one without.
func signInTwice(t *testing.T, w *testApp, limit func(*schemas.Application)) (limited, other *party) {
	t.Helper()
	limited = leakyMetadata(t, w)
	limited.edit(limited.begin().Get("applicationId"), func(a *schemas.Application) {
		a.OAuth().Scopes = append(a.OAuth().Scopes, "offline_access")
		limit(a)
	})
	c := w.create(w.directory.Applications, `{"name":"Other","inboundAuthConfig":[{"type":"oauth2","config":{"clientId":"other",
		"grantTypes":["authorization_code","refresh_token"],"redirectUris":["`+rpRedirect+`"],"pkceRequired":false,"scopes":["openid"]}}]}`).Value.(*schemas.Application)
	one := *limited
	one.id, one.secret = c.ClientID, c.ClientSecret
	return limited, &one
}

func (p *party) signsIn(change ...string) tokens {
	p.t.Helper()
	got, status := p.redeem(p.code(p.ask(change...)))
	if status != http.StatusOK || got.Refresh == "" {
		p.t.Fatalf("%d %+v", status, got)
	}
	return *got
}

func expectLimit(t *testing.T, what string, got, want bool) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %t, expected %t", what, got, want)
	}
}

// The session lifetime of an application counts from the sign-in, whatever was used since, and ends its refresh tokens
// too, except those with offline_access. Other applications keep the session.
func TestSessionLifetimeOfAnApplication(t *testing.T) {
	onDatabases(t, func(t *testing.T, environ ...string) {
		w := createUsers(t, environ...)
		p, other := signInTwice(t, w, func(a *schemas.Application) { a.SessionLifetime = 3600 })
		clock := newTimeTravel(t, w)
		refresh, offline := p.signsIn("prompt", "login").Refresh, p.signsIn("scope", "openid offline_access").Refresh
		clock.pass(59 * time.Minute)
		expectLimit(t, "a silent sign-in within the lifetime", p.entersSilently(), true)
		expectLimit(t, "a refresh within the lifetime", p.refreshes(&refresh), true)
		clock.pass(2 * time.Minute)
		expectLimit(t, "a silent sign-in after the lifetime", p.entersSilently(), false)
		expectLimit(t, "a refresh after the lifetime", p.refreshes(&refresh), false)
		expectLimit(t, "a refresh with offline_access", p.refreshes(&offline), true)
		expectLimit(t, "a silent sign-in to another application", other.entersSilently(), true)
		p.signsIn("prompt", "login")
		expectLimit(t, "a silent sign-in after a new one", p.entersSilently(), true)
	})
}

// The idle timeout of an application counts from its own last use of the session: other applications do not prolong it.
func TestIdleTimeoutOfAnApplication(t *testing.T) {
	onDatabases(t, func(t *testing.T, environ ...string) {
		w := createUsers(t, environ...)
		p, other := signInTwice(t, w, func(a *schemas.Application) { a.SessionIdleTimeout = 600 })
		clock := newTimeTravel(t, w)
		p.signsIn("prompt", "login")
		for range 3 {
			clock.pass(9 * time.Minute)
			expectLimit(t, "a silent sign-in within the timeout", p.entersSilently(), true)
		}
		for range 2 {
			clock.pass(6 * time.Minute)
			expectLimit(t, "a silent sign-in to another application", other.entersSilently(), true)
		}
		expectLimit(t, "a silent sign-in after the timeout", p.entersSilently(), false)
		expectLimit(t, "another one", p.entersSilently(), false)
		refresh, offline := p.signsIn("prompt", "login").Refresh, p.signsIn("scope", "openid offline_access").Refresh
		for range 2 { // an access token lasts for an hour
			clock.pass(69 * time.Minute)
			expectLimit(t, "a refresh within the timeout", p.refreshes(&refresh), true)
		}
		clock.pass(71 * time.Minute)
		expectLimit(t, "a refresh after the timeout", p.refreshes(&refresh), false)
		expectLimit(t, "a refresh with offline_access", p.refreshes(&offline), true)
	})
}

// The idle timeout of the server ends the session of a browser for all applications and for the account page. A use
// of any of them prolongs it.
func TestIdleTimeoutOfTheServer(t *testing.T) {
	onDatabases(t, func(t *testing.T, environ ...string) {
		w := createUsers(t, append(environ, "POSTERN_TOKEN_SESSION_IDLE_TIMEOUT=15m")...)
		p, other := signInTwice(t, w, func(a *schemas.Application) { a.SessionIdleTimeout = 0 })
		clock := newTimeTravel(t, w)
		refresh := p.signsIn("prompt", "login").Refresh
		for range 3 {
			clock.pass(14 * time.Minute)
			expectLimit(t, "a silent sign-in to one of two applications", other.entersSilently(), true)
		}
		expectLimit(t, "the session on the account page", p.showsAccount(), true)
		expectLimit(t, "a refresh within the timeout", p.refreshes(&refresh), true)
		clock.pass(15 * time.Minute)
		expectLimit(t, "the session on the account page after the timeout", p.showsAccount(), false)
		expectLimit(t, "a silent sign-in after the timeout", other.entersSilently(), false)
		expectLimit(t, "another one", p.entersSilently(), false)
		clock.pass(time.Hour)
		expectLimit(t, "a refresh after the timeout", p.refreshes(&refresh), false)
		p.signsIn()
		expectLimit(t, "a silent sign-in after a new one", other.entersSilently(), true)
	})
}

// showsAccount reports whether the session of the browser authenticates a request of the hosted pages.
func (p *party) showsAccount() bool {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, p.at("/users/me"), nil)
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Postern-Session", "1")
	rec, err := p.http.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer rec.Body.Close()
	var refused struct{ Code string }
	_ = json.NewDecoder(rec.Body).Decode(&refused)
	return refused.Code != "no_session"
}
