package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
)

// TestTokensWithoutMembersAboutClaims: the tokens of an application without members about claims have the header and
// the claims that they had before these members existed. testdata/earlier-tokens.json was recorded then.
func TestTokensWithoutMembersAboutClaims(t *testing.T) {
	w := newTestApp(t)
	w.create(w.directory.UserTypes, `{"name":"Open","schema":{"type":"object","properties":{"username":{"type":"string"},"email":{"type":"string"},"password":{"type":"string","x-credential":true}}}}`)
	w.create(w.directory.Users, `{"type":"Open","attributes":{"username":"pat","password":"`+rpPassword+`","email":"pat@example.com","email_verified":true,
		"given_name":"Pat","family_name":"Doe","nickname":"","phone_number":"+15551234","address":{"locality":"Ghent"},"department":"R&D",
		"groups":["admins"],"roles":["root"],"permissions":["system"],"entitlements":["all"],"ouId":"x","ouName":"y","userType":"z","Groups":["admins"],"sub":"root","scope":"system"}}`)
	recorded := map[string]any{}
	for name, config := range map[string]string{
		"defaults": ``, "registered scopes": `"scopes":["openid","profile","email","phone","address","offline_access"]`,
		"ES256": `"token":{"idToken":{"signedResponseAlg":"ES256","validityPeriod":60}}`,
	} {
		for _, scope := range []string{"openid", "openid profile", "openid email phone address", "openid profile email offline_access", "profile", ""} {
			p := w.configuredClient(t, strings.Trim(`"redirectUris":["`+rpRedirect+`"],"grantTypes":["authorization_code","refresh_token"],`+config, ","))
			got, status := p.redeem(p.code(p.ask("scope", scope)))
			if status != http.StatusOK {
				t.Fatalf("%d %+v", status, got)
			}
			refreshed, _ := p.token(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {got.Refresh}})
			for when, of := range map[string]*tokens{"first": got, "refreshed": refreshed} {
				at := name + ": " + scope + ": " + when
				recorded[at+": access"], recorded[at+": id"] = p.comparable(of.Access), p.comparable(of.ID)
				if strings.Contains(scope, "openid") {
					userinfo := p.userinfo(of.Access)
					delete(userinfo, "updated_at") // newer than the record
					recorded[at+": userinfo"] = p.placeholders(userinfo)
				}
				introspected := p.object(p.submit(p.at("/oauth2/introspect"), url.Values{"token": {of.Access}}, "Authorization: "+p.basic()))
				delete(introspected, "username") // newer than the record
				recorded[at+": introspection"] = p.placeholders(introspected)
			}
		}
	}
	text, err := json.MarshalIndent(recorded, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	const path = "testdata/earlier-tokens.json"
	if want := datatest.ReadFile(t, path); string(want) != string(text) {
		t.Errorf("the tokens differ from %s; they are now\n%s", path, text)
	}
}

// comparable returns the header and the claims of a token.
func (p *party) comparable(raw string) any {
	if raw == "" {
		return "none"
	}
	parts := strings.Split(raw, ".")
	var found [2]map[string]any
	for i := range found {
		text, err := base64.RawURLEncoding.DecodeString(parts[i])
		if err != nil || json.Unmarshal(text, &found[i]) != nil {
			p.t.Fatal(raw)
		}
		p.placeholders(found[i])
	}
	return found
}

// placeholders replaces the values that differ from token to token.
func (p *party) placeholders(claims map[string]any) map[string]any {
	for name, value := range claims {
		switch {
		case strings.Trim(fmt.Sprint(value), "[]") == p.id:
			claims[name] = "the client"
		case slices.Contains([]string{"sub", "sid", "jti", "iat", "exp", "auth_time", "at_hash", "c_hash", "kid", "tgen"}, name):
			claims[name] = "varies"
		}
	}
	return claims
}
