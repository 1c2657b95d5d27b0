package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/schemas"
)

// client creates an application with the client_credentials grant and a scope.
func (w *testApp) client(scope string) *schemas.Application {
	w.t.Helper()
	text := fmt.Sprintf(`{"name":%q,"inboundAuthConfig":[{"type":"oauth2","config":{"grantTypes":["client_credentials"],"scope":%q}}]}`, schemas.NewID(), scope)
	return w.create(w.directory.Applications, text).Value.(*schemas.Application)
}

// create creates a resource.
func (w *testApp) create(of directory.Resource, body string) *directory.Item {
	w.t.Helper()
	d, problems := schemas.ParseJSON([]byte(body))
	if len(problems) > 0 {
		w.t.Fatal(problems)
	}
	item, err := of.Create(w.t.Context(), directory.SystemCall(), d)
	if err != nil {
		w.t.Fatal(err)
	}
	return item
}

// askToken requests a token as a client.
func (w *testApp) askToken(id, secret, body string) *httptest.ResponseRecorder {
	r := newRequest(http.MethodPost, "/oauth2/token", "grant_type=client_credentials"+body, formBody)
	r.SetBasicAuth(id, secret)
	return w.reply(r)
}

// get reads a resource with a token, and returns the status.
func (w *testApp) get(path, token string) int {
	return w.exchange(http.MethodGet, path, "", bearer(token)).Code
}

// A client gets a token and uses it while the client exists. Afterwards its secret and its
// tokens are rejected.
func TestClientCredentialsOnEachDatabase(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, w *testApp) {
		c := w.client("system:applications:read")
		rec := w.askToken(c.ClientID, c.ClientSecret, "")
		var granted struct {
			Token string `json:"access_token"`
			Scope string `json:"scope"`
		}
		if err := json.Unmarshal(rec.Body.Bytes(), &granted); err != nil || granted.Scope != "system:applications:read" {
			t.Fatalf("%d %s, %v", rec.Code, rec.Body, err)
		}
		for path, want := range map[string]int{"/applications": 200, "/applications/" + c.ID: 200, "/users": 403, "/users/me": 403} {
			if got := w.get(path, granted.Token); got != want {
				t.Errorf("GET %s: %d, want %d", path, got, want)
			}
		}
		if rec := w.askToken(c.ClientID, c.ClientSecret, "&scope=system"); rec.Code != 400 || !strings.Contains(rec.Body.String(), "invalid_scope") {
			t.Errorf("more than registered: %d %s", rec.Code, rec.Body)
		}
		w.checkTokenEvent(c)
		w.checkClientGone(c, granted.Token)
	})
}

func (w *testApp) checkTokenEvent(c *schemas.Application) {
	w.t.Helper()
	events, err := w.store.Events(w.t.Context(), schemas.EventQuery{Action: "token.issued", Limit: 10})
	if err != nil || len(events) != 1 {
		w.t.Fatalf("%+v, %v", events, err)
	}
	e := events[0]
	if e.Actor != (schemas.Actor{Type: schemas.ApplicationActor, ID: c.ID, Client: c.ID}) || e.ApplicationID != c.ID || e.TraceID == "" {
		w.t.Errorf("recorded %+v", e)
	}
}

func (w *testApp) checkClientGone(c *schemas.Application, token string) {
	w.t.Helper()
	item, err := w.directory.RotateSecret(w.t.Context(), directory.SystemCall(), c.ID, directory.SecretRotation{RevokeTokens: true})
	if err != nil {
		w.t.Fatal(err)
	}
	fresh := item.Value.(*schemas.Application).ClientSecret
	for secret, want := range map[string]int{c.ClientSecret: 401, fresh: 200} {
		if rec := w.askToken(c.ClientID, secret, ""); rec.Code != want {
			w.t.Errorf("with another secret: %d %s, want %d", rec.Code, rec.Body, want)
		}
	}
	if err := w.directory.Applications.Delete(w.t.Context(), directory.SystemCall(), c.ID, ""); err != nil {
		w.t.Fatal(err)
	}
	if rec := w.askToken(c.ClientID, fresh, ""); rec.Code != 401 {
		w.t.Errorf("the client is gone: %d %s", rec.Code, rec.Body)
	}
	if got := w.get("/applications", token); got != 401 {
		w.t.Errorf("the client is gone, and its token: %d", got)
	}
}
