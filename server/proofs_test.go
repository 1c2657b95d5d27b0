package server_test

import (
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/schemas"
)

func TestSensitiveChangesNeedAPasskey(t *testing.T) {
	onBothStores(t, sensitiveChanges)
}

// The changes of administrative permissions, and of how administrators sign in, take a recent
// sign-in with a passkey if the administrator has one. Other changes do not, nor do administrators
// without a passkey, clients, and tokens that the operator printed.
func sensitiveChanges(t *testing.T, h *testServer) {
	boss, newcomer := h.user("boss"), h.user("newcomer")
	role := h.create("/roles", `{"name":"Administrator","permissions":["system"],"assignments":[{"type":"user","id":"`+boss+`"}]}`)
	group := h.create("/groups", `{"name":"Operators"}`)
	h.create("/roles", `{"name":"Operator","permissions":["system:users"],"assignments":[{"type":"group","id":"`+group+`"}]}`)
	harmless := h.create("/groups", `{"name":"Readers"}`)
	powerful := h.create("/applications", `{"name":"Robot","inboundAuthConfig":[{"type":"oauth2","config":{"grantTypes":["client_credentials"],"scopes":["system:users:read"]}}]}`)

	machine := h.machine(t)

	sign := func(age time.Duration, acr string, amr ...string) string {
		return h.assertionHeader(schemas.Assertion{Subject: boss, Audience: []string{h.base}, Permissions: []string{"system"}, AuthTime: h.clock().Add(-age), AMR: amr, ACR: acr})
	}
	access := func(claims token.Claims) string {
		claims.Audience, claims.Scope = []string{h.base}, []string{"system"}
		return h.accessHeader(claims)
	}
	fresh := sign(time.Minute, schemas.ACRPhishingResistant, "hwk")
	byPassword := sign(time.Minute, schemas.ACRPassword, "pwd")
	weak := map[string]string{
		"a password":    byPassword,
		"two factors":   sign(time.Minute, schemas.ACRMultiFactor, "pwd", "otp", "mfa"),
		"an old proof":  sign(schemas.MaxAdministratorProofAge+time.Minute, schemas.ACRPhishingResistant, "hwk"),
		"OAuth clients": access(token.Claims{Subject: boss, ClientID: "machine", AuthTime: h.clock(), ACR: schemas.ACRPassword, AMR: []string{"pwd"}}),
	}
	sensitive := map[string]string{
		"PUT /roles/" + role + "/assignments/user/" + newcomer: "",
		"POST /roles": `{"name":"Helper","permissions":["system:users:write"]}`,
		"PUT /groups/" + group + "/members/user/" + newcomer: "",
		"POST /applications": `{"name":"Bot","inboundAuthConfig":[{"type":"oauth2","config":{"grantTypes":["client_credentials"],"scopes":["system"]}}]}`,
		"POST /applications/" + powerful + "/client-secret":    "",
		"PATCH /users/" + boss:                                 `{"attributes":{"password":"another lantern 77"}}`,
		"POST /register/passkey/start":                         `{"userId":"` + boss + `"}`,
		"DELETE /users/" + boss + "/failed-guesses":            "",
		"PATCH /applications/" + powerful:                      `{"description":"changed"}`,
		"PATCH /flows/" + h.flowID(t, directory.DefaultSignIn): `{"name":"Changed"}`,
		"DELETE /roles/" + h.roleID(t, "Operator"):             "",
	}
	harmlessRequests := map[string]string{
		"PUT /groups/" + harmless + "/members/user/" + newcomer: "",
		"PATCH /users/" + newcomer:                              `{"attributes":{"given_name":"Ann"}}`,
		"POST /applications":                                    `{"name":"Shop"}`,
		"GET /users":                                            "",
		"DELETE /users/" + boss + "/sessions":                   "",
	}
	send := func(request, body, header string) (status int, code, challenge string) {
		method, path, _ := strings.Cut(request, " ")
		rec := h.do(method, path, body, header, "Content-Type: application/json")
		if rec.Code >= 400 {
			return rec.Code, fails(t, rec, rec.Code, strings.Split(rec.Body.String(), `"`)[3]).Code, rec.Header().Get("WWW-Authenticate")
		}
		return rec.Code, "", ""
	}

	// Without a passkey the password suffices.
	if status, code, _ := send("PATCH /applications/"+powerful, `{"description":"first"}`, byPassword); status != 200 {
		t.Errorf("an administrator without a passkey: %d %s", status, code)
	}
	// A passkey that is worth no more than a password is none.
	h.apply(schemas.CreateCredential{Credential: schemas.Credential{ID: schemas.Bytes("limited"), UserID: boss, Name: "Phone", RPID: "localhost",
		PublicKey: schemas.Bytes{1}, Algorithm: -7, CreatedAt: h.clock(), AddedBy: schemas.Provenance{ACR: schemas.ACRPassword, Methods: []string{"pwd"}}}})
	if status, code, _ := send("PATCH /applications/"+powerful, `{"description":"limited"}`, byPassword); status != 200 {
		t.Errorf("with a limited passkey: %d %s", status, code)
	}
	h.enrol(boss)
	before := h.footprint()
	for request, body := range sensitive {
		for name, header := range weak {
			status, code, challenge := send(request, body, header)
			if status != 401 || code != schemas.CodeStaleProof ||
				!strings.Contains(challenge, `error="insufficient_user_authentication", acr_values="phr", max_age=900`) {
				t.Errorf("%s after %s: %d %s %s", request, name, status, code, challenge)
			}
		}
	}
	refused, err := h.db.Events(t.Context(), schemas.EventQuery{Limit: 100, Action: "request.refused"})
	if err != nil || len(refused) < len(weak) || refused[0].Detail["code"] != schemas.CodeStaleProof || refused[0].Actor.ID != boss || refused[0].UserID != boss {
		t.Errorf("the audit log has %+v (%v), expected the refused changes of %s", refused, err, boss)
	}
	if after := h.footprint(); after != before {
		t.Errorf("refused changes changed something: before %s, after %s", before, after)
	}
	for request, body := range harmlessRequests {
		if status, code, _ := send(request, body, byPassword); status >= 300 {
			t.Errorf("%s: %d %s", request, status, code)
		}
	}
	// A lack of permission comes first: a better sign-in would not help.
	h.allow(newcomer, []string{"system:roles"})
	if status, code, _ := send("PUT /roles/"+role+"/assignments/user/"+newcomer, "", h.token(newcomer, "system:roles")); status != 403 || code != schemas.CodeForbidden {
		t.Errorf("without the permission: %d %s", status, code)
	}
	// The operator's tokens, and those of clients, need no passkey.
	for name, header := range map[string]string{
		"the operator's token": access(token.Claims{Subject: boss, ClientID: "machine"}), "a client": machine,
	} {
		if status, code, _ := send("PATCH /applications/"+powerful, `{"description":"`+name+`"}`, header); status != 200 {
			t.Errorf("%s: %d %s", name, status, code)
		}
	}
	for request, body := range sensitive {
		if status, code, _ := send(request, body, fresh); status >= 300 {
			t.Errorf("%s after a passkey: %d %s", request, status, code)
		}
	}
	// An administrator who has lost the passkey is not one who never had any.
	keys, err := h.db.Credentials(t.Context(), boss)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		h.apply(schemas.DeleteCredential{UserID: boss, ID: key.ID, At: h.clock()})
	}
	if status, code, _ := send("PATCH /applications/"+powerful, `{"description":"lost"}`, byPassword); status != 401 || code != schemas.CodeStaleProof {
		t.Errorf("without the lost passkey: %d %s", status, code)
	}
}

// flowID returns the id of the flow with the handle, which it creates if there is none.
func (h *testServer) flowID(t *testing.T, handle string) string {
	t.Helper()
	list, _ := h.ok(200, `GET /flows?filter=handle+eq+%22`+handle+`%22`, "")
	return list.list("flows")[0].text("id")
}

func (h *testServer) roleID(t *testing.T, name string) string {
	t.Helper()
	list, _ := h.ok(200, `GET /roles?filter=name+eq+%22`+name+`%22`, "")
	return list.list("roles")[0].text("id")
}

// machine returns the token of a client with every permission.
func (h *testServer) machine(t *testing.T) string {
	t.Helper()
	app := schemas.Application{ID: schemas.NewID(), Name: "Machine", ClientID: "machine", OUID: h.unit, CreatedAt: h.clock(), UpdatedAt: h.clock()}
	if err := h.db.Update(t.Context(), func(tx *store.Tx) error { return store.Applications().Insert(tx, &app) }); err != nil {
		t.Fatal(err)
	}
	h.create("/roles", `{"name":"Machines","permissions":["system"],"assignments":[{"type":"application","id":"`+app.ID+`"}]}`)
	return h.accessHeader(token.Claims{Subject: "machine", ClientID: "machine", Audience: []string{h.base}, Scope: []string{"system"}})
}
