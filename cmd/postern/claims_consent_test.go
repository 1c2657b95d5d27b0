package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/claims"
	"github.com/postern-id/postern/internal/translations"
	"github.com/postern-id/postern/schemas"
)

// consentTo signs in up to the question of consent, answers it if there is one, and returns it with the tokens.
func (p *party) consentTo(change ...string) (asked *schemas.Step, got *tokens) {
	p.t.Helper()
	id := p.location(first(p.visit(p.at("/oauth2/authorize?" + p.request(change...).Encode())))).Query().Get("executionId")
	p.step(map[string]any{"executionId": id, "verbose": true})
	p.step(map[string]any{"executionId": id, "action": "password"})
	done := p.step(map[string]any{"executionId": id, "action": "continue", "verbose": true, "inputs": map[string]string{"username": "pat", "password": rpPassword}})
	if done.StepID == "consent" {
		question := done
		asked, done = &question, p.step(map[string]any{"executionId": id, "action": "allow"})
	}
	if done.FlowStatus != schemas.Complete {
		p.t.Fatalf("the sign-in ended in %+v", done)
	}
	got, status := p.redeem(p.code(p.follow(p.visit(done.Data.RedirectURL))))
	if status != http.StatusOK {
		p.t.Fatalf("%d %+v", status, got)
	}
	return asked, got
}

// shownClaims are the claims in a question, by scope, as NAME=VALUE.
func shownClaims(t *testing.T, asked *schemas.Step) map[string][]string {
	t.Helper()
	if asked == nil {
		return nil
	}
	var q schemas.ConsentQuestion
	if err := json.Unmarshal([]byte(asked.Data.AdditionalData[schemas.ConsentData]), &q); err != nil {
		t.Fatal(err)
	}
	shown := map[string][]string{}
	for _, s := range q.Scopes {
		shown[s.Scope] = nil
		for _, c := range s.Claims {
			shown[s.Scope] = append(shown[s.Scope], c.Name+"="+c.Value)
		}
		slices.Sort(shown[s.Scope])
	}
	return shown
}

// TestConsentShowsClaims: the question shows the claims that each scope releases with the values of the user, and a
// scope that comes to release more is asked again: until then the application gets what the user consented to.
func TestConsentShowsClaims(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, w *testApp) {
		w.createStaff()
		const application = `{"name":"Wiki","requireConsent":true,"inboundAuthConfig":[{"type":"oauth2","config":{"clientId":"wiki","redirectUris":[%q],"grantTypes":["authorization_code","refresh_token"],"pkceRequired":false,
			"scopeClaims":{"team":[%s],"email":["email","email_verified"]},"claims":[{"name":"kind","source":"groups","scopes":["team"],"prefix":%q,"targets":["accessToken"]},{"name":"free","source":"constant","value":"x","scopes":["openid"],"targets":["userinfo"]}]}}]}`
		body := func(names, prefix string) string { return fmt.Sprintf(application, rpRedirect, names, prefix) }
		c := w.create(w.directory.Applications, body(`"groups","nickname"`, "dev")).Value.(*schemas.Application)
		p := &party{testApp: w, t: t, http: newBrowser(t, w.http), mode: "query", id: c.ClientID, secret: c.ClientSecret, method: schemas.AuthMethodBasic, redirect: rpRedirect}
		fresh := func() (map[string][]string, *tokens) {
			p.http = newBrowser(t, w.http)
			asked, got := p.consentTo("scope", "openid email team")
			return shownClaims(t, asked), got
		}
		shown, got := fresh()
		team := []string{"groups=all-staff, argocd-admins, developers, engineering", "kind=developers", "nickname="}
		if want := map[string][]string{"openid": {"free=x"}, "email": {"email=pat@example.com", "email_verified=Yes"}, "team": team}; !reflect.DeepEqual(shown, want) {
			t.Errorf("the question shows %v, expected %v", shown, want)
		}
		if shown, _ := fresh(); shown != nil {
			t.Errorf("the user is asked again: %v", shown)
		}
		all := `["all-staff","argocd-admins","developers","engineering"]`
		before := map[string]string{"idToken": `{"groups":` + all + `,"email":"pat@example.com","email_verified":true}`, "userinfo": `{"groups":` + all + `,"free":"x","email":"pat@example.com","email_verified":true}`, "accessToken": `{"kind":["developers"]}`}
		p.wantClaims("consented ", p.collectClaims(got), before, "")

		w.put("/applications/"+c.ID, body(`"groups","nickname","given_name"`, "dev"), w.admin())
		refreshed, status := p.token(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {got.Refresh}})
		if status != http.StatusOK {
			t.Fatalf("%d %+v", status, refreshed)
		}
		p.wantClaims("before the question ", p.collectClaims(refreshed), before, "")
		shown, got = fresh()
		if want := map[string][]string{"team": append([]string{"given_name=Pat"}, team...)}; !reflect.DeepEqual(shown, want) {
			t.Errorf("the second question shows %v, expected %v", shown, want)
		}
		if payloadOf(t, got.ID)["given_name"] != "Pat" {
			t.Errorf("after the question the ID token has %v", payloadOf(t, got.ID))
		}

		// The same name with other values is more, too.
		w.put("/applications/"+c.ID, body(`"groups","nickname","given_name"`, "a"), w.admin())
		refreshed, _ = p.token(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {got.Refresh}})
		if kind := payloadOf(t, refreshed.Access)["kind"]; kind != nil {
			t.Errorf("before the question the access token has the kind %v", kind)
		}
		if shown, _ = fresh(); len(shown["team"]) == 0 {
			t.Errorf("the third question shows %v", shown)
		}
		w.put("/applications/"+c.ID, body(`"groups"`, "a"), w.admin())
		if shown, _ = fresh(); shown != nil {
			t.Errorf("the user is asked about less: %v", shown)
		}
	})
}

// TestEarlierConsentCoversStandardClaims: a consent from before claims were part of it covers the standard claims of its
// scopes.
func TestEarlierConsentCoversStandardClaims(t *testing.T) {
	w := newTestApp(t)
	w.createStaff()
	for config, want := range map[string]map[string][]string{
		`"scopes":["openid","email","profile"]`:          nil,
		`"scopeClaims":{"email":["email"]}`:              nil,
		`"scopeClaims":{"email":["email","given_name"]}`: {"email": {"email=pat@example.com", "given_name=Pat"}},
		`"claims":[{"name":"team","source":"groups","prefix":"dev","scopes":["openid"]}],"scopes":["openid","email"]`: {"openid": {"team=developers"}},
	} {
		c := w.create(w.directory.Applications, `{"name":"`+schemas.NewID()+`","requireConsent":true,"inboundAuthConfig":[{"type":"oauth2","config":{"redirectUris":["`+rpRedirect+`"],`+config+`}}]}`).Value.(*schemas.Application)
		w.apply(schemas.GrantConsent{UserID: w.userNamed("pat"), ApplicationID: c.ID, Scopes: []string{"openid", "email"}, At: time.Now()})
		p := &party{testApp: w, t: t, http: newBrowser(t, w.http), mode: "query", id: c.ClientID, secret: c.ClientSecret, method: schemas.AuthMethodBasic, redirect: rpRedirect}
		asked, got := p.consentTo("scope", "openid email")
		if shown := shownClaims(t, asked); !reflect.DeepEqual(shown, want) {
			t.Errorf("%s: the question shows %v, expected %v", config, shown, want)
		}
		if payloadOf(t, got.ID)["email"] != "pat@example.com" {
			t.Errorf("%s: the ID token has %v", config, payloadOf(t, got.ID))
		}
	}
}

// TestConsentShowsManyGroups: of many groups the question shows some and their number, and of a text no characters that
// change how others are read.
func TestConsentShowsManyGroups(t *testing.T) {
	w := newTestApp(t)
	w.createPat()
	for i := range 12 {
		w.create(w.directory.Groups, fmt.Sprintf(`{"name":"team-%02d","members":[{"type":"user","id":%q}]}`, i, w.userNamed("pat")))
	}
	c := w.create(w.directory.Applications, `{"name":"Wiki","requireConsent":true,"inboundAuthConfig":[{"type":"oauth2","config":{"redirectUris":["`+rpRedirect+`"],
		"claims":[{"name":"odd","source":"constant","value":"a\u202eb","scopes":["openid"]}]}}]}`).Value.(*schemas.Application)
	p := &party{testApp: w, t: t, http: newBrowser(t, w.http), mode: "query", id: c.ClientID, secret: c.ClientSecret, method: schemas.AuthMethodBasic, redirect: rpRedirect}
	asked, _ := p.consentTo("scope", "openid groups profile")
	shown := shownClaims(t, asked)
	if groups := strings.Join(shown["groups"], ""); groups != "groups=team-00, team-01, team-02, team-03, team-04, … (12)" || shown["openid"][0] != "odd=a b" {
		t.Errorf("the question shows %q, %q", groups, shown["openid"])
	}
	text, err := json.Marshal(asked.Data.Meta)
	if err != nil || !strings.Contains(string(text), `"label":"Given name"`) || !strings.Contains(string(text), `"label":"If you add them:"`) || strings.Contains(string(text), "nickname=") {
		t.Errorf("the page shows %s, %v", text, err)
	}
}

// TestClaimsAreTranslated: every standard claim has a label for the question of consent, in all languages.
func TestClaimsAreTranslated(t *testing.T) {
	german := translations.Builtin().Match("de").Flows // package translations compares the languages
	for _, scope := range schemas.AllIdentityScopes() {
		for _, name := range scope.Claims {
			if label := claims.Label([]string{name}); label == name || german[label] == "" {
				t.Errorf("the claim %s has the label %q, which is not translated", name, label)
			}
		}
	}
	for _, text := range []string{"Yes", "No", "If you add them:"} {
		if german[text] == "" {
			t.Errorf("%q is not translated", text)
		}
	}
}
