package main

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/postern-id/postern/schemas"
)

// auditedPasswords are those that the security audit of November 2026 set through the API,
// and longer variants.
func auditedPasswords() (list []string) {
	for _, p := range []string{
		"password1", "admin1234", "12345678a", "letmein123", "P@ssw0rd123", "charlie99", "michelle1", "starwars1",
		"qwerty123", "iloveyou1", "welcome1", "football1", "sunshine1", "dragon123", "monkey123",
	} {
		list = append(list, p, p+p)
	}
	return list
}

// Finding 13 of the security audit of November 2026: one policy for every way to set a
// password.
func TestAudit13CommonPasswordsAreRefused(t *testing.T) {
	w := newTestApp(t)
	token := w.admin()
	body := func(name, password string) string {
		return fmt.Sprintf(`{"type": "Person", "attributes": {"username": %q, "password": %q}}`, name, password)
	}
	rec := w.call("POST", "/users", token, body("ada", "Tarn-ferry-slate-41"))
	if rec.Code != http.StatusCreated {
		t.Fatalf("a good password: %d %s", rec.Code, rec.Body)
	}
	ada := rec.Header().Get("Location")
	w.create(w.directory.Applications, `{"name": "Shop", "id": "01900000-0000-7000-8000-00000000aaaa",
		"registrationFlowId": "01900000-0000-7000-8000-000000000064", "isRegistrationFlowEnabled": true}`)
	for i, password := range append(auditedPasswords(), "grace.hopper-1906", "fourteen-chars") {
		for method, path := range map[string]string{"POST": "/users", "PUT": ada} {
			rec := w.call(method, path, token, body("grace.hopper", password))
			if rec.Code != http.StatusBadRequest || !strings.Contains(rec.Body.String(), `"path":"attributes.password"`) {
				t.Errorf("%s %s with %q: %d %s", method, path, password, rec.Code, rec.Body)
			}
		}
		var s schemas.Step
		w.post("/flow/execute", map[string]string{"applicationId": "01900000-0000-7000-8000-00000000aaaa", "flowType": "REGISTRATION"}, &s)
		s = w.answer(s, "continue", map[string]string{"username": fmt.Sprintf("grace.hopper-%d", i), "password": password})
		if s.FlowStatus != schemas.Incomplete || len(s.Data.FieldErrors) != 1 || s.Data.FieldErrors[0].Identifier != "password" {
			t.Errorf("a sign-up with %q: %+v", password, s)
		}
	}
}

// A bad ADMIN_PASSWORD stops the first start, and a later start with a good password finds
// an empty store.
func TestAudit13AdminPasswordIsChecked(t *testing.T) {
	sequential(t)
	cfg := loadConfig(t, []string{"POSTERN_DATA_DIR=" + t.TempDir()})
	h := openForTest(t, cfg, slog.New(slog.DiscardHandler))
	for _, password := range append(auditedPasswords(), "Administrator-2026") {
		_, err := h.seedStore(t.Context(), []string{"ADMIN_PASSWORD=" + password})
		if err == nil || !strings.Contains(err.Error(), "ADMIN_PASSWORD is not accepted") || strings.Contains(err.Error(), password) {
			t.Errorf("%q: %v", password, err)
		}
	}
	if events, err := h.store.Events(t.Context(), schemas.EventQuery{Limit: 10}); err != nil || len(events) > 0 {
		t.Errorf("%d events, %v: something was created", len(events), err)
	}
	made, err := h.seedStore(t.Context(), nil)
	if err != nil || made == nil || made.Password == "" {
		t.Errorf("a generated password: %v, %v", made, err)
	}
	if again, err := h.seedStore(t.Context(), []string{"ADMIN_PASSWORD=password1"}); again != nil || err != nil {
		t.Errorf("the store has its administrator, and the variable counts: %v, %v", again, err)
	}
}
