package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/postern-id/postern/schemas"
)

// aboutUser are the claims of a token or reply that are not those of the protocols.
func aboutUser(claims map[string]any) map[string]any {
	for name := range claims {
		if schemas.IsProtocolClaim(name) || name == "active" || name == "token_type" || name == "username" {
			delete(claims, name)
		}
	}
	return claims
}

// putServer replaces a resource server with its claims, and returns the status.
func (w *testApp) putServer(id, handle, claims string) (status int, said string) {
	w.t.Helper()
	rec := w.exchange(http.MethodPut, "/resource-servers/"+id, fmt.Sprintf(`{"handle":%q,"name":%q,"identifier":"https://%s.example","resources":[{"handle":"jobs","actions":[{"handle":"run"},{"handle":"stop"}]}],"claims":[%s]}`,
		handle, handle, handle, claims), jsonBody, bearer(w.admin()))
	return rec.Code, rec.Body.String()
}

// serverIDs are the ids of the resource servers, by handle.
func (w *testApp) serverIDs() map[string]string {
	ids := map[string]string{}
	for _, item := range w.items(w.admin(), "/resource-servers?limit=100", "resourceServers") {
		ids[item["handle"].(string)] = item["id"].(string)
	}
	return ids
}

// TestClaimsOfResourceServers: access tokens for a resource server, and introspection, have its claims if a permission of
// it is granted. No application sets one of these names there.
func TestClaimsOfResourceServers(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, w *testApp) {
		w.createStaff()
		ids := w.serverIDs()
		for handle, claims := range map[string]string{
			"build": `{"name":"roles","source":"roles","resourceServer":"build"},{"name":"unit","source":"organizationUnit","format":"path","scopes":["build:jobs:run"],"targets":["accessToken"]},{"name":"both","source":"constant","value":"build"}`,
			"shop":  `{"name":"buyer","source":"attribute","attribute":"given_name"},{"name":"both.of","source":"constant","value":"shop"}`,
		} {
			if status, said := w.putServer(ids[handle], handle, claims); status != http.StatusOK {
				t.Fatalf("%d %s", status, said)
			}
		}
		const build, shop = "https://build.example", "https://shop.example"
		const spoofs = `"claims":[{"name":"roles","source":"constant","value":"root","targets":["accessToken","introspection","idToken"]},{"name":"both.x","source":"constant","value":"x","targets":["accessToken"]},{"name":"own","source":"userType","targets":["accessToken"]}],`
		for _, tt := range []struct {
			name, config, scope string
			resources           []string
			access, introspects string
		}{
			{"its permission", "", "openid build:jobs:run", []string{build}, `{"roles":["Builder"],"unit":"acme/sales","both":"build"}`, `{"roles":["Builder"],"both":"build"}`},
			{"a permission above", "", "openid build", []string{build}, `{"roles":["Builder"],"unit":"acme/sales","both":"build"}`, `{"roles":["Builder"],"both":"build"}`},
			{"no permission of it", "", "openid shop:jobs", []string{build}, `{}`, `{}`},
			{"a permission that the user lacks", "", "openid build:jobs:stop", []string{build}, `{}`, `{}`},
			{"no resource", "", "openid build:jobs:run", nil, `{}`, `{}`},
			{"another resource server", "", "openid build:jobs:run shop:jobs", []string{shop}, `{"buyer":"Pat","both":{"of":"shop"}}`, `{"buyer":"Pat","both":{"of":"shop"}}`},
			{"two that have a name in common", "", "openid build:jobs:run shop:jobs", []string{build, shop}, `{"roles":["Builder"],"unit":"acme/sales","buyer":"Pat"}`, `{"roles":["Builder"],"buyer":"Pat"}`},
			{"an application with the same names", spoofs, "openid build:jobs:run", []string{build}, `{"roles":["Builder"],"unit":"acme/sales","both":"build","own":"Person"}`, `{"roles":["Builder"],"both":"build"}`},
			{"an application with the same names, without a permission", spoofs, "openid shop:jobs", []string{build}, `{"own":"Person"}`, `{}`},
			{"an application with the same names, elsewhere", spoofs, "openid build:jobs:run", nil, `{"roles":"root","both":{"x":"x"},"own":"Person"}`, `{"roles":"root"}`},
		} {
			p := w.configuredClient(t, tt.config+`"redirectUris":["`+rpRedirect+`"],"grantTypes":["authorization_code","refresh_token"],"scopes":["openid","build","shop"]`)
			query := []string{"scope", tt.scope}
			form := p.request(query...)
			form["resource"] = tt.resources
			got, status := p.redeem(p.code(p.follow(p.visit(p.at("/oauth2/authorize?" + form.Encode())))))
			if status != http.StatusOK {
				t.Fatalf("%s: %d %+v", tt.name, status, got)
			}
			refreshed, _ := p.token(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {got.Refresh}})
			for when, access := range map[string]string{"first": got.Access, "refreshed": refreshed.Access} {
				introspected := p.object(p.submit(p.at("/oauth2/introspect"), url.Values{"token": {access}}, "Authorization: "+p.basic()))
				for what, both := range map[string][2]any{"access token": {aboutUser(payloadOf(t, access)), tt.access}, "introspection": {aboutUser(introspected), tt.introspects}} {
					var want map[string]any
					if err := json.Unmarshal([]byte(both[1].(string)), &want); err != nil {
						t.Fatal(err)
					}
					if !reflect.DeepEqual(both[0], want) {
						t.Errorf("%s: the %s %s has %v, expected %v", tt.name, when, what, both[0], want)
					}
				}
			}
			if roles := payloadOf(t, got.ID)["roles"]; (roles == "root") != (tt.config != "") {
				t.Errorf("%s: the ID token has the roles %v", tt.name, roles)
			}
		}
	})
}

// TestClaimsOfResourceServersAreChecked: a resource server declares only what fits its tokens, and keeps it.
func TestClaimsOfResourceServersAreChecked(t *testing.T) {
	w := newTestApp(t)
	w.createStaff()
	id := w.serverIDs()["build"]
	for claim, want := range map[string]string{
		`{"name":"roles","source":"roles"}`:                                   "",
		`{"name":"roles","source":"roles","scopes":["build:jobs"]}`:           "",
		`{"name":"roles","source":"roles","resourceServer":"shop"}`:           "",
		`{"name":"roles","source":"roles","scopes":["shop:jobs"]}`:            "a permission of this resource server",
		`{"name":"roles","source":"roles","scopes":["profile"]}`:              "a permission of this resource server",
		`{"name":"roles","source":"roles","targets":["idToken"]}`:             "gets access tokens",
		`{"name":"roles","source":"roles","resourceServer":"nothing"}`:        "no resource server",
		`{"name":"sub","source":"userType"}`:                                  "belongs to the protocol",
		`{"name":"active","source":"userType"}`:                               "every reply of introspection",
		`{"name":"a","source":"run","variable":"inputs.x"}`:                   "a run belongs to an application",
		`{"name":"a","source":"expression","expression":"run.inputs.x"}`:      "a run belongs to an application",
		`{"name":"a","source":"attribute","authoritative":true}`:              "only a claim of an application",
		`{"name":"a","source":"userType"},{"name":"a.b","source":"userType"}`: "the same name",
		`{"name":"a","source":"groups","filter":"("}`:                         "regular expression",
		`{"name":"a","source":"moon"}`:                                        "source",
	} {
		status, said := w.putServer(id, "build", claim)
		if want == "" && status != http.StatusOK || want != "" && (status != http.StatusBadRequest || !strings.Contains(said, want)) {
			t.Errorf("%s: %d %s", claim, status, said)
		}
	}
	if status, said := w.putServer(id, "build", `{"name":"roles","source":"roles","prefix":"B"}`); status != http.StatusOK || !strings.Contains(said, `"claims":[{"name":"roles","source":"roles","prefix":"B"}]`) {
		t.Errorf("%d %s", status, said)
	}
	if rec := w.call(http.MethodGet, "/resource-servers/"+id, w.admin(), ""); !strings.Contains(rec.Body.String(), `"prefix":"B"`) {
		t.Errorf("stored is %s", rec.Body)
	}
}
