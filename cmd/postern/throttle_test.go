package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/postern-id/postern/bootstrap"
	"github.com/postern-id/postern/internal/config"
	"github.com/postern-id/postern/internal/throttle"
	"github.com/postern-id/postern/schemas"
)

// The defaults that the configuration documents are those that were thought
// through and tested.
func TestDefaultBudgets(t *testing.T) {
	cfg, err := config.Load("", nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := budgets(cfg.Throttle), throttle.DefaultBudgets(); got != want {
		t.Errorf("\n got %+v\nwant %+v", got, want)
	}
}

// guess signs in to the console with a password, from an address, and returns the
// status and the step.
func (w *rig) guess(remote, name, password string) (int, schemas.Step) {
	send := func(body any, out *schemas.Step) int {
		text, err := json.Marshal(body)
		if err != nil {
			w.t.Fatal(err)
		}
		r := httptest.NewRequest(http.MethodPost, "/flow/execute", strings.NewReader(string(text)))
		r.Header.Set("Content-Type", "application/json")
		r.RemoteAddr = remote + ":4711"
		rec := httptest.NewRecorder()
		w.http.ServeHTTP(rec, r)
		if rec.Code == http.StatusTooManyRequests && rec.Header().Get("Retry-After") == "" {
			w.t.Error("no Retry-After")
		}
		if err := json.Unmarshal(rec.Body.Bytes(), out); err != nil && rec.Code == http.StatusOK {
			w.t.Fatal(err)
		}
		return rec.Code
	}
	var s schemas.Step
	send(map[string]any{"applicationId": bootstrap.ConsoleID, "flowType": "AUTHENTICATION"}, &s)
	run := s.ExecutionID
	send(map[string]any{"executionId": run, "action": "password", "inputs": map[string]string{}}, &s)
	var last schemas.Step
	return send(map[string]any{"executionId": run, "action": "continue", "inputs": map[string]string{"username": name, "password": password}}, &last), last
}

// Passwords are guessed at an account from many addresses, over HTTP and with
// every part in its place. Its owner signs in from home.
func TestGuessingDoesNotLockOut(t *testing.T) {
	w := newRig(t, "POSTERN_THROTTLE_ENABLED=true", "POSTERN_PASSWORD_MEMORY_KIB=1024", "POSTERN_PASSWORD_ITERATIONS=1",
		"POSTERN_THROTTLE_ACCOUNT_GUESSES_BURST=6", "POSTERN_THROTTLE_ACCOUNT_GUESSES_EVERY=24h",
		"POSTERN_THROTTLE_PAIR_GUESSES_BURST=3", "POSTERN_THROTTLE_PAIR_GUESSES_EVERY=24h")
	const home = "198.51.100.7"
	if status, s := w.guess(home, "admin", adminPassword); status != http.StatusOK || s.FlowStatus != schemas.Complete {
		t.Fatalf("%d %+v", status, s)
	}
	count := func(name string, addresses ...string) (checked int) {
		for _, address := range addresses {
			for range 4 {
				if status, _ := w.guess(address, name, "wrong"); status == http.StatusOK {
					checked++
				}
			}
		}
		return checked
	}
	for _, name := range []string{"admin", "nobody"} {
		if n := count(name, "203.0.113.1"); n != 3 {
			t.Errorf("one address at %s: %d were checked, want 3", name, n)
		}
		if n := count(name, "203.0.113.2", "192.0.2.1", "192.0.2.2"); n != 3 {
			t.Errorf("three more at %s: %d were checked, want 3", name, n)
		}
	}
	if status, _ := w.guess("192.0.2.3", "ADMIN", adminPassword); status != http.StatusTooManyRequests {
		t.Errorf("a stranger with the right password, spelt otherwise: %d", status)
	}
	if _, s := w.guess(home, "admin", "wrong"); s.Error == nil || s.Error.Code != schemas.CodeInvalidCredentials {
		t.Errorf("the owner mistypes: %+v", s)
	}
	if status, s := w.guess(home, "admin", adminPassword); status != http.StatusOK || s.FlowStatus != schemas.Complete {
		t.Errorf("the owner is locked out: %d %+v", status, s)
	}
}
