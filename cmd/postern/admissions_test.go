package main

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// doctor lists user types that no application admits, applications that admit no type, and credentials that
// users can enroll although nothing asks for them. The account page states the latter, too.
func TestAdmissions(t *testing.T) {
	onDatabases(t, func(t *testing.T, environ ...string) {
		w := newTestApp(t, environ...)
		token := w.admin()
		find := func() string {
			d := &doctor{app: w.app}
			d.checkAdmissions(t.Context())
			var lines []string
			for _, found := range d.list {
				lines = append(lines, found.Status+" "+found.Message)
			}
			return strings.Join(lines, "\n")
		}
		if got := find(); !strings.HasPrefix(got, "ok ") {
			t.Errorf("a new store: %s", got)
		}
		w.made(token, "/user-types", userTypeBody("Guest", "userType"))
		if got := find(); !strings.Contains(got, `no application admits users of the type "Guest"`) {
			t.Errorf("a type of its own: %s", got)
		}
		var flow string
		for _, f := range w.items(token, "/flows?flowType=AUTHENTICATION&limit=100", "flows") {
			if f["handle"] == "passkey-sign-in" {
				flow, _ = f["id"].(string)
			}
		}
		w.made(token, "/applications", `{"name":"Keys","authFlowId":"`+flow+`","allowedUserTypes":["Guest"]}`)
		guest := w.made(token, "/users", user("Guest", "gil", customerPassword))
		if got := find(); !strings.Contains(got, `users of the type "Guest" can enroll`) || !strings.Contains(got, "totp") || strings.Contains(got, "admits users of the type") {
			t.Errorf("a type with one application: %s", got)
		}
		var profile struct{ UnusedCredentials []string }
		w.fetch(token, "/users/"+guest+"/profile", &profile)
		if !slices.Contains(profile.UnusedCredentials, "totp") || slices.Contains(profile.UnusedCredentials, "passkey") {
			t.Errorf("the profile lists %v", profile.UnusedCredentials)
		}
		var others struct{ UnusedCredentials []string }
		w.fetch(token, "/users/"+w.made(token, "/users", `{"type":"Person","attributes":{"username":"pat"}}`)+"/profile", &others)
		if len(others.UnusedCredentials) != 0 {
			t.Errorf("the profile of a Person lists %v", others.UnusedCredentials)
		}
		err := w.store.Update(t.Context(), func(tx *store.Tx) error {
			return store.Applications().Insert(tx, &schemas.Application{ID: schemas.NewID(), Name: "Closed", OUID: w.items(token, "/organization-units", "organizationUnits")[0]["id"].(string), AuthFlowID: flow, RegistrationFlowID: flow, AllowedUserTypes: []string{"Gone"}})
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := find(); !strings.Contains(got, `the application "Closed" admits no user type`) {
			t.Errorf("an application for a type that does not exist: %s", got)
		}
	})
}

// fetch reads a resource.
func (w *testApp) fetch(token, path string, into any) {
	w.t.Helper()
	rec := w.call(http.MethodGet, path, token, "")
	if rec.Code != http.StatusOK {
		w.t.Fatalf("GET %s: %d %s", path, rec.Code, rec.Body)
	}
	datatest.Unmarshal(w.t, rec.Body.Bytes(), into)
}

// items reads the items of a list.
func (w *testApp) items(token, path, plural string) (items []map[string]any) {
	w.t.Helper()
	var page map[string]json.RawMessage
	w.fetch(token, path, &page)
	datatest.Unmarshal(w.t, page[plural], &items)
	return items
}
