package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// Clients without manual registration sign users in: one registers itself, and the other
// publishes its metadata on this machine, where that is allowed.
func TestDynamicClientRegistration(t *testing.T) {
	p := serve(t, "POSTERN_OAUTH_DCR_INSECURE=true", "POSTERN_OUTBOUND_ALLOW=127.0.0.0/8")
	var made struct {
		ClientID string `json:"client_id"`
	}
	r, err := p.post("/oauth2/dcr/register", "", object{"client_name": "Tool", "redirect_uris": []string{"http://127.0.0.1:8000/cb"}, "token_endpoint_auth_method": "none"})
	if err != nil || r.status != http.StatusCreated || json.Unmarshal(r.body, &made) != nil {
		t.Fatalf("%v %s", err, r.body)
	}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"client_id":"http://%s/client.json","redirect_uris":["http://127.0.0.1:8000/cb"]}`, r.Host)
	}))
	t.Cleanup(site.Close)
	for clientID, want := range map[string]string{made.ClientID: "/gate/signin?", site.URL + "/client.json": "/gate/signin?", site.URL + "/other.json": "/gate/error?"} {
		q := url.Values{"client_id": {clientID}, "redirect_uri": {"http://127.0.0.1:9000/cb"}, "response_type": {"code"},
			"code_challenge": {strings.Repeat("A", 43)}, "code_challenge_method": {"S256"}}
		transport := p.client.Transport
		if transport == nil {
			transport = http.DefaultTransport
		}
		req, err := http.NewRequest(http.MethodGet, p.base+"/oauth2/authorize?"+q.Encode(), nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := transport.RoundTrip(req) // without following the redirect
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if to := answer.Header.Get("Location"); !strings.Contains(to, want) {
			t.Errorf("%s: led to %s", clientID, to)
		}
	}
}
