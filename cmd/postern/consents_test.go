package main

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/bootstrap"
	"github.com/postern-id/postern/schemas"
)

// consentingUser is a client with the user's consent, and its tokens.
type consentingUser struct {
	*party
	application string
	tokens      *tokens
}

func newConsentingUser(t *testing.T, p *party) *consentingUser {
	t.Helper()
	a := &consentingUser{party: p, application: p.begin().Get("applicationId")}
	a.tokens, _, _ = p.signInAndVerify("prompt", "consent", "scope", "openid email offline_access")
	if a.tokens.Refresh == "" {
		t.Fatalf("there is no refresh token: %+v", a.tokens)
	}
	return a
}

// tokenIsActive reports whether the client's tokens are valid: all of them, or none.
func (a *consentingUser) tokenIsActive() bool {
	a.t.Helper()
	access := a.get("/oauth2/userinfo", a.tokens.Access) == http.StatusOK
	got, status := a.token(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {a.tokens.Refresh}})
	if status == http.StatusOK {
		a.tokens = got
	} else if got.Error != "invalid_grant" {
		a.t.Errorf("refreshing: %d %+v", status, got)
	}
	if refreshed := status == http.StatusOK; access != refreshed {
		a.t.Errorf("the access token counts: %v, the refresh token: %v", access, refreshed)
	}
	return access
}

// who is a token of a user with permissions, as a sign-in issues it.
func (a *consentingUser) who(userID string, permissions ...string) string {
	a.t.Helper()
	raw, err := a.testApp.tokens.Assert(a.t.Context(), schemas.Assertion{Subject: userID, Audience: []string{a.cfg.Server.PublicURL}, Permissions: permissions})
	if err != nil {
		a.t.Fatal(err)
	}
	return raw
}

// account is the assertion of the account page for a user who has just signed in.
func (a *consentingUser) account(userID string) string {
	a.t.Helper()
	console, err := a.store.Application(a.t.Context(), bootstrap.ConsoleID)
	if err != nil {
		a.t.Fatal(err)
	}
	raw, err := a.testApp.tokens.Assert(a.t.Context(), schemas.Assertion{
		Subject: userID, Audience: []string{bootstrap.ConsoleID, a.cfg.Server.PublicURL}, AuthTime: time.Now(), Generation: console.TokenGeneration,
	})
	if err != nil {
		a.t.Fatal(err)
	}
	return raw
}

// bare sends a request without a body, and returns the status and the code of an error.
func (w *testApp) bare(method, path, token string) (status int, code, said string) {
	rec := w.exchange(method, path, "", bearer(token))
	var failure struct{ Code string }
	if rec.Code >= http.StatusBadRequest && json.Unmarshal(rec.Body.Bytes(), &failure) != nil {
		w.t.Errorf("%s %s: %s", method, path, rec.Body)
	}
	return rec.Code, failure.Code, rec.Body.String()
}

// Users list and revoke their own consents, and administrators of users do it for them. A
// revocation ends every token that depends on the consent, and no other.
func TestConsentsOverHTTP(t *testing.T) {
	newParty := newParties(t, "query")
	mine, theirs := newConsentingUser(t, newParty(t)), newConsentingUser(t, newParty(t, schemas.AuthMethodPost))
	user := func(name string) string {
		return mine.create(mine.directory.Users, `{"type":"Person","attributes":{"username":"`+name+`"}}`).ID
	}
	pat, desk, other := mine.pat(), user("desk"), user("other")
	mine.create(mine.directory.Roles, `{"name":"Help desk","permissions":["system:users:read","system:users:write"],"assignments":[{"type":"user","id":"`+desk+`"}]}`)
	own, nobody := mine.account(pat), schemas.NewID()
	reader, writer := mine.who(desk, "system:users:read"), mine.who(desk, "system:users:write")
	me, of := "/users/me/consents", "/users/"+pat+"/consents"
	for name, test := range map[string]struct {
		request, token string
		status         int
		code           string
	}{
		"one's own":                     {"GET " + me, own, 200, ""},
		"of a user, to see":             {"GET " + of, reader, 200, ""},
		"without a token":               {"GET " + me, "", 401, "unauthorized"},
		"of a user, without a token":    {"GET " + of, "", 401, "unauthorized"},
		"one's own, by the long way":    {"GET " + of, own, 403, schemas.CodeForbidden},
		"of an unknown user":            {"GET /users/" + nobody + "/consents", reader, 404, schemas.CodeUserNotFound},
		"revoked without a token":       {"DELETE " + me + "/" + mine.application, "", 401, "unauthorized"},
		"revoked by another":            {"DELETE " + of + "/" + mine.application, mine.who(other), 403, schemas.CodeForbidden},
		"revoked by who may see it":     {"DELETE " + of + "/" + mine.application, reader, 403, schemas.CodeForbidden},
		"another's own":                 {"DELETE " + me + "/" + mine.application, mine.account(other), 404, "consent_not_found"},
		"revoked, without a token":      {"DELETE " + me + "/" + nobody, own, 404, "consent_not_found"},
		"revoked for an unknown user":   {"DELETE /users/" + nobody + "/consents/" + mine.application, writer, 404, schemas.CodeUserNotFound},
		"revoked by a client's token":   {"DELETE " + me + "/" + mine.application, mine.tokens.Access, 401, "invalid_token"},
		"seen with a client's token":    {"GET " + of, mine.tokens.Access, 401, "invalid_token"},
		"revoked with a client's token": {"DELETE " + of + "/" + theirs.application, mine.tokens.Access, 401, "invalid_token"},
	} {
		t.Run(name, func(t *testing.T) {
			method, path, _ := strings.Cut(test.request, " ")
			if status, code, said := mine.bare(method, path, test.token); status != test.status || code != test.code {
				t.Errorf("%d %s, want %d %s", status, said, test.status, test.code)
			}
		})
	}
	mine.listConsents(me, own, mine, theirs)
	for _, a := range []*consentingUser{mine, theirs} {
		if !a.tokenIsActive() {
			t.Error("a refusal cost a client its tokens")
		}
	}
	mine.revokeConsent(me, own)
	if !theirs.tokenIsActive() {
		t.Error("another client's tokens went with it")
	}
	mine.listConsents(of, reader, theirs)
	theirs.revokeConsent(of, writer)
	mine.listConsents(me, own)
}

// listConsents makes sure that a list contains the clients and their permissions.
func (a *consentingUser) listConsents(path, token string, clients ...*consentingUser) {
	a.t.Helper()
	var list struct {
		TotalResults int
		Consents     []struct {
			ApplicationID string
			Name          string
			Unverified    bool
			Scopes        []struct{ Scope, Text string }
		}
	}
	status, _, said := a.bare(http.MethodGet, path, token)
	if err := json.Unmarshal([]byte(said), &list); err != nil || status != http.StatusOK || list.TotalResults != len(clients) || len(list.Consents) != len(clients) {
		a.t.Fatalf("%d %s, %v; want %d", status, said, err, len(clients))
	}
	for _, c := range clients {
		if !strings.Contains(said, `"applicationId":"`+c.application+`"`) {
			a.t.Errorf("%s is missing in %s", c.application, said)
		}
	}
	for _, c := range list.Consents {
		if c.Unverified || !strings.HasPrefix(c.Name, "Conformance ") || len(c.Scopes) == 0 {
			a.t.Errorf("%+v", c)
		}
		for _, scope := range c.Scopes {
			if scope.Text == "" || scope.Text == scope.Scope {
				a.t.Errorf("the scope %q has no words", scope.Scope)
			}
		}
	}
}

// revokeConsent revokes the consent, which works once and ends the tokens.
func (a *consentingUser) revokeConsent(path, token string) {
	a.t.Helper()
	if status, _, said := a.bare(http.MethodDelete, path+"/"+a.application, token); status != http.StatusNoContent || said != "" {
		a.t.Fatalf("%d %s", status, said)
	}
	if a.tokenIsActive() {
		a.t.Error("the tokens outlive what they rest on")
	}
	if status, code, _ := a.bare(http.MethodDelete, path+"/"+a.application, token); status != http.StatusNotFound || code != "consent_not_found" {
		a.t.Errorf("once more: %d %s", status, code)
	}
}
