package connect_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"golang.org/x/oauth2"
)

// nextcloud signs a user in as the app user_oidc does: it requests claims by name, and sends the secret in the body if
// the metadata lists that.
func nextcloud(t *testing.T, p *page, a application) signIn {
	flags := readFlags(t, "occ", a.fill(p.block("occ user_oidc:provider")))
	flag := func(name string) string { return strings.Join(flags[name], " ") }
	style := oauth2.AuthStyleInHeader
	if slices.Contains(tokenMethods(t, a.server), "client_secret_post") {
		style = oauth2.AuthStyleInParams
	}
	c := newClient(a, style, true, strings.Fields(flag("scope"))...)
	c.Config.ClientID = flag("clientid")
	wanted := map[string]any{flag("mapping-email"): nil, flag("mapping-display-name"): nil, "quota": nil, flag("mapping-groups"): nil}
	parameter, err := json.Marshal(map[string]any{"id_token": wanted, "userinfo": wanted})
	if err != nil {
		t.Fatal(err)
	}
	c.parameters = map[string]string{"claims": string(parameter), "nonce": "NONCE"}
	return func(t *testing.T, username string) string {
		values := claims(t, c.signIn(t, username))
		if values[flag("mapping-uid")] == nil || values[flag("mapping-email")] != username+"@example.org" || values["nonce"] != "NONCE" {
			t.Errorf("the ID token has %v", values)
		}
		groups := texts(values[flag("mapping-groups")])
		if len(groups) == 0 && flag("group-restrict-login-to-whitelist") == "1" {
			return refused
		}
		return strings.Join(groups, " ")
	}
}

// tokenMethods returns the client authentication methods of the metadata.
func tokenMethods(t *testing.T, s *server) []string {
	t.Helper()
	r, err := http.Get(s.issuer + "/.well-known/openid-configuration")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	var metadata struct {
		Methods []string `json:"token_endpoint_auth_methods_supported"`
	}
	if err := json.NewDecoder(r.Body).Decode(&metadata); err != nil {
		t.Fatal(err)
	}
	return metadata.Methods
}
