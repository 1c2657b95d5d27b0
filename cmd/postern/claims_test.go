package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// A user is in the group developers, which is in engineering, which is in all-staff, and in argocd-admins. The group
// engineering has the role Builder with permissions of the resource server build, and the user has the role Buyer with
// one of the shop. The unit of the user is Sales, in Acme.
func (w *testApp) createStaff() {
	w.t.Helper()
	w.createPat()
	pat := w.userNamed("pat")
	group := func(name, members string) string {
		return w.create(w.directory.Groups, `{"name":"`+name+`","members":[`+members+`]}`).ID
	}
	user := `{"type":"user","id":"` + pat + `"}`
	developers := group("developers", user)
	engineering := group("engineering", `{"type":"group","id":"`+developers+`"}`)
	group("all-staff", `{"type":"group","id":"`+engineering+`"}`)
	group("argocd-admins", user)
	group("others", "")
	for _, handle := range []string{"build", "shop"} {
		w.create(w.directory.ResourceServers, `{"handle":"`+handle+`","name":"`+handle+`","identifier":"https://`+handle+`.example","resources":[{"handle":"jobs","actions":[{"handle":"run"},{"handle":"stop"}]}]}`)
	}
	w.create(w.directory.Roles, `{"name":"Builder","permissions":["build:jobs:run"],"assignments":[{"type":"group","id":"`+engineering+`"}]}`)
	w.create(w.directory.Roles, `{"name":"Buyer","permissions":["shop:jobs"],"assignments":[`+user+`]}`)
	acme := w.create(w.directory.Units, `{"handle":"acme","name":"Acme Inc."}`).ID
	sales := w.create(w.directory.Units, `{"handle":"sales","name":"Sales","parentId":"`+acme+`"}`).ID
	w.patchUser(w.userNamed("pat"), `{"ouId":"`+sales+`"}`)
}

// patchUser changes members of a user, as an administrator does.
func (w *testApp) patchUser(userID, body string) {
	w.t.Helper()
	if rec := w.exchange(http.MethodPatch, "/users/"+userID, body, jsonBody, bearer(w.admin())); rec.Code != http.StatusOK {
		w.t.Fatalf("PATCH: %d %s", rec.Code, rec.Body)
	}
}

// documents are what an application learns about a user, by the targets of claims, without the claims of the protocol.
type documents map[string]map[string]any

// collect gets each document for new tokens.
func (p *party) collectClaims(got *tokens) documents {
	p.t.Helper()
	d := documents{"userinfo": p.userinfo(got.Access), "accessToken": payloadOf(p.t, got.Access), "introspection": p.object(p.submit(p.at("/oauth2/introspect"), url.Values{"token": {got.Access}}, "Authorization: "+p.basic()))}
	if got.ID != "" {
		d["idToken"] = payloadOf(p.t, got.ID)
	}
	delete(d["introspection"], "username") // RFC 7662 §2.2
	for _, claims := range d {
		for name := range claims {
			if schemas.IsProtocolClaim(name) || name == "active" || name == "token_type" {
				delete(claims, name)
			}
		}
	}
	return d
}

// basic is the client's authentication.
func (p *party) basic() string {
	r := &http.Request{Header: http.Header{}}
	r.SetBasicAuth(url.QueryEscape(p.id), url.QueryEscape(p.secret))
	return r.Header.Get("Authorization")
}

// TestClaimsOfApplications: what an application learns, by its configuration and the requested scopes.
func TestClaimsOfApplications(t *testing.T) {
	const all = `["all-staff","argocd-admins","developers","engineering"]`
	tests := []struct {
		name, config, scope string
		want                map[string]string // by target: the members, as JSON; others than these are absent
	}{
		{"the scope openid alone", ``, "openid", nil},
		{"nested groups", ``, "openid groups", map[string]string{"idToken": `{"groups":` + all + `}`, "userinfo": `{"groups":` + all + `}`}},
		{"roles, also those of groups", ``, "openid roles", map[string]string{"idToken": `{"roles":["Builder","Buyer"]}`, "userinfo": `{"roles":["Builder","Buyer"]}`}},
		{"the organization", ``, "openid organization", map[string]string{
			"idToken":  `{"ouId":"UNIT","ouName":"Sales","ouHandle":"sales","userType":"Person"}`,
			"userinfo": `{"ouId":"UNIT","ouName":"Sales","ouHandle":"sales","userType":"Person"}`}},
		{"a scope that is not registered", `"scopes":["openid"]`, "openid groups", nil},
		{"a registered scope", `"scopes":["openid","groups"],"userInfo":{"userAttributes":[]}`, "openid groups roles", map[string]string{"idToken": `{"groups":` + all + `}`}},
		{"a renamed claim", `"claims":[{"name":"memberOf","source":"groups","scopes":["profile"],"targets":["userinfo"]}],"scopeClaims":{"profile":[]}`, "openid profile",
			map[string]string{"userinfo": `{"memberOf":` + all + `}`}},
		{"a renamed claim without its scope", `"claims":[{"name":"memberOf","source":"groups","scopes":["profile"]}]`, "openid", nil},
		{"a prefix", `"claims":[{"name":"groups","source":"groups","prefix":"argocd-","removePrefix":true,"addPrefix":"role:","targets":["idToken"]}]`, "openid",
			map[string]string{"idToken": `{"groups":["role:admins"]}`}},
		{"a filter", `"claims":[{"name":"g","source":"groups","filter":"(dev|eng).*","targets":["idToken"]}]`, "openid", map[string]string{"idToken": `{"g":["developers","engineering"]}`}},
		{"below a group", `"claims":[{"name":"g","source":"groups","ancestor":"all-staff","targets":["idToken"]}]`, "openid", map[string]string{"idToken": `{"g":["developers","engineering"]}`}},
		{"only the direct groups of the user", `"claims":[{"name":"g","source":"groups","direct":true,"targets":["idToken"]}]`, "openid", map[string]string{"idToken": `{"g":["argocd-admins","developers"]}`}},
		{"all groups but some", `"claims":[{"name":"g","source":"groups","exclude":"(argocd|all)-.*","addPrefix":"/","targets":["idToken"]}]`, "openid", map[string]string{"idToken": `{"g":["/developers","/engineering"]}`}},
		{"the last part of names", `"claims":[{"name":"n","source":"permissions","remove":".*:","addPrefix":"may-","targets":["idToken"]}]`, "openid", map[string]string{"idToken": `{"n":["may-run","may-jobs"]}`}},
		{"the first of several", `"claims":[{"name":"g","source":"groups","first":true,"targets":["idToken"]},{"name":"none","source":"groups","prefix":"x","first":true,"targets":["idToken"]}]`, "openid",
			map[string]string{"idToken": `{"g":"all-staff"}`}},
		{"no empty lists", `"claims":[{"name":"a.b","source":"roles","prefix":"x","omitEmpty":true,"targets":["idToken"]},{"name":"c.d","source":"roles","prefix":"x","targets":["idToken"]}]`, "openid",
			map[string]string{"idToken": `{"c":{"d":[]}}`}},
		{"a string instead of a list", `"claims":[{"name":"g","source":"groups","type":"string","separator":" ","targets":["idToken"]}]`, "openid",
			map[string]string{"idToken": `{"g":"all-staff argocd-admins developers engineering"}`}},
		{"a list instead of a string", `"claims":[{"name":"names","source":"attribute","attribute":"username","type":"list","targets":["idToken"]}]`, "openid", map[string]string{"idToken": `{"names":["pat"]}`}},
		{"the roles of one resource server", `"claims":[{"name":"roles","source":"roles","resourceServer":"build","targets":["accessToken"]}]`, "openid", map[string]string{"accessToken": `{"roles":["Builder"]}`}},
		{"permissions", `"claims":[{"name":"permissions","source":"permissions","targets":["accessToken"]}]`, "openid", map[string]string{"accessToken": `{"permissions":["build:jobs:run","shop:jobs"]}`}},
		{"nested names", `"claims":[{"name":"realm_access.roles","source":"roles","targets":["accessToken"]},{"name":"realm_access.kind","source":"userType","targets":["accessToken"]}]`, "openid",
			map[string]string{"accessToken": `{"realm_access":{"roles":["Builder","Buyer"],"kind":"Person"}}`}},
		{"a name with dots", `"claims":[{"path":["https://hasura.io/jwt/claims","x-hasura.role"],"source":"constant","value":"user","targets":["idToken"]},
			{"name":"https://example.com/unit","source":"organizationUnit","format":"path","targets":["idToken"]}]`, "openid",
			map[string]string{"idToken": `{"https://hasura.io/jwt/claims":{"x-hasura.role":"user"},"https://example.com/unit":"acme/sales"}`}},
		{"an expression", `"claims":[{"name":"level","source":"expression","expression":"'developers' in user.groups && 'build:jobs' in user.permissions ? 3 : size(user.roles)","targets":["idToken"]},
			{"name":"who","source":"expression","expression":"{'unit': user.unit, 'mail': [user.attributes.email, user.type]}","targets":["userinfo"]},
			{"name":"none","source":"expression","expression":"user.attributes.moon","targets":["userinfo"]}]`, "openid",
			map[string]string{"idToken": `{"level":2}`, "userinfo": `{"who":{"unit":"acme/sales","mail":["pat@example.com","Person"]}}`}},
		{"only at introspection", `"claims":[{"name":"groups","source":"groups","targets":["introspection"]}]`, "openid", map[string]string{"introspection": `{"groups":` + all + `}`}},
		{"only at userinfo", `"claims":[{"name":"groups","source":"groups","targets":["userinfo"]}]`, "openid", map[string]string{"userinfo": `{"groups":` + all + `}`}},
		{"a claim that a permission releases", `"scopes":["openid","build"],"claims":[{"name":"ci","source":"constant","value":"true","type":"boolean","scopes":["build"],"targets":["accessToken"]}]`, "openid build", nil},
		{"a claim that a granted permission releases", `"scopes":["openid","build:jobs:run"],"claims":[{"name":"ci","source":"constant","value":"true","type":"boolean","scopes":["build:jobs:run"],"targets":["accessToken"]}]`,
			"openid build:jobs:run", map[string]string{"accessToken": `{"ci":true}`}},
		{"a scope of the application", `"scopes":["openid"],"scopeClaims":{"staff":["groups","given_name"]}`, "openid staff",
			map[string]string{"idToken": `{"groups":` + all + `,"given_name":"Pat"}`, "userinfo": `{"groups":` + all + `,"given_name":"Pat"}`}},
		{"a scope of another application", ``, "openid staff", nil},
		{"a standard scope with other claims", `"scopeClaims":{"email":["email","groups"]}`, "openid email",
			map[string]string{"idToken": `{"email":"pat@example.com","groups":` + all + `}`, "userinfo": `{"email":"pat@example.com","groups":` + all + `}`}},
		{"a standard scope that releases nothing", `"scopeClaims":{"email":[]}`, "openid email", nil},
		{"limits", `"token":{"idToken":{"userAttributes":["email"]},"accessToken":{"userAttributes":["given_name","ouHandle"]}},"userInfo":{"userAttributes":["email_verified"]}`, "openid email",
			map[string]string{"idToken": `{"email":"pat@example.com"}`, "userinfo": `{"email_verified":true}`, "accessToken": `{"given_name":"Pat","ouHandle":"sales"}`}},
		{"Argo CD: groups in the ID token, by the scope groups", `"scopes":["openid","groups"],"claims":[{"name":"groups","source":"groups","scopes":["groups"],"prefix":"argocd-","targets":["idToken","userinfo"]}]`, "openid groups",
			map[string]string{"idToken": `{"groups":["argocd-admins"]}`, "userinfo": `{"groups":["argocd-admins"]}`}},
		{"Grafana: a role by an expression over groups", `"claims":[{"name":"grafana_role","source":"expression","expression":"'argocd-admins' in user.groups ? 'GrafanaAdmin' : 'Viewer'"}]`, "openid",
			map[string]string{"idToken": `{"grafana_role":"GrafanaAdmin"}`, "userinfo": `{"grafana_role":"GrafanaAdmin"}`}},
		{"Grafana: the roles of one client", `"claims":[{"name":"roles","source":"roles","resourceServer":"shop","targets":["userinfo"]}]`, "openid", map[string]string{"userinfo": `{"roles":["Buyer"]}`}},
		{"Kubernetes: groups with a prefix", `"claims":[{"name":"groups","source":"groups","filter":"(dev|eng).*","addPrefix":"oidc:","targets":["idToken"]}]`, "openid", map[string]string{"idToken": `{"groups":["oidc:developers","oidc:engineering"]}`}},
		{"Kubernetes: the username from an attribute", `"claims":[{"name":"kubernetes_user","source":"attribute","attribute":"email","targets":["idToken"]}]`, "openid", map[string]string{"idToken": `{"kubernetes_user":"pat@example.com"}`}},
		{"GitLab: groups under another name in userinfo only", `"claims":[{"name":"https://gitlab.example/groups","source":"groups","ancestor":"engineering","targets":["userinfo"]}]`, "openid", map[string]string{"userinfo": `{"https://gitlab.example/groups":["developers"]}`}},
		{"MinIO: a policy as one text", `"claims":[{"name":"policy","source":"roles","type":"string","targets":["idToken"]}]`, "openid", map[string]string{"idToken": `{"policy":"Builder,Buyer"}`}},
		{"Nextcloud: a quota as a number", `"claims":[{"name":"quota","source":"constant","value":"1073741824","type":"number"}]`, "openid", map[string]string{"idToken": `{"quota":1073741824}`, "userinfo": `{"quota":1073741824}`}},
		{"Nextcloud: groups as objects", `"claims":[{"name":"groups","source":"expression","expression":"user.groups.filter(g, g.startsWith('a')).map(g, {'gid': g})","targets":["userinfo"]}]`, "openid", map[string]string{"userinfo": `{"groups":[{"gid":"all-staff"},{"gid":"argocd-admins"}]}`}},
		{"Gitea: an administrator by a boolean", `"claims":[{"name":"is_admin","source":"expression","expression":"'argocd-admins' in user.groups","targets":["idToken"]}]`, "openid", map[string]string{"idToken": `{"is_admin":true}`}},
		{"Jenkins: authorities by a path", `"claims":[{"name":"resource_access.jenkins.roles","source":"roles","filter":"B.*","targets":["idToken","accessToken"]}]`, "openid",
			map[string]string{"idToken": `{"resource_access":{"jenkins":{"roles":["Builder","Buyer"]}}}`, "accessToken": `{"resource_access":{"jenkins":{"roles":["Builder","Buyer"]}}}`}},
		{"Vault: nested and flat names side by side", `"claims":[{"name":"meta.unit","source":"organizationUnit","format":"path","targets":["accessToken"]},{"name":"meta.type","source":"userType","targets":["accessToken"]},{"name":"meta_id","source":"organizationUnit","targets":["accessToken"]}]`, "openid",
			map[string]string{"accessToken": `{"meta":{"unit":"acme/sales","type":"Person"},"meta_id":"UNIT"}`}},
		{"Hasura: names with dashes below a URL", `"claims":[{"path":["https://hasura.io/jwt/claims","x-hasura-allowed-roles"],"source":"roles","targets":["accessToken"]},{"path":["https://hasura.io/jwt/claims","x-hasura-default-role"],"source":"constant","value":"user","targets":["accessToken"]}]`, "openid",
			map[string]string{"accessToken": `{"https://hasura.io/jwt/claims":{"x-hasura-allowed-roles":["Builder","Buyer"],"x-hasura-default-role":"user"}}`}},
		{"AWS: session tags", `"claims":[{"path":["https://aws.amazon.com/tags","principal_tags","Team"],"source":"groups","prefix":"dev","targets":["idToken"]},{"path":["https://aws.amazon.com/tags","transitive_tag_keys"],"source":"constant","value":"Team","type":"list","targets":["idToken"]}]`, "openid",
			map[string]string{"idToken": `{"https://aws.amazon.com/tags":{"principal_tags":{"Team":["developers"]},"transitive_tag_keys":["Team"]}}`}},
		{"a JSON object", `"claims":[{"name":"settings","source":"constant","value":"{\"a\":[1,true,null]}","type":"object","targets":["userinfo"]},{"name":"address","source":"attribute","targets":["accessToken"]}]`, "openid",
			map[string]string{"userinfo": `{"settings":{"a":[1,true,null]}}`, "accessToken": `{"address":{"locality":"Ghent"}}`}},
		{"a part of an attribute", `"claims":[{"name":"city","source":"expression","expression":"user.attributes.address.locality","targets":["userinfo"]}]`, "openid", map[string]string{"userinfo": `{"city":"Ghent"}`}},
		{"permissions of one server without its name", `"claims":[{"name":"scopes","source":"permissions","resourceServer":"build","prefix":"build:","removePrefix":true,"type":"string","separator":" ","targets":["accessToken","introspection"]}]`, "openid",
			map[string]string{"accessToken": `{"scopes":"jobs:run"}`, "introspection": `{"scopes":"jobs:run"}`}},
		{"one name with another value in each document", `"claims":[{"name":"who","source":"attribute","attribute":"username","targets":["idToken"]},{"name":"who","source":"attribute","attribute":"email","targets":["userinfo"]},{"name":"who","source":"userType","targets":["introspection"]}]`, "openid",
			map[string]string{"idToken": `{"who":"pat"}`, "userinfo": `{"who":"pat@example.com"}`, "introspection": `{"who":"Person"}`}},
		{"a value that cannot have the type", `"claims":[{"name":"n","source":"attribute","attribute":"username","type":"number"},{"name":"b","source":"attribute","attribute":"email","type":"boolean"},{"name":"o","source":"attribute","attribute":"username","type":"object"}]`, "openid", nil},
		{"an attribute that the user lacks", `"claims":[{"name":"nick","source":"attribute","attribute":"nickname"},{"name":"nicks","source":"attribute","attribute":"nickname","type":"list"}]`, "openid", nil},
		{"no groups that match", `"claims":[{"name":"g","source":"groups","prefix":"zzz","targets":["idToken"]}]`, "openid", map[string]string{"idToken": `{"g":[]}`}},
		{"the time of the last change in the ID token", `"token":{"idToken":{"userAttributes":["given_name"]}},"claims":[{"name":"changed","source":"attribute","attribute":"updated_at","type":"string","targets":["idToken"]}],"scopeClaims":{"profile":["given_name"]}`, "openid profile",
			map[string]string{"idToken": `{"given_name":"Pat","changed":"CHANGED"}`, "userinfo": `{"given_name":"Pat"}`}},
		{"the other spelling for access tokens", `"token":{"accessToken":{"userConfig":{"attributes":["groups"]}}}`, "openid", map[string]string{"accessToken": `{"groups":` + all + `}`}},
	}
	onEachDatabase(t, func(t *testing.T, w *testApp) {
		w.createStaff()
		unit, err := w.store.User(t.Context(), w.userNamed("pat"))
		if err != nil {
			t.Fatal(err)
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				p := w.configuredClient(t, strings.Trim(`"redirectUris":["`+rpRedirect+`"],"grantTypes":["authorization_code","refresh_token"],`+tt.config, ","))
				got, _, _ := p.signInAndVerify("scope", tt.scope)
				p.wantClaims("", p.collectClaims(got), tt.want, unit.OUID)
				refreshed, status := p.token(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {got.Refresh}})
				if status != http.StatusOK {
					t.Fatalf("refreshing: %d %+v", status, refreshed)
				}
				p.wantClaims("refreshed ", p.collectClaims(refreshed), tt.want, unit.OUID)
			})
		}
	})
}

// wantClaims compares documents with the members that each should have.
func (p *party) wantClaims(when string, got documents, want map[string]string, unit string) {
	p.t.Helper()
	for target, claims := range got {
		expected := map[string]any{}
		if text := want[target]; text != "" {
			if strings.Contains(text, "CHANGED") {
				user, err := p.store.User(p.t.Context(), p.userNamed("pat"))
				if err != nil {
					p.t.Fatal(err)
				}
				text = strings.ReplaceAll(text, "CHANGED", strconv.FormatInt(user.UpdatedAt.Unix(), 10))
			}
			if err := json.Unmarshal([]byte(strings.ReplaceAll(text, "UNIT", unit)), &expected); err != nil {
				p.t.Fatal(err)
			}
		}
		if !reflect.DeepEqual(claims, expected) {
			p.t.Errorf("%s%s has %v, expected %v", when, target, claims, expected)
		}
	}
}

// TestClaimsFollowMemberships: a user who leaves a group loses it at userinfo at once, and with the next token.
func TestClaimsFollowMemberships(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, w *testApp) {
		w.createPat()
		group := w.create(w.directory.Groups, `{"name":"admins","members":[{"type":"user","id":"`+w.userNamed("pat")+`"}]}`).ID
		p := w.configuredClient(t, `"redirectUris":["`+rpRedirect+`"],"grantTypes":["authorization_code","refresh_token"],"token":{"accessToken":{"userAttributes":["groups"]}}`)
		got, _, _ := p.signInAndVerify("scope", "openid groups")
		in := map[string]string{"idToken": `{"groups":["admins"]}`, "userinfo": `{"groups":["admins"]}`, "accessToken": `{"groups":["admins"]}`}
		p.wantClaims("a member's ", p.collectClaims(got), in, "")
		w.put("/groups/"+group, `{"name":"admins","members":[]}`, w.admin())
		if now := p.userinfo(got.Access)["groups"]; !reflect.DeepEqual(now, []any{}) {
			t.Errorf("userinfo has %v after the user has left the group", now)
		}
		next, status := p.token(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {got.Refresh}})
		if status != http.StatusOK {
			t.Fatalf("%d %+v", status, next)
		}
		p.wantClaims("later ", p.collectClaims(next), map[string]string{"idToken": `{"groups":[]}`, "userinfo": `{"groups":[]}`, "accessToken": `{"groups":[]}`}, "")
	})
}

// TestClaimsNeedConsent: an application that asks for consent gets a claim only with a granted scope, in access tokens
// too.
func TestClaimsNeedConsent(t *testing.T) {
	w := newTestApp(t)
	w.createStaff()
	for scope, want := range map[string]string{"openid": `{}`, "openid team": `{"groups":["all-staff","argocd-admins","developers","engineering"]}`, "openid profile": `{"given_name":"Pat"}`} {
		c := w.create(w.directory.Applications, `{"name":"`+schemas.NewID()+`","requireConsent":true,"inboundAuthConfig":[{"type":"oauth2","config":{"redirectUris":["`+rpRedirect+`"],
			"scopeClaims":{"team":["groups"]},"token":{"accessToken":{"userAttributes":["groups","given_name","roles"]}}}}]}`).Value.(*schemas.Application)
		p := &party{testApp: w, t: t, http: newBrowser(t, w.http), mode: "query", id: c.ClientID, secret: c.ClientSecret, method: schemas.AuthMethodBasic, redirect: rpRedirect}
		got, _, _ := p.signInAndVerify("scope", scope)
		p.wantClaims(scope+": ", documents{"accessToken": p.collectClaims(got)["accessToken"]}, map[string]string{"accessToken": want}, "")
	}
}

// TestAttributesAreNoProtocolClaims: no attribute, scope or declared claim sets a claim of the protocol.
func TestAttributesAreNoProtocolClaims(t *testing.T) {
	w := newTestApp(t)
	for _, config := range []string{
		`"claims":[{"name":"sub","source":"constant","value":"root"}]`, `"claims":[{"name":"ISS","source":"constant","value":"root"}]`,
		`"claims":[{"name":"cnf.jkt","source":"constant","value":"x"}]`, `"claims":[{"path":["act"],"source":"attribute"}]`,
		`"claims":[{"name":"active","source":"constant","value":"x","targets":["introspection"]}]`,
		`"scopeClaims":{"staff":["sub"]}`, `"scopeClaims":{"staff":["entitlements"]}`, `"scopeClaims":{"system:users":["name"]}`, `"scopeClaims":{"a b":[]}`,
		`"token":{"accessToken":{"userAttributes":["scope"]}}`, `"token":{"idToken":{"userAttributes":["nonce"]}}`, `"userInfo":{"userAttributes":["aud"]}`,
		`"claims":[{"name":"a","source":"groups"},{"name":"a.b","source":"roles"}]`, `"claims":[{"name":"a","source":"groups","format":"id"}]`,
		`"claims":[{"name":"a","source":"groups","filter":"("}]`, `"claims":[{"name":"a","source":"groups","exclude":"("}]`, `"claims":[{"name":"a","source":"groups","remove":"("}]`, `"claims":[{"name":"a","source":"roles","direct":true}]`, `"claims":[{"name":"a","source":"roles","resourceServer":"nothing"}]`, `"claims":[{"source":"roles"}]`,
		`"claims":[{"name":"a","source":"constant"}]`, `"claims":[{"name":"a","source":"expression","expression":"user.moon"}]`, `"claims":[{"name":"a","source":"expression"}]`, `"claims":[{"name":"a","source":"moon"}]`, `"claims":[{"name":"a","source":"roles","scopes":["nothing"]}]`, `"claims":[{"name":"a..b","source":"roles"}]`,
	} {
		body := fmt.Sprintf(`{"name":"Wiki","inboundAuthConfig":[{"type":"oauth2","config":{"redirectUris":[%q],%s}}]}`, rpRedirect, config)
		if rec := w.exchange(http.MethodPost, "/applications", body, jsonBody, bearer(w.admin())); rec.Code != http.StatusBadRequest {
			t.Errorf("%s: %d %s", config, rec.Code, rec.Body)
		}
	}
}

// TestScopeNamesAreNoPermissions: a resource server cannot take the name of a scope, nor a scope that of a permission.
func TestScopeNamesAreNoPermissions(t *testing.T) {
	w := newTestApp(t)
	admin := w.admin()
	w.create(w.directory.ResourceServers, `{"handle":"shop","name":"Shop"}`)
	w.create(w.directory.Applications, `{"name":"Wiki","inboundAuthConfig":[{"type":"oauth2","config":{"redirectUris":["`+rpRedirect+`"],"scopeClaims":{"staff":[],"team:read":[]}}}]}`)
	for _, body := range []string{`{"handle":"staff","name":"Staff"}`, `{"handle":"team","name":"Team"}`, `{"handle":"groups","name":"Groups"}`, `{"handle":"organization","name":"O"}`} {
		if rec := w.exchange(http.MethodPost, "/resource-servers", body, jsonBody, bearer(admin)); rec.Code != http.StatusBadRequest && rec.Code != http.StatusConflict {
			t.Errorf("%s: %d %s", body, rec.Code, rec.Body)
		}
	}
	for _, scope := range []string{"shop", "shop:orders"} {
		body := `{"name":"Other","inboundAuthConfig":[{"type":"oauth2","config":{"redirectUris":["` + rpRedirect + `"],"scopeClaims":{"` + scope + `":[]}}}]}`
		if rec := w.exchange(http.MethodPost, "/applications", body, jsonBody, bearer(admin)); rec.Code != http.StatusBadRequest {
			t.Errorf("the scope %s: %d %s", scope, rec.Code, rec.Body)
		}
	}
}

// TestEarlierResourceServerKeepsItsScope: where a resource server has the handle groups, from before the scope, the
// scope is its permission: no user gains it, and who has it keeps it.
func TestEarlierResourceServerKeepsItsScope(t *testing.T) {
	w := newTestApp(t)
	w.createPat()
	organization := schemas.NewID()
	err := w.store.Update(t.Context(), func(tx *store.Tx) error {
		unit, err := store.Units().Find(t.Context(), tx, "handle", directory.DefaultUnit)
		if err != nil {
			return err
		}
		return errors.Join(store.ResourceServers().Insert(tx, &schemas.ResourceServer{ID: schemas.NewID(), Handle: "groups", Name: "Groups", OUID: unit.ID, Identifier: "https://groups.example"}),
			store.ResourceServers().Insert(tx, &schemas.ResourceServer{ID: organization, Handle: "organization", Name: "Organization", OUID: unit.ID}))
	})
	if err != nil {
		t.Fatal(err)
	}
	p := w.configuredClient(t, `"redirectUris":["`+rpRedirect+`"],"scopes":["openid","groups","roles"],"token":{"accessToken":{"userAttributes":["roles"]}}`)
	got, _, _ := p.signInAndVerify("scope", "openid groups roles", "resource", "https://groups.example")
	if scopes := scopesOf(t, got.Access); !slices.Equal(scopes, []string{"openid", "roles"}) {
		t.Errorf("a user without the permission gets %v", scopes)
	}
	w.create(w.directory.Roles, `{"name":"Keeper","permissions":["groups"],"assignments":[{"type":"user","id":"`+w.userNamed("pat")+`"}]}`)
	got, _, _ = p.signInAndVerify("scope", "openid groups", "resource", "https://groups.example")
	if scopes := scopesOf(t, got.Access); !slices.Contains(scopes, "groups") {
		t.Errorf("a user with the permission gets %v", scopes)
	}
	if id := payloadOf(t, got.ID); id["groups"] != nil {
		t.Errorf("the permission releases the groups %v", id["groups"])
	}
	q := w.configuredClient(t, `"redirectUris":["`+rpRedirect+`"]`)
	unit := func() any {
		got, _, _ := q.signInAndVerify("scope", "openid organization")
		return payloadOf(t, got.ID)["ouHandle"]
	}
	if got := unit(); got != nil {
		t.Errorf("where the scope is a permission, it releases %v", got)
	}
	w.remove(w.directory.ResourceServers, organization)
	if got := unit(); got != directory.DefaultUnit {
		t.Errorf("after the resource server was deleted, the scope releases %v", got)
	}
}

// TestClaimsThatUsersCanSet: no flow, user type or application lets users set an authoritative claim.
func TestClaimsThatUsersCanSet(t *testing.T) {
	w := newTestApp(t)
	admin := w.admin()
	const schema = `{"type":"object","properties":{"username":{"type":"string"},"department":{"type":"string"},"nickname":{"type":"string"},"zoneinfo":{"type":"string","readOnly":true}}}`
	kind := w.create(w.directory.UserTypes, `{"name":"Staff","schema":`+schema+`}`).ID
	application := func(name, attribute string) string {
		return `{"name":"` + name + `","allowedUserTypes":["Staff"],"inboundAuthConfig":[{"type":"oauth2","config":{"redirectUris":["` + rpRedirect + `"],
			"claims":[{"name":"rights","source":"attribute","attribute":"` + attribute + `","authoritative":true}]}}]}`
	}
	flow := func(input string) string {
		return `{"handle":"join","name":"Join","flowType":"REGISTRATION","nodes":[
			{"id":"form","use":"prompt","with":{"title":"Join","inputs":[{"identifier":"username","type":"TEXT_INPUT","required":true},{"identifier":"` + input + `","type":"TEXT_INPUT","required":true}],"actions":[{"ref":"go","label":"Go"}]},"next":"create"},
			{"id":"create","use":"user-create","with":{"type":"Staff","attributes":{"username":"username","` + input + `":"` + input + `"}},"next":{"created":"key","taken":"form"}},
			{"id":"key","use":"passkey-register","next":"done"},{"id":"done","use":"authorization-code"}]}`
	}
	federated := func(unknown, more string) string {
		return `{"handle":"join","name":"Join","flowType":"REGISTRATION","nodes":[
			{"id":"corp","use":"federated-oidc","with":{"provider":"corp","claims":{"username":"login","department":"department"},"required":["username","department"]},
				"next":{"success":"done","unknown":"` + unknown + `","failure":"no"}},` + more + `
			{"id":"create","use":"user-create","with":{"type":"Staff","attributes":{"username":"username","department":"department"}},"next":{"created":"link","taken":"no"}},
			{"id":"no","use":"prompt","with":{"title":"No","actions":[{"ref":"go","label":"Go"}]},"next":"corp"},
			{"id":"link","use":"federated-link","next":{"success":"done","taken":"no"}},{"id":"done","use":"authorization-code"}]}`
	}
	const form = `{"id":"form","use":"prompt","with":{"title":"Join","inputs":[{"identifier":"department","type":"TEXT_INPUT","required":true}],"actions":[{"ref":"go","label":"Go"}]},"next":"create"},`
	w.create(w.directory.IdentityProviders, `{"handle":"corp","name":"Corp","issuer":"https://login.example.com","clientId":"postern"}`)
	join := w.create(w.directory.Flows, flow("zoneinfo")).ID
	w.create(w.directory.Applications, `{"name":"Door","allowedUserTypes":["Staff"],"registrationFlowId":"`+join+`","isRegistrationFlowEnabled":true}`)
	plain := w.create(w.directory.Applications, `{"name":"Plain","allowedUserTypes":["Staff"],"inboundAuthConfig":[{"type":"oauth2","config":{"redirectUris":["`+rpRedirect+`"]}}]}`).ID
	claimed := func(name, claim, members string) string {
		return `{"name":"` + name + `","allowedUserTypes":["Staff"],` + members + `"inboundAuthConfig":[{"type":"oauth2","config":{"redirectUris":["` + rpRedirect + `"],"claims":[` + claim + `]}}]}`
	}
	for _, step := range []struct {
		what, method, path, body string
		status                   int
	}{
		{"an application gets such a claim", http.MethodPut, "/applications/" + plain, application("Plain", "nickname"), 400},
		{"an attribute of the account page", http.MethodPost, "/applications", application("One", "nickname"), 400},
		{"an attribute that the registration sets", http.MethodPost, "/applications", application("Two", "zoneinfo"), 400},
		{"an attribute that only administrators set", http.MethodPost, "/applications", application("Three", "department"), 201},
		{"a flow that sets it", http.MethodPut, "/flows/" + join, flow("department"), 400},
		{"a flow in which a provider states it", http.MethodPut, "/flows/" + join, federated("create", ""), 200},
		{"a flow in which users change what a provider states", http.MethodPut, "/flows/" + join, federated("form", form), 400},
		{"a flow that sets another one", http.MethodPut, "/flows/" + join, flow("nickname"), 200},
		{"the registration no longer sets it", http.MethodPost, "/applications", application("Four", "zoneinfo"), 201},
		{"a user type that opens it", http.MethodPut, "/user-types/" + kind, `{"name":"Staff","schema":` + strings.Replace(schema, `,"readOnly":true`, "", 1) + `}`, 400},
		{"an expression over an attribute of the account page", http.MethodPost, "/applications", claimed("Five", `{"name":"x","source":"expression","expression":"user.attributes.nickname","authoritative":true}`, ""), 400},
		{"an expression over any attribute", http.MethodPost, "/applications", claimed("Six", `{"name":"x","source":"expression","expression":"user.attributes[application.name]","authoritative":true}`, ""), 400},
		{"an expression over what administrators set", http.MethodPost, "/applications", claimed("Seven", `{"name":"x","source":"expression","expression":"user.attributes.department","authoritative":true}`, ""), 201},
		{"a constant in a scope of the application", http.MethodPost, "/applications", claimed("Eight", `{"name":"x","source":"constant","value":"admin","scopes":["email"],"authoritative":true}`, ""), 400},
		{"a scope that becomes free", http.MethodPost, "/applications", claimed("Nine", `{"name":"x","source":"constant","value":"admin","scopes":["openid"],"authoritative":true}`, ""), 201},
		{"an address from another attribute", http.MethodPost, "/applications", claimed("Ten", `{"name":"EMAIL","source":"attribute","attribute":"nickname"}`, ""), 400},
		{"an address that identifies nobody", http.MethodPost, "/applications", claimed("Eleven", `{"name":"email","source":"attribute","attribute":"nickname"}`, `"identifiesBy":"sub",`), 201},
		{"an address stated as verified", http.MethodPost, "/applications", claimed("Twelve", `{"name":"email_verified","source":"constant","value":"true"}`, ""), 400},
		{"an unknown way to identify users", http.MethodPost, "/applications", claimed("Thirteen", `{"name":"x","source":"groups"}`, `"identifiesBy":"nickname",`), 400},
	} {
		if rec := w.exchange(step.method, step.path, step.body, jsonBody, bearer(admin)); rec.Code != step.status || step.status == 400 && !strings.Contains(rec.Body.String(), "authoritative") && !strings.Contains(rec.Body.String(), "identifiesBy") {
			t.Errorf("%s: %d %s", step.what, rec.Code, rec.Body)
		}
	}
}

// TestNewUserTypesOpenNoClaim: a new type that an application admits, and a client that registered itself, are checked
// like others.
func TestNewUserTypesOpenNoClaim(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, w *testApp) {
		admin := w.admin()
		person := schemas.Person()
		closed := strings.ReplaceAll(string(person.Schema), `"nickname": {`, `"nickname": {"readOnly": true, `)
		w.put("/user-types/"+schemas.PersonID, `{"name":"Person","schema":`+closed+`}`, admin)
		const claim = `"inboundAuthConfig":[{"type":"oauth2","config":{"redirectUris":["` + rpRedirect + `"],"claims":[{"name":"x","source":"attribute","attribute":"nickname","authoritative":true}]}}]`
		w.send(201, "/applications", admin, `{"name":"All",`+claim+`}`, &struct{}{})
		open := `{"name":"Open","schema":{"type":"object","properties":{"username":{"type":"string"},"nickname":{"type":"string"}}}}`
		if rec := w.call(http.MethodPost, "/user-types", admin, open); rec.Code != 400 || !strings.Contains(rec.Body.String(), "authoritative") {
			t.Errorf("a new type: %d %s", rec.Code, rec.Body)
		}
		w.send(201, "/user-types", admin, strings.Replace(open, `"name":"Open",`, `"name":"Open","identifierScope":"userType",`, 1), &struct{}{})
		open = `{"name":"Own","allowedUserTypes":["Open"],` + claim + `}`
		if rec := w.call(http.MethodPost, "/applications", admin, open); rec.Code != 400 || !strings.Contains(rec.Body.String(), "authoritative") {
			t.Errorf("an application for the type: %d %s", rec.Code, rec.Body)
		}
	})
}

// TestUnverifiedAddressesIdentifyNobody: a server that sends no mail releases addresses without verification, but not to
// an application that identifies users by them, nor in an authoritative claim.
func TestUnverifiedAddressesIdentifyNobody(t *testing.T) {
	w := newTestApp(t)
	w.createPat()
	if rec := w.call(http.MethodPatch, "/users/"+w.userNamed("pat"), w.admin(), `{"attributes":{"email":"pat@other.example","email_verified":false}}`); rec.Code != http.StatusOK {
		t.Fatalf("%d %s", rec.Code, rec.Body)
	}
	for members, want := range map[string]bool{``: true, `"identifiesBy":"sub",`: true, `"identifiesBy":"email",`: false} {
		body := `{"name":"` + schemas.NewID() + `",` + members + `"assertion":{"userAttributes":["email"]},"inboundAuthConfig":[{"type":"oauth2","config":{"redirectUris":["` + rpRedirect + `"],"claims":[
			{"name":"mail","source":"attribute","attribute":"email"},{"name":"sure","source":"attribute","attribute":"email","authoritative":true},
			{"name":"made","source":"expression","expression":"user.attributes.email"},{"name":"certain","source":"expression","expression":"user.attributes.email","authoritative":true}]}}]}`
		c := w.create(w.directory.Applications, body).Value.(*schemas.Application)
		p := &party{testApp: w, t: t, http: newBrowser(t, w.http), mode: "query", id: c.ClientID, secret: c.ClientSecret, method: schemas.AuthMethodBasic, redirect: rpRedirect}
		got, _, _ := p.signInAndVerify("scope", "openid email")
		found := p.userinfo(got.Access)
		for name, released := range map[string]bool{"email": want, "mail": want, "made": want, "sure": false, "certain": false} {
			if (found[name] != nil) != released {
				t.Errorf("%s: %s is released: %t", members, name, !released)
			}
		}
	}
}

// TestClaimsAreExplained: an administrator sees what an application learns about a user, and why.
func TestClaimsAreExplained(t *testing.T) {
	w := newTestApp(t)
	w.createStaff()
	app := w.create(w.directory.Applications, `{"name":"Wiki","inboundAuthConfig":[{"type":"oauth2","config":{"redirectUris":["`+rpRedirect+`"],
		"claims":[{"name":"team","source":"attribute","attribute":"given_name","targets":["accessToken"]},{"name":"ci","source":"roles","resourceServer":"build","scopes":["roles"]}]}}]}`).ID
	var report directory.ClaimsReport
	path := "/applications/" + app + "/claims?user=" + w.userNamed("pat") + "&scope=openid+email+roles"
	rec := w.call(http.MethodGet, path, w.admin(), "")
	if err := json.Unmarshal(rec.Body.Bytes(), &report); err != nil || rec.Code != http.StatusOK {
		t.Fatalf("%d %s, %v", rec.Code, rec.Body, err)
	}
	if got := fmt.Sprintf("%v %v %v %v", report.Documents["accessToken"], report.Documents["userinfo"]["ci"], report.Documents["userinfo"]["email"], report.Documents["idToken"]["given_name"]); got != "map[team:Pat] [Builder] pat@example.com <nil>" {
		t.Errorf("the documents are %v", report.Documents)
	}
	why := map[string]string{}
	for _, c := range report.Claims {
		why[c.Name()] = c.Reason
		if c.Name() == "team" && !slices.Contains(c.SetByUsers, "the account page") {
			t.Errorf("users can set %+v", c)
		}
	}
	for name, want := range map[string]string{"team": "needs no scope", "ci": "the scope roles", "email": "the scope email", "given_name": "none of its scopes is granted: profile"} {
		if !strings.Contains(why[name], want) {
			t.Errorf("%s: %q, expected %q", name, why[name], want)
		}
	}
	for scope, status := range map[string]int{"system:applications:read": 403, "system:applications:read system:users:read": 403, "system": 200, "system:users:read": 403} {
		token, err := w.issueToken(t.Context(), "", strings.Fields(scope), time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if got := w.get(path, token); got != status {
			t.Errorf("with %s: %d, expected %d", scope, got, status)
		}
	}
}

// TestMetadataListsClaims: the metadata list the scopes and claims that exist.
func TestMetadataListsClaims(t *testing.T) {
	p := newParties(t, "query")(t)
	found := p.discovery()
	for member, names := range map[string][]string{
		"scopes_supported": {"openid", "profile", "groups", "roles", "organization"},
		"claims_supported": {"sub", "email", "updated_at", "groups", "roles", "ouId", "ouName", "ouHandle", "userType"},
	} {
		listed, _ := found[member].([]any)
		for _, name := range names {
			if !slices.Contains(listed, any(name)) {
				t.Errorf("%s lacks %s: %v", member, name, listed)
			}
		}
	}
	got, _, _ := p.signInAndVerify("scope", "openid profile")
	updated, _ := p.userinfo(got.Access)["updated_at"].(float64)
	user, err := p.store.User(t.Context(), p.userNamed("pat"))
	if err != nil || int64(updated) != user.UpdatedAt.Unix() {
		t.Errorf("updated_at is %v, expected %d; %v", updated, user.UpdatedAt.Unix(), err)
	}
}

// TestClaimsRequestedByName: the parameter claims of OpenID Connect Core §5.5.
func TestClaimsRequestedByName(t *testing.T) {
	w := newTestApp(t)
	w.createStaff()
	for _, tt := range []struct {
		name, config, scope, request string
		want                         map[string]string
	}{
		{"claims without their scopes", ``, "openid", `{"id_token":{"given_name":null,"groups":null},"userinfo":{"family_name":{"essential":true}}}`,
			map[string]string{"idToken": `{"given_name":"Pat","groups":["all-staff","argocd-admins","developers","engineering"]}`, "userinfo": `{"family_name":"Doe"}`}},
		{"a scope that the client may not request", `"scopes":["openid"]`, "openid", `{"id_token":{"given_name":null},"userinfo":{"groups":null}}`, nil},
		{"claims that do not exist", ``, "openid", `{"id_token":{"moon":{"essential":true}},"userinfo":{"middle_name":{"essential":true}},"more":1}`, nil},
		{"a value that the user has", ``, "openid", `{"userinfo":{"given_name":{"value":"Pat"},"family_name":{"values":["Roe","Doe"]}}}`, map[string]string{"userinfo": `{"given_name":"Pat","family_name":"Doe"}`}},
		{"a value that the user does not have", ``, "openid", `{"userinfo":{"given_name":{"value":"Kim"},"family_name":{"values":["Roe"]}}}`, nil},
		{"what the ID token is limited to", `"token":{"idToken":{"userAttributes":["name"]}}`, "openid", `{"id_token":{"given_name":null,"name":null}}`, map[string]string{"idToken": `{"name":"Pat Doe"}`}},
		{"consent to the scope", `"scopeClaims":{"team":["groups"]}`, "openid", `{"userinfo":{"groups":null}}`, map[string]string{"userinfo": `{"groups":["all-staff","argocd-admins","developers","engineering"]}`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := w.configuredClient(t, strings.Trim(`"redirectUris":["`+rpRedirect+`"],"grantTypes":["authorization_code","refresh_token"],`+tt.config, ","))
			got, _, _ := p.signInAndVerify("scope", tt.scope, "claims", tt.request)
			found := p.collectClaims(got)
			p.wantClaims("", found, tt.want, "")
			refreshed, _ := p.token(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {got.Refresh}})
			p.wantClaims("refreshed ", p.collectClaims(refreshed), tt.want, "")
		})
	}
	p := w.configuredClient(t, `"redirectUris":["`+rpRedirect+`"]`)
	got, _, _ := p.signInAndVerify("scope", "openid", "claims", `{"id_token":{"updated_at":null}}`)
	if payloadOf(t, got.ID)["updated_at"] == nil {
		t.Error("the ID token lacks updated_at")
	}
	p.refused(p.ask("claims", `{"id_token":{"sub":{"value":"`+schemas.NewID()+`"}}}`, "prompt", "none"), "login_required")
	p.refused(p.ask("claims", `{"id_token":{"acr":{"essential":true,"values":["phr"]}}}`), "unmet_authentication_requirements")
	p.refused(p.ask("claims", `{"id_token":[]}`), "invalid_request")
	third := w.create(w.directory.Applications, `{"name":"Third party","requireConsent":true,"inboundAuthConfig":[{"type":"oauth2","config":{"redirectUris":["`+rpRedirect+`"]}}]}`).Value.(*schemas.Application)
	p = &party{testApp: w, t: t, http: newBrowser(t, w.http), mode: "query", id: third.ClientID, secret: third.ClientSecret, method: schemas.AuthMethodBasic, redirect: rpRedirect}
	got, _, _ = p.signInAndVerify("scope", "openid", "claims", `{"id_token":{"groups":null},"userinfo":{"email":null}}`)
	p.wantClaims("without consent ", p.collectClaims(got), nil, "")
}
