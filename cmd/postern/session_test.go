package main

import (
	"context"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/schemas"
)

// Each way to sign in starts a session, and ending it invalidates its assertion, on either
// database.
func TestSessions(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, w *testApp) {
		w.enrol("ada")
		byFlow := w.authenticate(w.start(schemas.Authentication)).Assertion
		byCeremony := w.finishPasskey(w.startPasskey())
		for _, assertion := range []string{byFlow, byCeremony} {
			w.checkSession(assertion)
		}
	})
}

// checkSession ends the session of an assertion.
func (w *testApp) checkSession(assertion string) {
	w.t.Helper()
	ctx := w.t.Context()
	claims := w.claimsOf(assertion)
	sessions, err := store.SessionsOf(ctx, w.store, claims.Subject, time.Now())
	if err != nil {
		w.t.Fatal(err)
	}
	at := slices.IndexFunc(sessions, func(s schemas.Session) bool { return s.ID == claims.Session })
	if at < 0 {
		w.t.Fatalf("no session %q among %+v", claims.Session, sessions)
	}
	s := sessions[at]
	if s.Client != "rig" || !slices.Equal(s.AMR, claims.AMR) || s.ACR != claims.ACR || s.ExpiresAt.Sub(claims.Expires).Abs() > 2*time.Second {
		w.t.Errorf("the session %+v is not that of %+v", s, claims)
	}
	w.apply(schemas.EndSession{ID: s.ID})
	if _, err := w.tokens.Verify(ctx, assertion, w.cfg.Server.PublicURL); !schemas.HasCode(err, "invalid_token") {
		w.t.Errorf("the session has ended, and its assertion: %v", err)
	}
}

// A token of an unknown client is rejected, and so is a token that was revoked
// individually.
func TestRevokedTokens(t *testing.T) {
	w := newTestApp(t)
	ctx := t.Context()
	console, err := w.store.ApplicationByClientID(ctx, "CONSOLE")
	if err != nil {
		t.Fatal(err)
	}
	issue := func(client string) (string, *token.Claims) {
		raw, err := w.tokens.Access(ctx, token.Claims{Subject: "x", ClientID: client, Generation: console.TokenGeneration, Audience: []string{w.cfg.Server.PublicURL}})
		if err != nil {
			t.Fatal(err)
		}
		claims, err := w.tokens.Verify(ctx, raw, w.cfg.Server.PublicURL)
		if (err == nil) != (client == "CONSOLE") {
			t.Fatalf("a token of %s: %v", client, err)
		}
		return raw, claims
	}
	issue("nobody")
	raw, claims := issue("CONSOLE")
	w.apply(schemas.RevokeToken{ID: claims.ID, ExpiresAt: claims.Expires})
	if _, err := w.tokens.Verify(ctx, raw, w.cfg.Server.PublicURL); !schemas.HasCode(err, "invalid_token") {
		t.Errorf("a revoked token: %v", err)
	}
}

// A former administrator cannot continue with an earlier token, and neither can a client.
func TestRemovedPermissionsTakeEffectAtOnce(t *testing.T) {
	w := newTestApp(t)
	w.enrol("ada")
	claims := w.claimsOf(w.authenticate(w.start(schemas.Authentication)).Assertion)
	robot, user := w.client("openid"), schemas.Principal{Type: schemas.UserPrincipal, ID: claims.Subject}
	role := w.create(w.directory.Roles, `{"name":"Reader","permissions":["system:users:read"]}`).ID
	assign := func(change func(context.Context, directory.Call, string, schemas.Principal) (*directory.Item, error)) {
		for _, p := range []schemas.Principal{user, {Type: schemas.ApplicationPrincipal, ID: robot.ID}} {
			if _, err := change(t.Context(), directory.SystemCall(), role, p); err != nil {
				t.Fatal(err)
			}
		}
	}
	assign(w.directory.Assign)
	reply := w.askToken(robot.ClientID, robot.ClientSecret, "&scope=system:users:read")
	var given struct {
		Token string `json:"access_token"`
	}
	datatest.Unmarshal(t, reply.Body.Bytes(), &given)
	tokens := map[string]string{"a user": w.finishPasskey(w.startPasskey()), "a client": given.Token}
	for _, want := range []int{200, 403} {
		for whose, token := range tokens {
			if got := w.get("/users", token); got != want {
				t.Errorf("the token of %s: %d, expected %d", whose, got, want)
			}
		}
		if want == 200 {
			assign(w.directory.Unassign)
		}
	}
}

// A rejected step signs no user in and leaves no session.
func TestSessionRequiresACommittedRun(t *testing.T) {
	w := newTestApp(t)
	w.enrol("ada")
	s := w.start(schemas.Authentication)
	inputs := w.assertion(s)
	first := w.answer(s, "", inputs)
	claims := w.claimsOf(first.Assertion)
	body := datatest.Marshal(t, map[string]any{"executionId": s.ExecutionID, "inputs": inputs})
	again := w.exchange(http.MethodPost, "/flow/execute", string(body), jsonBody)
	sessions, err := store.SessionsOf(t.Context(), w.store, claims.Subject, time.Now())
	// One session is of the sign-up, one of the sign-in.
	if again.Code == http.StatusOK || err != nil || len(sessions) != 2 {
		t.Errorf("an answer given twice: %d, and %d sessions, %v", again.Code, len(sessions), err)
	}
}
