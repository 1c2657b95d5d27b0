package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/schemas"
)

// An administrator rotates the signing keys, and the audit log names that administrator. Tokens that
// older keys have signed stay valid.
func TestSigningKeysOverHTTP(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, w *testApp) {
		admin := w.admin()
		type keyList struct {
			Keys []struct{ ID, Algorithm, Status string }
		}
		count := func(list keyList, status schemas.KeyStatus) (n int) {
			for _, k := range list.Keys {
				if k.Status == string(status) {
					n++
				}
			}
			return n
		}
		read := func(method, path, body string) (list keyList) {
			t.Helper()
			rec := w.call(method, path, admin, body)
			if rec.Code != http.StatusOK || strings.Contains(strings.ToLower(rec.Body.String()), "private") {
				t.Fatalf("%s %s: %d %s", method, path, rec.Code, rec.Body)
			}
			datatest.Unmarshal(t, rec.Body.Bytes(), &list)
			return list
		}
		before := read("GET", "/signing-keys", "") // the keys of other algorithms are made when they are needed
		if count(before, schemas.KeySigning) != len(before.Keys) || len(before.Keys) == 0 {
			t.Fatalf("the first keys are %+v", before)
		}
		for range 2 { // the second time there is a successor already
			if list := read("POST", "/signing-keys/rotate", "{}"); count(list, schemas.KeyPublished) != 2 || count(list, schemas.KeySigning) != 2 {
				t.Errorf("after a rotation: %+v", list)
			}
		}
		if list := read("POST", "/signing-keys/rotate", `{"now": true}`); count(list, schemas.KeySigning) != 2 || count(list, schemas.KeyRetired) != 2 || count(list, schemas.KeyPublished) != 0 {
			t.Errorf("after a rotation at once: %+v", list)
		}
		for action, want := range map[string]int{"signing-key.published": 2, "signing-key.promoted": 2} {
			events := w.eventsOf(action)
			if len(events) != want {
				t.Errorf("%d events %s, want %d", len(events), action, want)
			}
			for _, e := range events {
				if e.Actor.Type != schemas.UserActor || e.Actor.ID == "" || e.TraceID == "" {
					t.Errorf("%s names the actor %+v and the trace id %q", action, e.Actor, e.TraceID)
				}
			}
		}
		for path, body := range map[string]string{"/signing-keys/rotate": `{"now": "yes"}`} {
			if rec := w.call("POST", path, admin, body); rec.Code != http.StatusBadRequest || !strings.Contains(rec.Body.String(), "expected true or false") {
				t.Errorf("%s: %d %s", body, rec.Code, rec.Body)
			}
		}
		clerk := w.holder("clerk", "system:users", "system:audit:read")
		for _, request := range [][2]string{{"GET", "/signing-keys"}, {"POST", "/signing-keys/rotate"}, {"GET", "/configuration"}} {
			if rec := w.call(request[0], request[1], clerk, "{}"); rec.Code != http.StatusForbidden {
				t.Errorf("%s by a partial administrator: %d %s", request, rec.Code, rec.Body)
			}
		}
	})
}

// The configuration has the source of each value, and no secret.
func TestConfigurationOverHTTP(t *testing.T) {
	w := newTestApp(t, "POSTERN_MAIL_HOST=127.0.0.1", "POSTERN_MAIL_FROM=a@example.com", "POSTERN_MAIL_USERNAME=mailer", "POSTERN_MAIL_PASSWORD=correct-horse")
	rec := w.call("GET", "/configuration", w.admin(), "")
	var reply struct {
		Settings []struct {
			Key, Source string
			Value       any
		}
	}
	if err := json.Unmarshal(rec.Body.Bytes(), &reply); err != nil || rec.Code != http.StatusOK || strings.Contains(rec.Body.String(), "correct-horse") {
		t.Fatalf("%v: %d %s", err, rec.Code, rec.Body)
	}
	found := map[string]any{}
	for _, s := range reply.Settings {
		found[s.Key+" "+s.Source] = s.Value
	}
	for key, want := range map[string]any{"mail.password environment": "set", "mail.host environment": "127.0.0.1", "token.key_age default": "2160h0m0s"} {
		if found[key] != want {
			t.Errorf("%s is %v, want %v", key, found[key], want)
		}
	}
}
