package server_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// keepReplies has all replies written down from now on.
func (h *testServer) keepReplies() *strings.Builder {
	said, next := new(strings.Builder), h.handler
	h.handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := httptest.NewRecorder()
		next.ServeHTTP(rec, r)
		for name, values := range rec.Header() {
			w.Header()[name] = values
			said.WriteString(name + ": " + strings.Join(values, ", ") + "\n")
		}
		w.WriteHeader(rec.Code)
		_, _ = w.Write(rec.Body.Bytes())
		said.Write(rec.Body.Bytes())
	})
	return said
}

// A client secret is in the one reply that shows it; a password, and what is
// kept of either, in none. The log has none of them.
func TestSecretsStaySecret(t *testing.T) {
	h := newTestServer(t)
	said := h.keepReplies()
	const password, chosen = "Tarn-ferry-slate-41", "a-secret-that-somebody-has-chosen-0123456789"
	const theirs = "a-secret-that-an-identity-provider-gave-us"
	user := h.create("/users", `{"type":"Person","attributes":{"username":"grace","password":"`+password+`"}}`)
	h.ok(200, "PUT /users/"+user, `{"type":"Person","attributes":{"username":"grace","given_name":"G"}}`)
	h.do("PUT", "/users/"+user, `{"type":"Person","attributes":{"username":7,"password":"`+password+`"}}`, h.admin)
	h.do("POST", "/users", `{"type":"Person","attributes":{"username":"grace","password":"`+password+`"}}`, h.admin)
	client := `{"name":"Robot","inboundAuthConfig":[{"type":"oauth2","config":{"grantTypes":["client_credentials"]}}]}`
	made, _ := h.ok(201, "POST /applications", client)
	first := made.text("clientSecret")
	config := made.list("inboundAuthConfig")[0]
	if len(first) != 43 || config.text("config.clientSecret") != first || made.text("clientId") == "" || config.text("config.clientId") != made.text("clientId") {
		t.Fatalf("%v", made)
	}
	app := "/applications/" + made.text("id")
	h.ok(200, "PUT "+app, client)
	rotated, _ := h.ok(200, "POST "+app+"/client-secret", "")
	second := rotated.text("clientSecret")
	if len(second) != 43 || second == first || rotated.text("clientId") != made.text("clientId") || rotated.text("formerSecretExpiresAt") == "" || len(rotated) != 3 {
		t.Fatalf("%v", rotated)
	}
	h.ok(201, "POST /applications", strings.Replace(strings.Replace(client, "Robot", "Other", 1), `"config":{`, `"config":{"clientSecret":"`+chosen+`",`, 1))
	h.do("POST", "/applications", strings.Replace(client, `"config":{`, `"config":{"clientSecret":"`+chosen+` ",`, 1), h.admin)
	provider := `{"handle":"corp","name":"Corp","issuer":"https://login.example.com","clientId":"postern","clientSecret":"` + theirs + `"}`
	corp := "/identity-providers/" + h.create("/identity-providers", provider)
	h.do("POST", "/identity-providers", provider, h.admin)
	h.ok(200, "PUT "+corp, strings.Replace(provider, "Corp", "Corporation", 1))
	h.do("PUT", corp, strings.Replace(provider, "https:", "http:", 1), h.admin)
	for _, path := range []string{"/identity-providers", corp, "/users", "/users/" + user, "/applications", app, "/audit-events?limit=100", "/users?filter=username+eq+%22grace%22"} {
		h.ok(200, "GET "+path, "")
		h.do("GET", path, "", h.admin, "Accept: application/yaml")
	}
	for secret, times := range map[string]int{
		password: 0, theirs: 0, "ealedSecret": 0, "plain:": 0, "secretHash": 0, "SecretHash": 0,
		first: 2, second: 1, chosen: 2, // bearerAt the top and in the configuration
	} {
		if n := strings.Count(said.String(), secret); n != times {
			t.Errorf("%q was returned %d times, want %d", secret, n, times)
		}
		if strings.Contains(h.log.String(), secret) {
			t.Errorf("the log has %q", secret)
		}
		hash := sha256.Sum256([]byte(secret))
		for _, kept := range []string{hex.EncodeToString(hash[:]), base64.StdEncoding.EncodeToString(hash[:]), base64.RawURLEncoding.EncodeToString(hash[:])} {
			if strings.Contains(said.String()+h.log.String(), kept) {
				t.Errorf("the hash of %q was returned", secret)
			}
		}
	}
	for _, personal := range []string{"grace", "Bearer", strings.TrimPrefix(h.admin, "Authorization: Bearer ")} {
		if strings.Contains(h.log.String(), personal) {
			t.Errorf("the log has %q", personal)
		}
	}
	fails(t, h.do("POST", "/applications/"+h.create("/applications", `{"name":"No client"}`)+"/client-secret", "", h.admin), 400, "invalid_request")
	fails(t, h.do("POST", "/applications/nope/client-secret", "", h.admin), 404, "application_not_found")
}
