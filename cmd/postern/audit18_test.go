package main

import (
	"encoding/json"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/postern-id/postern/schemas"
)

// asClient posts a form to an endpoint, as a client, and returns the reply.
func (w *testApp) asClient(path string, c *schemas.Application, form url.Values) *httptest.ResponseRecorder {
	return w.reply(clientRequest(path, c.ClientID, c.ClientSecret, form))
}

// Finding 18 of the security audit of November 2026: a client that obtained another
// client's token can neither introspect nor revoke it. The client that is the resource
// server in the token's audience can introspect it.
func TestAudit18IntrospectionIsLimitedToTheClient(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, w *testApp) {
		const orders = "https://orders.example.com/"
		w.create(w.directory.ResourceServers, `{"handle":"orders","name":"Orders","identifier":"`+orders+`","resources":[{"handle":"items","actions":[{"handle":"read"}]}]}`)
		w.create(w.directory.ResourceServers, `{"handle":"bills","name":"Bills","identifier":"https://bills.example.com/"}`)
		owner, api, part, other, all := w.client("orders:items:read"), w.client("orders"), w.client("orders:items"), w.client("bills"), w.client("system")
		ask := func(resource string) string {
			rec := w.asClient("/oauth2/token", owner, url.Values{"grant_type": {"client_credentials"}, "resource": {resource}})
			var got struct {
				AccessToken string `json:"access_token"`
			}
			if err := json.Unmarshal(rec.Body.Bytes(), &got); err != nil || got.AccessToken == "" {
				t.Fatal(rec.Code, rec.Body)
			}
			return got.AccessToken
		}
		forOrders, forAPI := ask(orders), ask(w.origin)
		for _, test := range []struct {
			name   string
			client *schemas.Application
			token  string
			active bool
		}{
			{"its own", owner, forOrders, true},
			{"its own, for this server", owner, forAPI, true},
			{"the resource server", api, forOrders, true},
			{"the resource server, of what is for another", api, forAPI, false},
			{"a client of the resource server", part, forOrders, false},
			{"another resource server", other, forOrders, false},
			{"a client that may do everything", all, forOrders, false},
			{"another client", other, forAPI, false},
		} {
			rec := w.asClient("/oauth2/introspect", test.client, url.Values{"token": {test.token}})
			if got := rec.Body.String(); rec.Code != 200 || strings.HasPrefix(got, `{"active":true`) != test.active || !test.active && strings.TrimSpace(got) != `{"active":false}` {
				t.Errorf("%s: %d %s", test.name, rec.Code, got)
			}
			if test.client == owner {
				continue
			}
			if rec := w.asClient("/oauth2/revoke", test.client, url.Values{"token": {test.token}}); rec.Code != 400 || !strings.Contains(rec.Body.String(), "invalid_grant") {
				t.Errorf("%s revokes a token of another client: %d %s", test.name, rec.Code, rec.Body)
			}
			if rec := w.asClient("/oauth2/introspect", owner, url.Values{"token": {test.token}}); !strings.HasPrefix(rec.Body.String(), `{"active":true`) {
				t.Errorf("%s has revoked a token of another client: %s", test.name, rec.Body)
			}
		}
	})
}
