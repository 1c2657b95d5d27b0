package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/postern-id/postern/internal/claims"
	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// addToGroups adds a user to new groups.
func (w *testApp) addToGroups(userID, prefix string, n int) {
	w.t.Helper()
	now := time.Now().UTC()
	err := w.store.Update(w.t.Context(), func(tx *store.Tx) error {
		unit, err := store.Units().Find(w.t.Context(), tx, "handle", directory.DefaultUnit)
		for i := 0; i < n && err == nil; i++ {
			err = store.Groups().Insert(tx, &schemas.Group{ID: schemas.NewID(), Name: fmt.Sprintf("%s%05d", prefix, i), OUID: unit.ID, CreatedAt: now, UpdatedAt: now,
				Members: []schemas.Principal{{Type: "user", ID: userID}}})
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// distributed is where a token says that its other claims are.
type distributed struct {
	Names   map[string]string `json:"_claim_names"`
	Sources map[string]struct {
		Endpoint string `json:"endpoint"`
		Token    string `json:"access_token"`
	} `json:"_claim_sources"`
	Groups []string `json:"groups"`
}

func distributedOf(t *testing.T, raw string) (d distributed) {
	t.Helper()
	text, err := base64.RawURLEncoding.DecodeString(strings.Split(raw, ".")[1])
	if err == nil {
		err = json.Unmarshal(text, &d)
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// readDistributed reads the claims at the source of a claim, as a client does, and verifies them.
func (p *party) readDistributed(d distributed, name string) (status int, claims map[string]any) {
	p.t.Helper()
	source := d.Sources[d.Names[name]]
	rec := p.testApp.call(http.MethodGet, strings.TrimPrefix(source.Endpoint, p.cfg.Server.PublicURL), source.Token, "")
	if rec.Code != http.StatusOK {
		return rec.Code, nil
	}
	signed, err := jose.ParseSignedCompact(rec.Body.String(), []jose.SignatureAlgorithm{jose.RS256})
	if err != nil || rec.Header().Get("Content-Type") != "application/jwt" || rec.Header().Get("Cache-Control") != "no-store" {
		p.t.Fatalf("%v, %v", err, rec.Header())
	}
	var keys jose.JSONWebKeySet
	if err := json.Unmarshal(p.tokens.JWKS(), &keys); err != nil {
		p.t.Fatal(err)
	}
	text, err := signed.Verify(keys.Key(signed.Signatures[0].Header.KeyID)[0])
	if err == nil {
		err = json.Unmarshal(text, &claims)
	}
	if err != nil || claims["iss"] != p.cfg.Server.PublicURL || claims["aud"] != nil || signed.Signatures[0].Header.ExtraHeaders[jose.HeaderType] != "claims+jwt" {
		p.t.Fatalf("%v, %v", err, claims)
	}
	return rec.Code, claims
}

// TestLongClaimsAreDistributed: a list with more than 200 items is not in a token. The token names an endpoint that has
// it, and that accepts no other token.
func TestLongClaimsAreDistributed(t *testing.T) {
	w := newTestApp(t)
	w.createPat()
	pat := w.userNamed("pat")
	w.addToGroups(pat, "g", claims.MaxItems)
	p := w.configuredClient(t, `"redirectUris":["`+rpRedirect+`"],"grantTypes":["authorization_code","refresh_token"],"scopes":["openid","groups","system"],"token":{"accessToken":{"userAttributes":["groups","given_name"]}},
		"claims":[{"name":"realm.groups","source":"groups","type":"string","scopes":["groups"],"targets":["idToken"]},{"name":"realm.kind","source":"userType","targets":["idToken"]}]`)
	got, _, _ := p.signInAndVerify("scope", "openid groups")
	if d := distributedOf(t, got.ID); len(d.Groups) != claims.MaxItems || d.Names != nil {
		t.Errorf("the ID token has %d groups, and %v", len(d.Groups), d.Names)
	}
	w.addToGroups(pat, "h", 1)
	got, _, _ = p.signInAndVerify("scope", "openid groups")
	userinfo, _ := p.userinfo(got.Access)["groups"].([]any)
	id, access := distributedOf(t, got.ID), distributedOf(t, got.Access)
	if len(userinfo) != 201 || id.Groups != nil || access.Groups != nil || len(id.Names) != 2 || len(access.Names) != 1 || len(got.ID)+len(got.Access) > 8000 {
		t.Fatalf("userinfo has %d groups, the ID token %v, the access token %v", len(userinfo), id, access)
	}
	for what, d := range map[string]distributed{"ID token": id, "access token": access} {
		status, read := p.readDistributed(d, "groups")
		if groups, _ := read["groups"].([]any); status != http.StatusOK || len(groups) != 201 || read["sub"] != pat || read["given_name"] != nil {
			t.Errorf("%s: %d, the endpoint has %d groups of %v", what, status, len(groups), read["sub"])
		}
	}
	_, read := p.readDistributed(id, "realm")
	realm, _ := read["realm"].(map[string]any)
	if names, _ := realm["groups"].(string); strings.Count(names, ",") != 200 || realm["kind"] != "Person" {
		t.Errorf("the endpoint has the realm %v", realm)
	}

	// Each token is good for its own document alone.
	reader := id.Sources["src1"]
	for _, tt := range []struct {
		path, token string
	}{
		{"/oauth2/claims/idToken", got.Access}, {"/oauth2/claims/idToken", access.Sources["src1"].Token}, {"/oauth2/claims/accessToken", reader.Token}, {"/oauth2/claims/userinfo", reader.Token},
		{"/oauth2/claims/idToken?resource=https://x.example", reader.Token}, {"/oauth2/claims/idToken", got.ID}, {"/oauth2/claims/idToken", ""}, {"/oauth2/userinfo", reader.Token}, {"/users/me", reader.Token},
	} {
		if rec := w.call(http.MethodGet, tt.path, tt.token, ""); rec.Code != http.StatusUnauthorized {
			t.Errorf("%s: %d %s", tt.path, rec.Code, rec.Body)
		}
	}
	refreshed, _ := p.token(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {got.Refresh}})
	if d := distributedOf(t, refreshed.ID); len(d.Names) != 2 {
		t.Errorf("the refreshed ID token has %v", d)
	}
	p.submit(p.at("/oauth2/revoke"), url.Values{"token": {got.Refresh}}, "Authorization: "+p.basic())
	if status, _ := p.readDistributed(id, "groups"); status != http.StatusUnauthorized {
		t.Errorf("after the revocation the endpoint answers %d", status)
	}
	if supported := fmt.Sprint(p.discovery()["claim_types_supported"]); supported != "[normal distributed]" {
		t.Errorf("the metadata have the types %s", supported)
	}
}

// TestTooManyGroups: of a user in more than 10,000 groups no claim is computed from a part of them.
func TestTooManyGroups(t *testing.T) {
	sequential(t)
	w := newTestApp(t)
	w.createPat()
	w.addToGroups(w.userNamed("pat"), "g", schemas.MaxClaimGroups+1)
	p := w.configuredClient(t, `"redirectUris":["`+rpRedirect+`"],"claims":[{"name":"one","source":"groups","prefix":"g00001"},{"name":"none","source":"expression","expression":"!('admins' in user.groups)"},{"name":"kind","source":"userType"}]`)
	got, _, _ := p.signInAndVerify("scope", "openid groups")
	want := map[string]string{"idToken": `{"kind":"Person"}`, "userinfo": `{"kind":"Person"}`}
	p.wantClaims("", p.collectClaims(got), want, "")
}
