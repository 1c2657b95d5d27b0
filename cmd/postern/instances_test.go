package main

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/internal/store/storetest"
	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/schemas"
)

// changedFlow is a flow whose first step has an id that a test replaces.
const changedFlow = `
handle: changed
name: Changed
flowType: AUTHENTICATION
nodes:
  - id: FIRST
    use: prompt
    with:
      title: Sign in
      actions: [{ref: continue, label: Continue}]
    next: {continue: key}
  - {id: key, use: passkey-authenticate, next: {success: done, failure: FIRST}}
  - {id: done, use: authorization-code}
`

// change is a change at one instance.
type change struct {
	name   string
	make   func()
	inUse  func() bool // whether another instance uses it
	reread func()      // what the other instance does within a second; nil: nothing
}

// TestChangesReachOtherInstances makes a change of each kind at an instance. The other instance uses it
// with the next request, or after it has read again what it reads once a second.
func TestChangesReachOtherInstances(t *testing.T) {
	if keyMaintenanceInterval > time.Second {
		t.Errorf("instances read the signing keys every %v, expected at most a second", keyMaintenanceInterval)
	}
	one, two := twoInstances(t, "POSTERN_DATABASE_DRIVER=postgres", "POSTERN_DATABASE_DSN="+storetest.Postgres(t))
	one.create(one.directory.Applications, `{"id":"`+plainID+`","name":"Plain"}`)
	for _, c := range []change{
		newClient(one, two), removedRedirect(one, two), newOrigin(one, two), newVersion(t, one, two), endedSession(t, one, two), disabledUser(one, two), deletedRole(one, two),
		rotatedKeys(t, one, two), revokedToken(t, one, two), changedProvider(one, two), changedPassword(one, two), addedPermission(one, two),
		newSecret(one, two), newBrand(one, two), newSchema(one, two),
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.inUse() {
				t.Fatal("the other instance uses the change before it is made")
			}
			c.make()
			if c.reread != nil {
				c.reread()
			}
			if !c.inUse() {
				t.Error("the other instance does not use the change")
			}
		})
	}
}

func newClient(one, two *testApp) change {
	c := &schemas.Application{ClientID: "unknown"}
	return change{name: "application", make: func() { c = one.client("system:applications:read") },
		inUse: func() bool { return two.askToken(c.ClientID, c.ClientSecret, "").Code == http.StatusOK }}
}

// removedRedirect has the other instance know the client before it is changed: see Store.Assume.
func removedRedirect(one, two *testApp) change {
	body := func(path string) string {
		return `{"name":"Store","inboundAuthConfig":[{"type":"oauth2","config":{"clientId":"store","publicClient":true,
			"tokenEndpointAuthMethod":"none","grantTypes":["authorization_code"],"redirectUris":["https://store.example.com/` + path + `"]}}]}`
	}
	admin := one.admin()
	id := one.made(admin, "/applications", body("former"))
	refused := func(path string) bool {
		q := url.Values{"client_id": {"store"}, "redirect_uri": {"https://store.example.com/" + path}, "response_type": {"code"}, "scope": {"openid"},
			"code_challenge": {strings.Repeat("A", 43)}, "code_challenge_method": {"S256"}}
		rec := two.exchange(http.MethodGet, "/oauth2/authorize?"+q.Encode(), "")
		return !strings.Contains(rec.Header().Get("Location"), "/gate/signin")
	}
	return change{name: "redirect URI", make: func() {
		if refused("former") { // the instance assumes the client
			one.t.Fatal("a registered redirect URI is refused")
		}
		one.put("/applications/"+id, body("newer"), admin)
	}, inUse: func() bool { return refused("former") && !refused("newer") }}
}

// newOrigin has a page of a new application call the API. Instances cache the origins of all
// applications for a second: see TestOriginsAreFresh.
func newOrigin(one, two *testApp) change {
	const origin = "https://fresh.example.org"
	inUse := func() bool {
		return two.preflight("/flow/execute", http.MethodPost, origin).Get("Access-Control-Allow-Origin") == origin
	}
	return change{name: "origin of an application", make: func() {
		one.create(one.directory.Applications, `{"name":"Page","inboundAuthConfig":[{"type":"oauth2","config":{"clientId":"page",
			"grantTypes":["authorization_code"],"redirectUris":["`+origin+`/back"],"publicClient":true,"tokenEndpointAuthMethod":"none"}}]}`)
	}, inUse: inUse, reread: func() {
		for range 6000 { // a minute, for a slow machine
			if inUse() {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}}
}

func newVersion(t *testing.T, one, two *testApp) change {
	text := func(first string) string {
		doc, problems := schemas.ParseYAML([]byte(strings.ReplaceAll(changedFlow, "FIRST", first)))
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		return string(doc.JSON())
	}
	admin := one.admin()
	flow := one.made(admin, "/flows", text("former"))
	application := one.application(admin, "Changed", "authFlowId", flow)
	return change{name: "version of a flow", make: func() { one.put("/flows/"+flow, text("newer"), admin) },
		inUse: func() bool { return two.begin(application, "AUTHENTICATION").StepID == "newer" }}
}

func disabledUser(one, two *testApp) change {
	return change{name: "status of a user", make: func() {
		one.mustChangeUser(one.userNamed("pat"), one.admin(), func(u *schemas.User) { u.Status = schemas.UserDisabled })
	}, inUse: func() bool { return !throughEndpoint(two.signInAs("pat", rpPassword)) }}
}

func deletedRole(one, two *testApp) change {
	access := one.holder("reader", "system:users:read")
	return change{name: "role", make: func() {
		role, err := one.directory.Roles.Find(one.t.Context(), directory.SystemCall(), "Role of reader")
		if err != nil || role == nil {
			one.t.Fatalf("%v, %v", role, err)
		}
		one.remove(one.directory.Roles, role.ID)
	}, inUse: func() bool { return two.get("/users", access) == http.StatusForbidden }}
}

func rotatedKeys(t *testing.T, one, two *testApp) change {
	signs := func() (id string) {
		for _, k := range one.tokens.SigningKeys() {
			if k.Status == schemas.KeySigning && k.Algorithm == token.ES256 {
				id = k.ID
			}
		}
		return id
	}
	former := signs()
	return change{name: "signing key", make: func() {
		if err := one.tokens.Rotate(t.Context(), true, schemas.Event{}); err != nil {
			t.Fatal(err)
		}
	}, inUse: func() bool {
		published := two.call(http.MethodGet, "/oauth2/jwks", "", "").Body.String()
		return signs() != former && strings.Contains(published, signs())
	}, reread: func() {
		if err := two.tokens.MaintainKeys(t.Context()); err != nil {
			t.Fatal(err)
		}
	}}
}

func revokedToken(t *testing.T, one, two *testApp) change {
	c := one.client("system:applications:read")
	var issued struct {
		Token string `json:"access_token"`
	}
	datatest.Unmarshal(t, one.askToken(c.ClientID, c.ClientSecret, "").Body.Bytes(), &issued)
	return change{name: "revoked token", make: func() {
		if rec := one.asClient("/oauth2/revoke", c, url.Values{"token": {issued.Token}}); rec.Code != http.StatusOK {
			t.Fatalf("%d %s", rec.Code, rec.Body)
		}
	}, inUse: func() bool { return two.get("/applications", issued.Token) == http.StatusUnauthorized }}
}

func changedProvider(one, two *testApp) change {
	admin := one.admin()
	provider := func(name string) string {
		return `{"handle":"corp","name":"` + name + `","issuer":"https://corp.example.com","clientId":"postern"}`
	}
	id := one.made(admin, "/identity-providers", provider("Former"))
	return change{name: "identity provider", make: func() { one.put("/identity-providers/"+id, provider("Newer"), admin) },
		inUse: func() bool {
			found, err := two.store.IdentityProvider(two.t.Context(), "corp")
			return err == nil && found.Name == "Newer"
		}}
}

func changedPassword(one, two *testApp) change {
	const former, newer = "amber ferry slate 17", "copper tide lantern 23"
	user := func(password string) string {
		return `{"type":"Person","attributes":{"username":"quinn","password":"` + password + `"}}`
	}
	id := one.create(one.directory.Users, user(former)).ID
	return change{name: "password", make: func() { one.put("/users/"+id, user(newer), one.admin()) },
		inUse: func() bool {
			return throughEndpoint(two.signInAs("quinn", newer)) && !throughEndpoint(two.signInAs("quinn", former))
		}}
}

func addedPermission(one, two *testApp) change {
	one.holder("late", "system:users:read")
	role := one.create(one.directory.Roles, `{"name":"Later","permissions":["system:roles:read"]}`).ID
	return change{name: "permission", make: func() {
		path := "/roles/" + role + "/assignments/user/" + one.userNamed("late")
		if rec := one.call(http.MethodPut, path, one.admin(), ""); rec.Code != http.StatusOK {
			one.t.Fatalf("%d %s", rec.Code, rec.Body)
		}
	}, inUse: func() bool {
		token, err := two.issueToken(two.t.Context(), "late", []string{"system:roles:read"}, time.Hour)
		return err == nil && two.get("/roles", token) == http.StatusOK
	}}
}

func newSecret(one, two *testApp) change {
	c, made := one.client("system:applications:read"), struct{ ClientSecret string }{}
	return change{name: "client secret", make: func() {
		one.send(http.StatusOK, "/applications/"+c.ID+"/client-secret", one.admin(), `{"overlap":0}`, &made)
	}, inUse: func() bool {
		return two.askToken(c.ClientID, c.ClientSecret, "").Code != http.StatusOK && two.askToken(c.ClientID, made.ClientSecret, "").Code == http.StatusOK
	}}
}

// newBrand changes the logo of the unit of an application, which the hosted pages show.
func newBrand(one, two *testApp) change {
	admin := one.admin()
	unit := func(logo string) string {
		return `{"handle":"branded","name":"Branded","logoUrl":"https://pictures.example.org/` + logo + `.png"}`
	}
	id := one.made(admin, "/organization-units", unit("former"))
	application := one.made(admin, "/applications", `{"name":"Branded","ouId":"`+id+`"}`)
	return change{name: "brand", make: func() { one.put("/organization-units/"+id, unit("newer"), admin) },
		inUse: func() bool {
			return strings.Contains(two.call(http.MethodGet, "/flow/meta?type=APP&id="+application, "", "").Body.String(), "newer.png")
		}}
}

// newSchema no longer requires an attribute of a type's users.
func newSchema(one, two *testApp) change {
	admin := one.admin()
	const schema = `{"name":"Visitor","schema":{"type":"object"REQUIRED,"properties":{"badge":{"type":"string"}}}}`
	id := one.made(admin, "/user-types", strings.Replace(schema, "REQUIRED", `,"required":["badge"]`, 1))
	return change{name: "user type", make: func() { one.put("/user-types/"+id, strings.Replace(schema, "REQUIRED", "", 1), admin) },
		inUse: func() bool {
			return two.call(http.MethodPost, "/users", admin, `{"type":"Visitor","attributes":{"username":"visitor"}}`).Code == http.StatusCreated
		}}
}

// endedSession ends the session of pat's browser, which then gets no code without a page.
func endedSession(t *testing.T, one, two *testApp) change {
	t.Helper()
	p := one.configuredClient(t, `"redirectUris":["`+rpRedirect+`"],"pkceRequired":false,"scopes":["openid"],"grantTypes":["authorization_code"]`)
	p.code(p.ask())
	p.http.Transport = handlerTransport{two.http}
	return change{name: "session", make: func() {
		if rec := one.call(http.MethodDelete, "/users/"+one.userNamed("pat")+"/sessions", one.admin(), ""); rec.Code >= http.StatusMultipleChoices {
			t.Fatalf("%d %s", rec.Code, rec.Body)
		}
	}, inUse: func() bool { return p.ask("prompt", "none").params.Get("error") == "login_required" }}
}
