package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/bootstrap"
	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/schemas"
)

// holder returns an access token of a new user who has exactly these permissions.
func (w *testApp) holder(name string, permissions ...string) (token string) {
	w.t.Helper()
	user := w.create(w.directory.Users, `{"type": "Person", "attributes": {"username": "`+name+`"}}`).ID
	role := datatest.Marshal(w.t, map[string]any{"name": "Role of " + name, "permissions": permissions, "assignments": []map[string]string{{"type": "user", "id": user}}})
	w.create(w.directory.Roles, string(role))
	token, err := w.issueToken(w.t.Context(), name, permissions, time.Hour)
	if err != nil {
		w.t.Fatal(err)
	}
	return token
}

// signInAtConsole has a program sign the administrator in to the console up to the optional
// passkey, and returns that step.
func (w *testApp) signInAtConsole() schemas.Step {
	w.t.Helper()
	flows, err := w.directory.Flows.Find(w.t.Context(), directory.SystemCall(), "AUTHENTICATION/password-then-passkey")
	if err != nil {
		w.t.Fatal(err)
	}
	item, err := w.directory.Applications.Get(w.t.Context(), directory.SystemCall(), bootstrap.ConsoleID)
	if err != nil {
		w.t.Fatal(err)
	}
	console := *item.Value.(*schemas.Application)
	console.AuthFlowID = flows.ID
	w.replace(w.directory.Applications, console.ID, console)
	s := w.signInTo(console.ID)
	s = w.answer(s, "continue", map[string]string{"username": "admin", "password": adminPassword})
	if s.StepID != "enrol" {
		w.t.Fatalf("the sign-in came to %+v", s)
	}
	return s
}

// A reader of the audit log cannot continue the run of an administrator: neither with
// anything in the log, nor with the executionId itself.
func TestAudit01ExecutionIDAuthorizesNothing(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, w *testApp) {
		auditor := w.holder("auditor", "system:audit:read")
		victim := w.signInAtConsole()
		page, text := w.auditLog(auditor, "/audit-events?limit=100")
		if strings.Contains(text, victim.ExecutionID) || strings.Contains(text, victim.ChallengeToken) {
			t.Error("the audit log shows the executionId or the challengeToken of a run")
		}
		candidates := []string{victim.ExecutionID}
		for _, e := range page.AuditEvents {
			candidates = append(candidates, e.ID, e.TraceID, e.ExecutionDigest, e.Detail["sessionId"])
		}
		for _, id := range candidates {
			w.cannotContinue(auditor, id)
		}
		if done := w.answer(victim, "skip", nil); done.FlowStatus != schemas.Complete || done.Assertion == "" {
			t.Errorf("the administrator's own program, with the token, came to %+v", done)
		}
	})
}

// cannotContinue fails the test if a program can use a run by its id.
func (w *testApp) cannotContinue(token, id string) {
	w.t.Helper()
	for what, body := range map[string]map[string]any{
		"resume":   {"executionId": id},
		"skip":     {"executionId": id, "action": "skip"},
		"register": {"executionId": id, "action": "passkey"},
		"inputs":   {"executionId": id, "inputs": map[string]string{"credentialId": "AAAA"}},
		"guess":    {"executionId": id, "action": "skip", "challengeToken": strings.Repeat("0", 64)},
	} {
		if status, said := w.attempt("/flow/execute", token, body); status == http.StatusOK || strings.Contains(said, "passkeyCreationOptions") {
			w.t.Errorf("%s with %s: %d %s", what, id, status, said)
		}
	}
}

// auditLog reads a page of the audit log, and returns its text too.
func (w *testApp) auditLog(token, path string) (page auditPage, text string) {
	w.t.Helper()
	rec := w.exchange(http.MethodGet, path, "", bearer(token))
	if err := json.Unmarshal(rec.Body.Bytes(), &page); err != nil || rec.Code != http.StatusOK {
		w.t.Fatalf("%s: %d %s, %v", path, rec.Code, rec.Body, err)
	}
	return page, rec.Body.String()
}

// A caller who knows an executionId finds the events of the run by its digest.
func TestAudit01EventsAreFoundByDigest(t *testing.T) {
	w := newTestApp(t)
	s := w.signInAtConsole()
	page, _ := w.auditLog(w.admin(), "/audit-events?executionDigest="+schemas.DigestExecution(s.ExecutionID))
	if len(page.AuditEvents) != 1 || page.AuditEvents[0].Action != "password.used" {
		t.Errorf("the events of the run are %+v", page.AuditEvents)
	}
}
