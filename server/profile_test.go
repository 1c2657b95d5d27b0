package server_test

import (
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/schemas"
)

// Users change their profile with any sign-in, but nothing that identifies them or that others rely
// on.
func TestOwnProfile(t *testing.T) {
	onBothStores(t, func(t *testing.T, h *testServer) {
		id := h.user("grace")
		h.allow(id, []string{"system:users:read"}) // administrators change their own profile too
		token := h.at(h.accountApp(), id)
		h.pass(time.Hour / 2)
		profile, _ := h.ok(200, "GET /users/me/profile", "", token)
		if fields := profile.list("attributes"); len(fields) < 5 || fields[0].text("name") != "name" || fields[0].text("title") != "Full name" || profile["password"] != false || profile["passwordAllowed"] != true {
			t.Errorf("%v", profile)
		}
		if p, _ := h.ok(200, "GET /users/"+id+"/profile", ""); p["password"] != false {
			t.Errorf("the administrator reads %v", p)
		}
		changed, _ := h.ok(200, "PATCH /users/me/profile", `{"name":"Grace H.","nickname":"Amazing"}`, token)
		if changed.list("attributes")[0].text("value") != "Grace H." {
			t.Errorf("%v", changed)
		}
		h.ok(200, "PATCH /users/me/profile", `{"nickname":null}`, token)
		me, _ := h.ok(200, "GET /users/me", "", token)
		if me.text("attributes.name") != "Grace H." || strings.Contains(asJSON(t, me), "nickname") || me.text("attributes.username") != "grace" {
			t.Errorf("%v", me)
		}
		for body, path := range map[string]string{
			`{"username":"root"}`: "username", `{"email":"a@example.org"}`: "email", `{"email_verified":true}`: "email_verified", `{"password":"quiet harbour lantern"}`: "password",
			`{"preferred_username":"root"}`: "preferred_username", `{"department":"x"}`: "department", `{"type":"Robot"}`: "type", `{"status":"active"}`: "status",
			`{"name":7}`: "attributes.name", `{"name":"` + strings.Repeat("x", 501) + `"}`: "attributes.name",
		} {
			f := fails(t, h.do("PATCH", "/users/me/profile", body, token), 400, schemas.CodeInvalidRequest)
			if len(f.Errors) == 0 || f.Errors[0].Path != path {
				t.Errorf("%s: %v", body, f.Errors)
			}
		}
		lunch := h.create("/applications", `{"name":"Lunch menu"}`)
		fails(t, h.do("PATCH", "/users/me/profile", `{"name":"x"}`, h.at(lunch, id)), 403, "insufficient_scope")
		fails(t, h.do("GET", "/users/me/profile", "", h.at(lunch, id)), 403, "insufficient_scope")
	})
}

// A password is set, changed and removed after a recent sign-in, with the second factor of an
// account that has one.
func TestOwnPassword(t *testing.T) {
	onBothStores(t, func(t *testing.T, h *testServer) {
		id := h.user("grace")
		h.allow(id, []string{"system:users:read"})
		a := h.enrol(id)
		app := h.accountApp()
		other, fresh := h.signIn(a), h.signIn(a)
		set := func(password string) string { return asJSON(t, map[string]string{"password": password}) }
		const good = "quiet harbour lantern"
		h.ok(204, "PUT /users/me/password", set(good), fresh)
		if p, _ := h.ok(200, "GET /users/me/profile", "", fresh); p["password"] != true {
			t.Errorf("%v", p)
		}
		for body, path := range map[string]string{`{}`: "password", `{"password":null}`: "password", set(""): "attributes.password", `{"password":7}`: "password", `{"pasword":"x"}`: "pasword"} {
			f := fails(t, h.do("PUT", "/users/me/password", body, fresh), 400, schemas.CodeInvalidRequest)
			if len(f.Errors) == 0 || f.Errors[0].Path != path {
				t.Errorf("%s: %v", body, f.Errors)
			}
		}
		h.ok(204, "PUT /users/me/password", set("grey lantern harbour"), fresh)
		h.ok(204, "DELETE /users/me/password", "", fresh)
		h.ok(204, "DELETE /users/me/password", "", fresh) // there is none
		h.ok(200, "GET /users/me", "", fresh)
		fails(t, h.do("GET", "/users/me", "", other), 401, "invalid_token") // the other sessions have ended
		list, _ := h.ok(200, "GET /audit-events?limit=100&user="+id, "")
		actions := asJSON(t, list)
		for _, want := range []string{"password.set", "password.removed"} {
			if !strings.Contains(actions, want) {
				t.Errorf("the audit log lacks %s: %s", want, actions)
			}
		}

		// Without a passkey the password is the last sign-in method.
		alone := h.user("alan")
		hers := h.at(app, alone)
		h.ok(204, "PUT /users/me/password", set(good), hers)
		fails(t, h.do("DELETE", "/users/me/password", "", hers), 409, schemas.CodeLastCredential)

		// With a second factor a stolen password is not enough to replace it.
		h.apply(schemas.SetTOTP{TOTP: schemas.TOTP{UserID: alone, Secret: []byte("sealed"), CreatedAt: h.clock()}})
		for _, request := range []string{"PUT /users/me/password", "DELETE /users/me/password"} {
			body := ""
			if strings.HasPrefix(request, "PUT") {
				body = set("grey lantern harbour")
			}
			fails(t, h.request(request, body, h.atBy(app, alone, []string{"pwd"})), 403, schemas.CodeFactorRequired)
		}
		h.ok(204, "PUT /users/me/password", set("grey lantern harbour"), h.atBy(app, alone, []string{"pwd", "otp"}))

		h.pass(6 * time.Minute)
		fails(t, h.do("PUT", "/users/me/password", set(good), fresh), 401, "insufficient_user_authentication")
		fails(t, h.do("DELETE", "/users/me/password", "", fresh), 401, "insufficient_user_authentication")
	})
}
