package server_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/passkey/passkeytest"
	"github.com/postern-id/postern/schemas"
)

// No caller gains a permission by any write.
func TestNoPrivilegeEscalation(t *testing.T) {
	h := newTestServer(t)
	boss, clerk := h.user("boss"), h.user("clerk")
	group := h.create("/groups", `{"name":"Administrators","members":[{"type":"user","id":"`+boss+`"}]}`)
	role := h.create("/roles", `{"name":"Administrator","permissions":["system"],"assignments":[{"type":"group","id":"`+group+`"}]}`)
	client, _ := h.ok(201, "POST /applications", `{"name":"Robot","inboundAuthConfig":[{"type":"oauth2","config":{"grantTypes":["client_credentials"],"scopes":["system"]}}]}`)
	key := schemas.Bytes(h.enrol(boss).Credentials()[0].ID).String()
	account, _ := h.ok(201, "POST /applications", `{"name":"Account","inboundAuthConfig":[{"type":"oauth2","config":{"redirectUris":["https://account.example.org/back"],"scopes":["openid","account"]}}]}`)
	flows, _ := h.ok(200, `GET /flows?filter=handle%20eq%20%22sign-in%22`, "")
	nouns := []string{"users", "groups", "roles", "applications", "organization-units", "user-types", "resource-servers", "flows", "identity-providers"}
	permissions := []string{"system:audit"}
	for _, noun := range nouns {
		permissions = append(permissions, "system:"+noun)
	}
	writer := h.bearer(clerk, permissions...)
	provider, theirs := h.provider("corp"), h.link(boss, "corp", "1")
	alone := map[string]string{}
	for _, noun := range nouns {
		alone[noun] = h.bearer(clerk, "system:"+noun+":read", "system:"+noun+":write")
	}
	before := h.footprint()
	for request, body := range map[string]string{
		"PUT /groups/" + group + "/members/user/" + clerk:            "",
		"DELETE /groups/" + group + "/members/user/" + boss:          "",
		"PUT /groups/" + group:                                       `{"name":"Administrators","members":[{"type":"user","id":"` + clerk + `"}]}`,
		"PUT /roles/" + role + "/assignments/user/" + clerk:          "",
		"DELETE /roles/" + role + "/assignments/group/" + group:      "",
		"PUT /roles/" + role:                                         `{"name":"Administrator","permissions":["system:users:read"]}`,
		"DELETE /roles/" + role:                                      "",
		"POST /roles":                                                `{"name":"Mine","permissions":["system"],"assignments":[{"type":"user","id":"` + clerk + `"}]}`,
		"PUT /users/" + boss:                                         `{"type":"Person","attributes":{"username":"boss","password":"what the clerk knows"}}`,
		"DELETE /users/" + boss:                                      "",
		"DELETE /users/" + boss + "/sessions":                        "",
		"PUT /groups/" + group + "?":                                 `{"name":"Nobodies","members":[{"type":"user","id":"` + boss + `"}]}`,
		"PUT /flows/" + flows.list("flows")[0].text("id"):            `{"handle":"sign-in","name":"Mine","flowType":"AUTHENTICATION","nodes":[{"id":"key","use":"prove","next":"end"}]}`,
		"DELETE /users/" + boss + "/passkeys/" + key:                 "",
		"PATCH /users/" + boss + "/passkeys/" + key:                  `{"name":"x"}`,
		"POST /applications":                                         `{"name":"Mine","inboundAuthConfig":[{"type":"oauth2","config":{"grantTypes":["client_credentials"],"scope":"system"}}]}`,
		"PUT /applications/" + client.text("id"):                     `{"name":"Robot","inboundAuthConfig":[{"type":"oauth2","config":{"grantTypes":["client_credentials"],"scopes":["system"]}}]}`,
		"DELETE /applications/" + client.text("id"):                  "",
		"POST /applications/" + client.text("id") + "/client-secret": "",
		"POST /applications/" + client.text("id") + "/revoke-tokens": "",
		"POST /applications??":                                       `{"name":"Relay","passkeyAllowedOrigins":["https://relay.example.org"]}`,
		"POST /applications?":                                        `{"name":"Lure","inboundAuthConfig":[{"type":"oauth2","config":{"redirectUris":["https://lure.example.net/back"],"scopes":["openid","account"]}}]}`,
		"PUT /applications/" + account.text("id"):                    `{"name":"Account","inboundAuthConfig":[{"type":"oauth2","config":{"redirectUris":["https://lure.example.net/back"],"scopes":["openid"]}}]}`,
		"DELETE /users/" + boss + "/identities/" + theirs:            "",
		"PUT /identity-providers/" + provider:                        `{"handle":"corp","name":"Corp","issuer":"https://login.example.com","clientId":"mine"}`,
		"POST /register/passkey/start":                               `{"userId":"` + boss + `"}`,
	} {
		method, path, _ := strings.Cut(request, " ")
		rec := h.do(method, path, body, writer)
		fails(t, rec, 403, schemas.CodeForbidden)
		if got := rec.Header().Get("WWW-Authenticate"); !strings.Contains(got, `error="insufficient_scope", scope="system"`) {
			t.Errorf("%s: %s", request, got)
		}
		for _, noun := range nouns {
			if rec := h.do(method, path, body, alone[noun]); rec.Code != 403 {
				t.Errorf("%s, by who may read and write %s: %d %s", request, noun, rec.Code, rec.Body)
			}
		}
	}
	if after := h.footprint(); after != before {
		t.Errorf("before %s, after %s", before, after)
	}
	// What they have they may give.
	h.ok(201, "POST /roles", `{"name":"Readers","permissions":["system:users:read"],"assignments":[{"type":"user","id":"`+clerk+`"}]}`, writer)
}

// An administrator who is led to another user's application signs in there without granting
// permissions.
func TestNoPrivilegeEscalationByAssertion(t *testing.T) {
	h := newTestServer(t)
	boss, clerk := h.user("boss"), h.user("clerk")
	h.create("/roles", `{"name":"Administrator","permissions":["system"],"assignments":[{"type":"user","id":"`+boss+`"}]}`)
	key := schemas.Bytes(h.enrol(boss).Credentials()[0].ID).String()
	h.enrol(clerk)
	h.provider("corp")
	writer := h.bearer(clerk, "system:applications")
	client := func(name, scopes, header string) string {
		made, _ := h.ok(201, "POST /applications", `{"name":"`+name+`","inboundAuthConfig":[{"type":"oauth2","config":{"redirectUris":["https://shop.example.com/back"],"scopes":[`+scopes+`]}}]}`, header)
		return made.text("id")
	}
	fails(t, h.do("POST", "/applications", `{"name":"Accounts","inboundAuthConfig":[{"type":"oauth2","config":{"redirectUris":["https://shop.example.com/back"],"scopes":["account"]}}]}`, writer), 403, schemas.CodeForbidden)
	lure, account := client("Lure", `"openid"`, writer), client("Account", `"openid","account"`, h.admin)
	start := func(user string) string { return `{"userId":"` + user + `"}` }
	byKey := []string{"hwk"} // administrators with a passkey change their accounts after a sign-in with it
	before := h.footprint()
	for request, body := range map[string]string{
		"POST /register/passkey/start": start(boss), "PATCH /users/me/passkeys/" + key: `{"name":"x"}`, "DELETE /users/me/passkeys/" + key: "",
		"DELETE /users/me/sessions": "", "DELETE /users/me/sessions/" + schemas.NewID(): "", "DELETE /users/me/consents/" + lure: "", "DELETE /users/me/factors/totp": "",
		"POST /users/me/factors/totp/start": "", "POST /users/me/factors/totp/finish": `{"sessionToken":"x","code":"1"}`,
		"POST /users/me/factors/recovery-codes/start": "", "POST /users/me/factors/recovery-codes/finish": `{"sessionToken":"x"}`,
		"DELETE /users/me/identities/" + h.link(boss, "corp", "1"): "",
	} {
		method, path, _ := strings.Cut(request, " ")
		rec := h.do(method, path, body, h.atBy(lure, boss, byKey))
		fails(t, rec, 403, "insufficient_scope")
		if got := rec.Header().Get("WWW-Authenticate"); got != `Bearer realm="postern", error="insufficient_scope", scope="account"` {
			t.Errorf("%s: %s", request, got)
		}
	}
	if after := h.footprint(); after != before {
		t.Errorf("before %s, after %s", before, after)
	}
	// What was begun by a good token is not finished by another.
	begun := h.startRegistration(start(boss), h.atBy(account, boss, byKey))
	fails(t, h.do("POST", "/register/passkey/finish", asJSON(t, attested(t, passkeytest.New(), begun)), h.atBy(lure, boss, byKey)), 403, "insufficient_scope")
	for header, user := range map[string]string{h.atBy(account, clerk, byKey): clerk, h.atBy(account, boss, byKey): boss, h.atBy(lure, boss, byKey, "system"): boss} {
		s := h.startRegistration(start(user), header)
		h.post("/register/passkey/finish", attested(t, passkeytest.New(), s), &struct{}{}, header)
	}
	h.ok(200, "GET /users/me", "", h.atBy(lure, boss, byKey)) // a client that they signed in to
}

// bearerAt is the header with the assertion of a user at an application.
func (h *testServer) at(application, user string, permissions ...string) string {
	h.t.Helper()
	return h.atBy(application, user, nil, permissions...)
}

// atBy is at for a sign-in by some methods.
func (h *testServer) atBy(application, user string, methods []string, permissions ...string) string {
	h.t.Helper()
	app, err := h.db.Application(h.t.Context(), application)
	if err != nil {
		h.t.Fatal(err)
	}
	h.allow(user, permissions)
	acr := ""
	if slices.Contains(methods, "hwk") {
		acr = schemas.ACRPhishingResistant
	}
	return h.assertionHeader(schemas.Assertion{Subject: user, Audience: []string{application, h.base}, Generation: app.TokenGeneration,
		Permissions: permissions, AuthTime: h.clock(), AMR: methods, ACR: acr})
}

// One user with all permissions must remain.
func TestLastAdministrator(t *testing.T) {
	h := newTestServer(t)
	boss := h.user("boss")
	group := h.create("/groups", `{"name":"Administrators","members":[{"type":"user","id":"`+boss+`"}]}`)
	role := h.create("/roles", `{"name":"Administrator","permissions":["system"],"assignments":[{"type":"group","id":"`+group+`"}]}`)
	admins, _ := h.ok(200, "GET /roles?limit=100", "", h.token(boss, "system"))
	for _, other := range admins.list("roles") {
		if id := other.text("id"); id != role {
			h.ok(204, "DELETE /roles/"+id, "", h.token(boss, "system"))
		}
	}
	h.admin = h.assertionHeader(schemas.Assertion{Subject: boss, Audience: []string{h.base}, Permissions: []string{"system"},
		AuthTime: h.clock(), AMR: []string{"pwd"}, ACR: schemas.ACRPassword})
	for request, body := range map[string]string{
		"DELETE /users/" + boss:                                 "",
		"DELETE /roles/" + role:                                 "",
		"DELETE /groups/" + group + "/members/user/" + boss:     "",
		"DELETE /roles/" + role + "/assignments/group/" + group: "",
		"PUT /groups/" + group:                                  `{"name":"Administrators"}`,
		"PUT /roles/" + role:                                    `{"name":"Administrator","assignments":[{"type":"group","id":"` + group + `"}]}`,
	} {
		method, path, _ := strings.Cut(request, " ")
		fails(t, h.do(method, path, body, h.admin), 409, schemas.CodeLastAdministrator)
	}
	second := h.user("second")
	h.ok(200, "PUT /groups/"+group+"/members/user/"+second, "")
	h.ok(204, "DELETE /users/"+boss, "", h.token(second, "system"))
}
