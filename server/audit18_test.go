package server_test

import (
	"testing"

	"github.com/postern-id/postern/schemas"
)

// Tests of finding 18 of the security audit of November 2026.

// A caller with only the permission to write users cannot set an attribute that identifies, reaches
// or recovers an administrator's account, whatever the user type calls it.
func TestAudit18UserWritersDoNotMarkAdministrators(t *testing.T) {
	onBothStores(t, func(t *testing.T, h *testServer) {
		h.create("/user-types", `{"name":"Staff","schema":{"type":"object","properties":{
			"username":{"type":"string"},"badge":{"type":"string","x-unique":true},"work":{"type":"object"},"backup":{"type":"string","format":"idn-email"},
			"telegram":{"type":"string"},"telegram_verified":{"type":"boolean"}}}}`)
		h.user("keeper")
		for _, test := range []struct{ of, before, after, bearerAt string }{
			{"Person", `"name":"Boss"`, `"name":"Boss","email_verified":true`, "email_verified"},
			{"Person", `"nickname":"b","email_verified":true`, `"nickname":"b","email_verified":false`, "email_verified"},
			{"Person", `"nickname":"b"`, `"nickname":"b","phone_number":"+491701234567"`, "phone_number"},
			{"Person", `"phone_number":"+491701234567"`, `"phone_number":"+491707654321"`, "phone_number"},
			{"Person", `"phone_number":"+491701234567"`, `"nickname":"b"`, "phone_number"},
			{"Person", `"nickname":"b"`, `"nickname":"b","phone_number_verified":true`, "phone_number_verified"},
			{"Staff", `"badge":"1"`, `"badge":"2"`, "badge"},
			{"Staff", `"work":{}`, `"work":{},"backup":"mine@example.com"`, "backup"},
			{"Staff", `"work":{}`, `"work":{},"telegram":"mine"`, "telegram"},
			{"Staff", `"work":{}`, `"work":{},"address_verified":true`, "address_verified"},
			{"Staff", `"work":{"room":"6"}`, `"work":{"room":"7"}`, ""},
			{"Person", `"given_name":"Ann"`, `"given_name":"Anne"`, ""},
			{"Person", `"phone_number":"+491701234567"`, `"phone_number":"+491701234567","nickname":"b"`, ""},
		} {
			boss := h.create("/users", `{"type":"`+test.of+`","attributes":{"username":"boss",`+test.before+`}}`)
			plain := h.create("/users", `{"type":"`+test.of+`","attributes":{"username":"plain"}}`)
			role := h.create("/roles", `{"name":"Flows","permissions":["system:flows:write"],"assignments":[{"type":"user","id":"`+boss+`"}]}`)
			clerk := h.bearer(schemas.NewID(), "system:users")
			body := `{"type":"` + test.of + `","attributes":{"username":"boss",` + test.after + `}}`
			rec := h.do("PUT", "/users/"+boss, body, clerk)
			if test.bearerAt == "" && rec.Code != 200 {
				t.Errorf("%s: %d %s", body, rec.Code, rec.Body)
			}
			if test.bearerAt != "" {
				f := fails(t, rec, 403, schemas.CodeForbidden)
				if len(f.Errors) != 1 || f.Errors[0].Path != "attributes."+test.bearerAt {
					t.Errorf("%s: %v", body, f.Errors)
				}
			}
			h.ok(200, "PUT /users/"+plain, `{"type":"`+test.of+`","attributes":{"username":"plain",`+test.after+`}}`, clerk)
			h.ok(204, "DELETE /users/"+plain, "")
			h.ok(200, "PUT /users/"+boss, body) // an administrator may
			h.ok(204, "DELETE /roles/"+role, "")
			h.ok(204, "DELETE /users/"+boss, "")
		}
	})
}

// What is not an address by any rule is no user's address.
func TestAudit18UsersHavePlainAddresses(t *testing.T) {
	h := newTestServer(t)
	for _, bad := range []string{`a@example.com `, ` a@example.com`, `a@[127.0.0.1]`, `a@127.0.0.1`, `\"a\"@example.com`, `a@exam\u0000ple.com`, `a\r\n@example.com`, `a@example.com,b@example.com`} {
		f := fails(t, h.do("POST", "/users", `{"type":"Person","attributes":{"username":"a","email":"`+bad+`"}}`, h.admin), 400, schemas.CodeInvalidRequest)
		if len(f.Errors) != 1 || f.Errors[0].Path != "attributes.email" || f.Errors[0].Message == "" {
			t.Errorf("%s: %v", bad, f.Errors)
		}
	}
	h.create("/users", `{"type":"Person","attributes":{"username":"a","email":"a.b+c@example.com"}}`)
}
