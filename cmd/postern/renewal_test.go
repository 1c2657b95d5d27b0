package main

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/schemas"
)

// passwordAgain signs in with a passkey and, with a session, asks for the password.
const passwordAgain = `{"handle":"again","name":"Again","flowType":"AUTHENTICATION","nodes":[
	{"id":"session","use":"session-check","next":{"active":"ask","none":"key"}},
	{"id":"key","use":"passkey-authenticate","next":"done"},
	{"id":"ask","use":"prompt","with":{"inputs":[{"identifier":"password","type":"PASSWORD_INPUT","required":true,"autocomplete":"current-password"}],"actions":[{"ref":"go"}]},"next":"check"},
	{"id":"check","use":"password-authenticate","next":{"success":"done","failure":"ask"}},
	{"id":"done","use":"authorization-code"}]}`

// signInAgain signs in at the party, with the passkey or the password that the flow asks for, and
// returns the claims of the ID token.
func (p *party) signInAgain(password string, change ...string) (acr string, at time.Time, amr []string) {
	p.t.Helper()
	reply, _ := p.visit(p.at("/oauth2/authorize?" + p.request(change...).Encode()))
	id := p.location(reply).Query().Get("executionId")
	asked := p.step(map[string]any{"executionId": id})
	answer := map[string]any{"executionId": id, "challengeToken": asked.ChallengeToken}
	if asked.StepID == "key" {
		answer["inputs"] = p.assertion(asked)
	} else {
		answer["action"], answer["inputs"] = "go", map[string]string{"password": password}
	}
	done := p.step(answer)
	if done.FlowStatus != schemas.Complete {
		p.t.Fatalf("%+v", done)
	}
	got, status := p.redeem(p.code(p.follow(p.visit(done.Data.RedirectURL))))
	if status != http.StatusOK {
		p.t.Fatalf("%d %+v", status, got)
	}
	_, claims := p.verify(got)
	return claims.ACR, time.Unix(claims.AuthTime, 0), claims.AMR
}

// A password does not renew the passkey of an earlier session: auth_time is that of the class.
func TestPasswordDoesNotRenewAPasskey(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, w *testApp) {
		const password = "wheel of forty cogs"
		admin := w.admin()
		w.enrol("ada")
		w.put("/users/"+w.userNamed("ada"), `{"type":"Person","attributes":{"username":"ada","password":"`+password+`"}}`, admin)
		p := w.relyingParty(t, "Shop", w.made(admin, "/flows", passwordAgain))
		acr, first, _ := p.signInAgain(password)
		if acr != schemas.ACRMultiFactorPR {
			t.Fatalf("the passkey proves %s", acr)
		}
		for !time.Now().Truncate(time.Second).After(first) { // auth_time has whole seconds
			time.Sleep(50 * time.Millisecond)
		}
		if acr, at, _ := p.signInAgain(password); acr != schemas.ACRMultiFactorPR || !at.Equal(first) {
			t.Errorf("the password gives %s at %s, want the time %s", acr, at, first)
		}
		if acr, at, amr := p.signInAgain(password, "acr_values", schemas.ACRPassword); acr != schemas.ACRPassword || !at.After(first) || !slices.Equal(amr, []string{"pwd"}) {
			t.Errorf("asked for a password: %s by %q at %s; want it alone, after %s", acr, amr, at, first)
		}
		if acr, at, _ := p.signInAgain(password); acr != schemas.ACRMultiFactorPR || !at.Equal(first) {
			t.Errorf("the session of the password gives %s at %s, want the time %s", acr, at, first)
		}
		for _, s := range w.liveSessions(w.userNamed("ada")) {
			if s.ACR == schemas.ACRMultiFactorPR && strings.Contains(strings.Join(s.AMR, " "), "pwd") && s.CreatedAt.Truncate(time.Second).After(first) {
				t.Errorf("a session counts from %s", s.CreatedAt)
			}
		}
	})
}
