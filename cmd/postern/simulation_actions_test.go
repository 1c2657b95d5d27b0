package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/schemas"
)

// What users, the relying party and the administrator of the simulation do. Each function sends
// requests, and records the replies in the history of the user.

const simCallback = "https://rp.example.com/callback"

func simPassword(n int) string { return fmt.Sprintf("violet harbour lantern %d", n) }

func (w *world) authorizeURL(more ...string) string {
	q := url.Values{"client_id": {w.id}, "redirect_uri": {simCallback}, "response_type": {"code"}, "scope": {"openid system:users:read"}}
	for i := 0; i < len(more); i += 2 {
		q.Set(more[i], more[i+1])
	}
	return w.cfg.Server.PublicURL + "/oauth2/authorize?" + q.Encode()
}

func locationOf(r simReply) *url.URL {
	to, err := url.Parse(r.header.Get("Location"))
	if err != nil {
		return &url.URL{}
	}
	return to
}

// beginSignIn answers the steps of a sign-in before the last one, and returns the body of the last
// answer; nil if a reply is lost.
func (w *world) beginSignIn(ctx context.Context, u *simUser) map[string]any {
	got := w.browse(ctx, u, w.authorizeURL("prompt", "login"), nil)
	if got.isUnknown() {
		return nil
	}
	id := locationOf(got).Query().Get("executionId")
	if id == "" {
		w.fail("%s: a sign-in begins with %d to %s", u.name, got.status, locationOf(got).Redacted())
		return nil
	}
	first := w.step(ctx, u, map[string]any{"executionId": id})
	if first == nil {
		return nil
	}
	if u.device != nil {
		a, err := u.device.Authenticate(json.RawMessage(first.Data.AdditionalData["passkeyChallenge"]), w.cfg.Server.PublicURL)
		if err != nil {
			w.fail("%s: the passkey step: %v", u.name, err)
			return nil
		}
		return map[string]any{"executionId": id, "challengeToken": first.ChallengeToken, "inputs": map[string]string{"credentialId": a.ID,
			"clientDataJSON": a.ClientDataJSON, "authenticatorData": a.AuthenticatorData, "signature": a.Signature, "userHandle": a.UserHandle}}
	}
	second := w.step(ctx, u, map[string]any{"executionId": id, "challengeToken": first.ChallengeToken, "action": "password"})
	if second == nil {
		return nil
	}
	return map[string]any{"executionId": id, "challengeToken": second.ChallengeToken, "action": "continue",
		"inputs": map[string]string{"username": u.name, "password": simPassword(u.password)}}
}

// step answers a step of a run; nil if that fails.
func (w *world) step(ctx context.Context, u *simUser, body map[string]any) *schemas.Step {
	got := w.browse(ctx, u, w.cfg.Server.PublicURL+"/flow/execute", body)
	if got.isUnknown() || got.status != http.StatusOK {
		return nil
	}
	s := decode[schemas.Step](w, got.body)
	return &s
}

// finishSignIn gives the last answer of a sign-in, and follows the redirect.
func (w *world) finishSignIn(ctx context.Context, u *simUser, answer map[string]any, run int, strict bool) *simGrant {
	if answer == nil {
		return nil
	}
	sent, session, to := u.password, w.number(), ""
	if u.device != nil {
		sent = 0
	}
	c := w.record(u, act{Kind: "sign-in", Session: session, Run: run, N: sent, Strict: strict}, func(c *act) {
		got := w.browse(ctx, u, w.cfg.Server.PublicURL+"/flow/execute", answer)
		if c.Result = resultOf(got, http.StatusOK); c.Result != done {
			return
		}
		s := decode[schemas.Step](w, got.body)
		if to = s.Data.RedirectURL; s.FlowStatus != schemas.Complete {
			c.Result = refused
		}
	})
	w.ledger.count("user.signed_in", c.Result)
	if c.Result != done {
		return nil
	}
	return w.follow(ctx, u, session, to)
}

// follow requests the address that a run ends with. A user who receives no reply requests it again.
func (w *world) follow(ctx context.Context, u *simUser, session int, to string) *simGrant {
	for range 2 {
		g := &simGrant{number: w.number(), session: session}
		c := w.record(u, act{Kind: "callback", Session: session, Grant: g.number}, func(c *act) {
			got := w.browse(ctx, u, to, nil)
			if c.Result = resultOf(got, http.StatusFound, http.StatusSeeOther); c.Result == done {
				if g.code = locationOf(got).Query().Get("code"); g.code == "" {
					c.Result = refused
				}
			}
		})
		if c.Result == done {
			u.session = session
			u.grants = append(u.grants, g)
			return g
		}
		if c.Result == refused || w.process.Crashed() {
			return nil
		}
	}
	return nil
}

// signInOnce is a whole sign-in.
func (w *world) signInOnce(ctx context.Context, u *simUser, strict bool) *simGrant {
	return w.finishSignIn(ctx, u, w.beginSignIn(ctx, u), w.number(), strict)
}

// silently requests a code without a page.
func (w *world) silently(ctx context.Context, u *simUser) *simGrant {
	g := &simGrant{number: w.number(), session: u.session}
	c := w.record(u, act{Kind: "silent", Session: g.session, Grant: g.number}, func(c *act) {
		got := w.browse(ctx, u, w.authorizeURL("prompt", "none"), nil)
		if c.Result = resultOf(got, http.StatusFound, http.StatusSeeOther); c.Result == done {
			if g.code = locationOf(got).Query().Get("code"); g.code == "" {
				c.Result = refused
			}
		}
	})
	w.ledger.count("user.signed_in", c.Result)
	if c.Result != done {
		return nil
	}
	u.grants = append(u.grants, g)
	return g
}

// redeemCode redeems a code.
func (w *world) redeemCode(ctx context.Context, u *simUser, g *simGrant) {
	c := act{Kind: "redeem", Grant: g.number, Token: w.number()}
	c = w.record(u, c, func(c *act) {
		got := w.asClient(ctx, "/oauth2/token", url.Values{"grant_type": {"authorization_code"}, "code": {g.code}, "redirect_uri": {simCallback}})
		w.keep(c, g, got)
	})
	w.ledger.count("token.issued", c.Result)
}

// keep stores the tokens of a reply.
func (w *world) keep(c *act, g *simGrant, got simReply) {
	if c.Result = resultOf(got, http.StatusOK); c.Result != done {
		return
	}
	body := decode[struct {
		tokens
		Scope string `json:"scope"`
	}](w, got.body)
	c.Scoped = strings.Contains(body.Scope, "system:users:read")
	g.access = append(g.access, simToken{c.Token, body.Access})
	if body.ID != "" {
		g.id = body.ID
	}
	n := c.Got
	if c.Kind == "refresh" {
		n = c.N + 1
	}
	for len(g.refresh) <= n {
		g.refresh = append(g.refresh, "")
	}
	if known := g.refresh[n]; known != "" && known != body.Refresh {
		w.fail("generation %d of a refresh token has two texts", n)
	}
	g.refresh[n] = body.Refresh
}

// refreshTokens uses a refresh token: the newest that is known, or an older one.
func (w *world) refreshTokens(ctx context.Context, u *simUser, g *simGrant, age int) {
	n := len(g.refresh) - 1 - age
	if n < 0 || g.refresh[n] == "" {
		return
	}
	w.record(u, act{Kind: "refresh", Grant: g.number, Token: w.number(), N: n}, func(c *act) {
		w.keep(c, g, w.asClient(ctx, "/oauth2/token", url.Values{"grant_type": {"refresh_token"}, "refresh_token": {g.refresh[n]}}))
	})
}

// bearer sends a request with a token.
func (w *world) bearer(ctx context.Context, method, path, token, body string) simReply {
	headers := []string{bearer(token)}
	if body != "" {
		headers = append(headers, jsonBody)
	}
	return w.send(ctx, newRequest(method, w.cfg.Server.PublicURL+path, body, headers...))
}

// useToken uses an access token at userinfo.
func (w *world) useToken(ctx context.Context, u *simUser, g *simGrant, t simToken) {
	w.record(u, act{Kind: "use", Grant: g.number, Token: t.number}, func(c *act) {
		c.Result = resultOf(w.bearer(ctx, http.MethodGet, "/oauth2/userinfo", t.text, ""), http.StatusOK)
	})
}

// usePermission uses an access token at the API.
func (w *world) usePermission(ctx context.Context, u *simUser, g *simGrant, t simToken) act {
	return w.record(u, act{Kind: "list", Grant: g.number, Token: t.number}, func(c *act) {
		got := w.bearer(ctx, http.MethodGet, "/users?limit=1", t.text, "")
		if c.Result = resultOf(got, http.StatusOK); c.Result == refused && got.status == http.StatusForbidden {
			c.Result = forbidden
		}
	})
}

func (w *world) introspectToken(ctx context.Context, u *simUser, g *simGrant) {
	n := len(g.refresh) - 1
	if n < 0 || g.refresh[n] == "" {
		return
	}
	w.record(u, act{Kind: "introspect", Grant: g.number, N: n}, func(c *act) {
		got := w.asClient(ctx, "/oauth2/introspect", url.Values{"token": {g.refresh[n]}})
		if c.Result = resultOf(got, http.StatusOK); c.Result == done && !strings.Contains(string(got.body), `"active":true`) {
			c.Result = refused
		}
	})
}

func (w *world) revokeRefresh(ctx context.Context, u *simUser, g *simGrant) {
	if n := len(g.refresh) - 1; n >= 0 && g.refresh[n] != "" {
		w.record(u, act{Kind: "revoke", Grant: g.number}, func(c *act) {
			c.Result = resultOf(w.asClient(ctx, "/oauth2/revoke", url.Values{"token": {g.refresh[n]}}), http.StatusOK)
		})
	}
}

func (w *world) revokeAccess(ctx context.Context, u *simUser, g *simGrant, t simToken) {
	w.record(u, act{Kind: "revoke-access", Grant: g.number, Token: t.number}, func(c *act) {
		c.Result = resultOf(w.asClient(ctx, "/oauth2/revoke", url.Values{"token": {t.text}}), http.StatusOK)
	})
}

// signOut ends the session of the browser with the ID token of a grant in it.
func (w *world) signOut(ctx context.Context, u *simUser) {
	for _, g := range u.grants {
		if g.session != u.session || g.id == "" {
			continue
		}
		w.record(u, act{Kind: "logout", Session: u.session}, func(c *act) {
			got := w.browse(ctx, u, w.cfg.Server.PublicURL+"/oauth2/logout?id_token_hint="+g.id, nil)
			if c.Result = resultOf(got, http.StatusFound, http.StatusSeeOther); c.Result == done && !strings.Contains(locationOf(got).Path, "signedout") {
				c.Result = refused
			}
		})
		return
	}
}

// adminToken issues a token to the administrator, outside the history.
func (w *world) adminToken() string {
	token, err := w.app.issueToken(context.Background(), "", []string{"system"}, time.Hour)
	if err != nil {
		return ""
	}
	return token
}

// asAdmin sends a request of the administrator.
func (w *world) asAdmin(ctx context.Context, method, path, body string) simReply {
	token := w.adminToken()
	if token == "" {
		return simReply{lost: true}
	}
	return w.bearer(ctx, method, path, token, body)
}

// putUser replaces a user: with a new password, or disabled.
func (w *world) putUser(ctx context.Context, u *simUser, password, disable bool) {
	c := act{Kind: "put", Off: disable}
	attributes := map[string]string{"username": u.name}
	if password && u.device == nil {
		c.N = w.number()
		attributes["password"] = simPassword(c.N)
	}
	body := map[string]any{"type": "Person", "attributes": attributes}
	if disable {
		body["status"] = schemas.UserDisabled
	}
	text := datatest.Marshal(w.t, body)
	w.record(u, c, func(c *act) {
		got := w.asAdmin(ctx, http.MethodPut, "/users/"+u.id, string(text))
		if c.Result = resultOf(got, http.StatusOK); c.Result == refused {
			w.fail("PUT of a user: %d %s", got.status, got.body)
		}
	})
	if c.N != 0 {
		u.password = c.N
	}
}

func (w *world) endAllSessions(ctx context.Context, u *simUser) {
	w.record(u, act{Kind: "end-sessions"}, func(c *act) {
		c.Result = resultOf(w.asAdmin(ctx, http.MethodDelete, "/users/"+u.id+"/sessions", ""), http.StatusNoContent, http.StatusOK)
	})
}

// assignRole gives the user the permission, or takes it.
func (w *world) assignRole(ctx context.Context, u *simUser, off bool) {
	method := http.MethodPut
	if off {
		method = http.MethodDelete
	}
	w.record(u, act{Kind: "assign", Off: off}, func(c *act) {
		got := w.asAdmin(ctx, method, "/roles/"+w.role+"/assignments/user/"+u.id, "")
		if c.Result = resultOf(got, http.StatusOK); c.Result == refused {
			w.fail("%s of an assignment: %d %s", method, got.status, got.body)
		}
	})
}

// newGeneration revokes all tokens of the client, with a new secret or without.
func (w *world) newGeneration(ctx context.Context, secret bool) {
	path, body, next := "/revoke-tokens", "", 0
	if secret {
		path, body, next = "/client-secret", `{"revokeTokens":true}`, w.number()
	}
	w.onEveryone(act{Kind: "new-generation", N: next}, func() string {
		got := w.asAdmin(ctx, http.MethodPost, "/applications/"+w.appID+path, body)
		result := resultOf(got, http.StatusOK, http.StatusNoContent)
		if secret && result == done {
			body := decode[struct {
				ClientSecret string `json:"clientSecret"`
			}](w, got.body)
			w.secret, w.client.password, w.doubt = body.ClientSecret, next, false
		}
		if secret && result == unknown {
			w.doubt = true
		}
		return result
	})
}

// onEveryone records one request in the histories of all users and of the client.
func (w *world) onEveryone(c act, do func() string) {
	w.record(w.client, c, func(c *act) {
		c.Result = do()
	})
	call := w.client.calls[len(w.client.calls)-1]
	call.Of.N = 0
	for _, u := range w.users {
		u.calls = append(u.calls, call)
	}
}
