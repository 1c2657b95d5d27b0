package main

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/schemas"
)

// Changes during a sign-in.

// halfwayRun is a party whose user has answered every step but the password, and its
// authorization request.
func halfwayRun(t *testing.T, newParty parties) (p *party, gate url.Values) {
	p = newParty(t)
	gate = p.begin()
	p.step(map[string]any{"executionId": gate.Get("executionId"), "action": "password"})
	return p, gate
}

// ends finishes the sign-in, which must not yield a code.
func (p *party) ends(what string, gate url.Values) {
	p.t.Helper()
	_, said := p.postJSON("/flow/execute", map[string]any{"executionId": gate.Get("executionId"), "action": "continue",
		"inputs": map[string]string{"username": "pat", "password": rpPassword}})
	to := p.returnToClient(gate.Get("authId"))
	if strings.Contains(said, "code=") || strings.Contains(to, "code=") || strings.Contains(said, `"assertion"`) {
		p.t.Errorf("%s: %s, and then %s", what, said, to)
	}
}

// pat is the user's id.
func (p *party) pat() string {
	p.t.Helper()
	u, err := p.store.UserByAttribute(p.t.Context(), "", "username", "pat")
	if err != nil {
		p.t.Fatal(err)
	}
	return u.ID
}

// deletedMeanwhile deletes a dependency of a sign-in between two of its steps, and between
// the last step and the use of the code.
func deletedMeanwhile(t *testing.T) {
	for name, remove := range map[string]func(p *party, gate url.Values){
		"the application": func(p *party, gate url.Values) { p.remove(p.directory.Applications, gate.Get("applicationId")) },
		"the user":        func(p *party, _ url.Values) { p.remove(p.directory.Users, p.pat()) },
	} {
		t.Run(name, func(t *testing.T) {
			p, gate := halfwayRun(t, newParties(t, "query"))
			remove(p, gate)
			p.ends("deleted in mid-run", gate)
		})
		t.Run(name+", after the sign-in", func(t *testing.T) {
			p := newParties(t, "query")(t)
			gate := p.begin()
			back := p.signIn(gate)
			remove(p, gate)
			reply, _ := p.visit(back)
			p.rejectsToken(p.location(reply).Query().Get("code"))
		})
		t.Run(name+", before the code is used", func(t *testing.T) {
			p := newParties(t, "query")(t)
			gate := p.begin()
			code := p.code(p.follow(p.visit(p.signIn(gate))))
			remove(p, gate)
			p.rejectsToken(code)
		})
	}
}

// rejectsToken makes sure that a code, if there is one, yields no tokens.
func (p *party) rejectsToken(code string) {
	p.t.Helper()
	if code == "" {
		return
	}
	if got, status := p.redeem(code); status < 400 || got.Access != "" {
		p.t.Errorf("the code gives %d %+v", status, got)
	}
}

// edit changes an application as an administrator does.
func (p *party) edit(id string, change func(*schemas.Application)) {
	p.t.Helper()
	item, err := p.directory.Applications.Get(p.t.Context(), directory.SystemCall(), id)
	if err != nil {
		p.t.Fatal(err)
	}
	app := *item.Value.(*schemas.Application)
	change(&app)
	p.replace(p.directory.Applications, id, app)
}

// switchedOffMeanwhile removes permissions of a client or a user between the steps.
func switchedOffMeanwhile(t *testing.T) {
	for name, change := range map[string]func(*schemas.Application){
		"its users":        func(a *schemas.Application) { a.AllowedUserTypes = []string{"Robot"} },
		"its redirect URI": func(a *schemas.Application) { a.OAuth().RedirectURIs = []string{"https://rp.example.com/other"} },
		"the code, by a grant": func(a *schemas.Application) {
			o := a.OAuth()
			o.GrantTypes, o.ResponseTypes = []string{"client_credentials"}, []string{}
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newParties(t, "query")(t)
			p.create(p.directory.UserTypes, `{"name":"Robot","schema":{"type":"object"}}`)
			gate := p.begin()
			p.step(map[string]any{"executionId": gate.Get("executionId"), "action": "password"})
			p.edit(gate.Get("applicationId"), change)
			p.postJSON("/flow/execute", map[string]any{"executionId": gate.Get("executionId"), "action": "continue",
				"inputs": map[string]string{"username": "pat", "password": rpPassword}})
			reply, _ := p.visit(p.at("/oauth2/auth/callback?authId=" + gate.Get("authId")))
			p.rejectsToken(p.location(reply).Query().Get("code"))
		})
	}
}

// clientDeletedMeanwhile deletes a client that registered itself.
func clientDeletedMeanwhile(t *testing.T) {
	r := newRegistrars(t)
	p := r.party(t)
	gate := p.begin()
	p.step(map[string]any{"executionId": gate.Get("executionId"), "action": "password"})
	p.remove(p.directory.Applications, gate.Get("applicationId"))
	p.ends("deleted in mid-run", gate)

	p = r.party(t)
	got, _, _ := p.signInAndVerify("scope", "openid offline_access", "prompt", "consent")
	app, err := p.directory.Client(t.Context(), p.id)
	if err != nil {
		t.Fatal(err)
	}
	p.remove(p.directory.Applications, app.ID)
	if reported, status := p.token(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {got.Refresh}}); status != http.StatusUnauthorized || reported.Access != "" {
		t.Errorf("its refresh token: %d %+v", status, reported)
	}
	if rec := p.call(http.MethodGet, "/oauth2/userinfo", got.Access, ""); rec.Code != http.StatusUnauthorized {
		t.Errorf("its access token: %d %s", rec.Code, rec.Body)
	}
}

// flowChangedMeanwhile replaces the flow of a run. The run continues with its original
// version: answers for the new version do not advance it, nor does a step of the same name
// with fewer requirements.
func flowChangedMeanwhile(t *testing.T) {
	p := newParties(t, "query")(t)
	const key = `{"id":"key","use":"passkey-authenticate","with":{"mode":"identified"},"next":{"success":"done","failure":"who"}},`
	const flow = `{"handle":"mine","name":"Mine","flowType":"AUTHENTICATION","nodes":[
		{"id":"who","use":"prompt","with":{"inputs":[{"identifier":"username","type":"TEXT_INPUT","required":true},{"identifier":"password","type":"PASSWORD_INPUT","required":true}],"actions":[{"ref":"go","label":"Go"}]},"next":"find"},
		{"id":"find","use":"user-resolve","with":{"by":["username"],"from":"username"},"next":{"found":"check","missing":"who"}},
		{"id":"check","use":"password-authenticate","next":{"success":"key","failure":"who"}},` + key + `
		{"id":"done","use":"authorization-code"}]}`
	made := p.create(p.directory.Flows, flow)
	gate := p.begin()
	p.edit(gate.Get("applicationId"), func(a *schemas.Application) { a.AuthFlowID = made.ID })
	gate = p.begin()
	answer := map[string]any{"executionId": gate.Get("executionId"), "action": "go", "inputs": map[string]string{"username": "pat", "password": rpPassword}}
	first := p.step(answer)
	p.replace(p.directory.Flows, made.ID, json.RawMessage(strings.NewReplacer(key, "", `"success":"key"`, `"success":"done"`).Replace(flow)))
	for range 2 {
		status, said := p.postJSON("/flow/execute", answer)
		if throughEndpoint(status, said) {
			t.Errorf("after %+v: %d %s", first, status, said)
		}
	}
	p.ends("by the weaker flow", gate)
}
