package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// The security audit of November 2026, finding 8: a session of a password-only application
// was accepted by one that requires a second factor.

// secondFactorFlow requires a password and a code; its session-check is configured by WITH.
const secondFactorFlow = `{"handle":"HANDLE","name":"Two factors","flowType":"AUTHENTICATION"WAIVE,"nodes":[
	{"id":"session","use":"session-check","with":WITH,"next":{"active":"done","none":"who"}},
	{"id":"who","use":"prompt","with":{"inputs":[{"identifier":"username","type":"TEXT_INPUT","required":true},{"identifier":"password","type":"PASSWORD_INPUT","required":true}],
		"actions":[{"ref":"continue"}]},"next":"find"},
	{"id":"find","use":"user-resolve","with":{"by":["username"],"from":"username","conceal":true},"next":"check"},
	{"id":"check","use":"password-authenticate","next":{"success":"code","failure":"who"}},
	{"id":"code","use":"totp","next":{"success":"done","none":"who"}},
	{"id":"done","use":"authorization-code"}]}`

func secondFactor(handle, with, waive string) string {
	return strings.NewReplacer("HANDLE", handle, "WITH", with, "WAIVE", waive).Replace(secondFactorFlow)
}

// A user who has signed in by a password alone is asked for both factors.
func TestAudit08PasswordSessionIsNoSecondFactor(t *testing.T) {
	w := createUsers(t)
	builtin, err := store.Flows().Find(t.Context(), w.store, schemas.Authentication, "password-sign-in")
	if err != nil {
		t.Fatal(err)
	}
	lunch := w.relyingParty(t, "Lunch menu", builtin.ID)
	gate := lunch.location(replyOf(lunch.visit(lunch.at("/oauth2/authorize?" + lunch.request().Encode()))))
	id := gate.Query().Get("executionId")
	lunch.step(map[string]any{"executionId": id})
	done := lunch.step(map[string]any{"executionId": id, "action": "continue", "inputs": map[string]string{"username": "pat", "password": rpPassword}})
	if _, status := lunch.redeem(lunch.code(lunch.follow(lunch.visit(done.Data.RedirectURL)))); status != http.StatusOK {
		t.Fatal("no tokens for the password:", status)
	}
	if lunch.code(lunch.ask("prompt", "none")) == "" {
		t.Error("there is no session")
	}

	bank := w.relyingParty(t, "Bank", w.create(w.directory.Flows, secondFactor("second-factor", `{}`, "")).ID)
	bank.http = lunch.http
	bank.refused(bank.ask("prompt", "none"), "login_required", "interaction_required")
	to := bank.location(replyOf(bank.visit(bank.at("/oauth2/authorize?" + bank.request().Encode()))))
	if !strings.HasPrefix(to.String(), bank.at("/gate/signin?")) {
		t.Fatalf("the password session led to %s", to)
	}
	if asked := bank.step(map[string]any{"executionId": to.Query().Get("executionId")}); asked.StepID != "who" {
		t.Errorf("asked at %q", asked.StepID)
	}
}

func replyOf(reply *http.Response, _ string) *http.Response { return reply }

// A flow that accepts weaker sessions is a finding with the run that shows it, unless the
// flow waives the rule with a reason.
func TestAudit08WeakerSessionsAreReported(t *testing.T) {
	w := createUsers(t)
	const weak = `{"acr":"urn:postern:acr:password"}`
	status, said := w.attempt("/flows", w.admin(), json.RawMessage(secondFactor("weak", weak, "")))
	if status != http.StatusBadRequest || !strings.Contains(said, `"rule":"session"`) || !strings.Contains(said, "urn:postern:acr:mfa") ||
		!strings.Contains(said, `"path":"nodes[0].with"`) || !strings.Contains(said, `"outcome":"active"`) {
		t.Errorf("%d %s", status, said)
	}
	waived := secondFactor("weak", weak, `,"waive":[{"rule":"session","node":"session","reason":"the office is locked"}]`)
	if status, said := w.attempt("/flows", w.admin(), json.RawMessage(waived)); status != http.StatusCreated {
		t.Errorf("waived: %d %s", status, said)
	}
}
