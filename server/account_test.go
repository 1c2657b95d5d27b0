package server_test

import (
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/passkey/passkeytest"
	"github.com/postern-id/postern/schemas"
)

// enroll gives a user a passkey.
func (h *testServer) enrol(userID string, options ...passkeytest.Option) *passkeytest.Authenticator {
	h.t.Helper()
	a := passkeytest.New(options...)
	s := h.startRegistration(`{"userId":"`+userID+`"}`, h.admin)
	h.post("/register/passkey/finish", attested(h.t, a, s), &struct{}{}, h.admin)
	return a
}

// signIn is the header with the assertion that an application for accounts obtained
// when the user signed in.
func (h *testServer) signIn(a *passkeytest.Authenticator) string {
	h.t.Helper()
	var got struct{ Assertion string }
	h.post("/auth/passkey/finish", asserted(h.t, a, h.startAuthentication(`{}`)), &got, "User-Agent: Test/1.0")
	c, err := h.tokens.Verify(h.t.Context(), got.Assertion, h.base)
	if err != nil {
		h.t.Fatal(err)
	}
	return h.assertionHeader(schemas.Assertion{
		Subject: c.Subject, Audience: []string{h.accountApp(), h.base}, Session: c.Session, AuthTime: h.clock(), AMR: c.AMR, ACR: c.ACR,
		Generation: h.generation(h.accountApp()),
	})
}

// generation is that of the tokens of an application.
func (h *testServer) generation(application string) string {
	h.t.Helper()
	app, err := h.db.Application(h.t.Context(), application)
	if err != nil {
		h.t.Fatal(err)
	}
	return app.TokenGeneration
}

// accountApp is the id of an application with the scope for accounts.
func (h *testServer) accountApp() string {
	h.t.Helper()
	found, _ := h.ok(200, `GET /applications?filter=name%20eq%20%22Accounts%22`, "")
	if list := found.list("applications"); len(list) > 0 {
		return list[0].text("id")
	}
	return h.create("/applications", `{"name":"Accounts","inboundAuthConfig":[{"type":"oauth2","config":{"redirectUris":["https://accounts.example.com/back"],"scopes":["openid","account"]}}]}`)
}

func (h *testServer) user(name string) string {
	h.t.Helper()
	return h.create("/users", `{"type":"Person","attributes":{"username":"`+name+`"}}`)
}

func TestOwnAccount(t *testing.T) {
	onBothStores(t, ownAccount)
}

// Users manage their own account with the token of their sign-in.
func ownAccount(t *testing.T, h *testServer) {
	id, other := h.user("grace"), h.user("alan")
	// The AAGUID is that of Apple Passwords.
	a := h.enrol(id, passkeytest.AAGUID([16]byte{0xfb, 0xfc, 0x30, 0x07, 0x15, 0x4e, 0x4e, 0xcc, 0x8c, 0x0b, 0x6e, 0x02, 0x05, 0x57, 0xd7, 0xbd}), passkeytest.Synced())
	token := h.signIn(a)
	me, rec := h.ok(200, "GET /users/me", "", token)
	if me.text("id") != id || me.text("attributes.username") != "grace" || rec.Header().Get("ETag") == "" {
		t.Errorf("%v", me)
	}
	if rec := h.do("GET", "/users/me", "", token, "If-None-Match: "+rec.Header().Get("ETag")); rec.Code != 304 {
		t.Errorf("%d", rec.Code)
	}
	fails(t, h.do("GET", "/users/"+id, "", token), 403, "forbidden")
	fails(t, h.do("PUT", "/users/me", "{}", token), 405, "method_not_allowed")

	h.pass(time.Second)
	h.enrol(id)
	list, _ := h.ok(200, "GET /users/me/passkeys", "", token)
	keys := list.list("passkeys")
	if len(keys) != 2 || list.number("totalResults") != 2 {
		t.Fatalf("%v", list)
	}
	first := keys[0]
	if first.text("authenticator") != "Apple Passwords" || first.text("lastUsedAt") == "" || first["backedUp"] != true || first["backupEligible"] != true || first["transports"] == nil || first.text("name") != "My key" {
		t.Errorf("%v", first)
	}
	if keys[1]["lastUsedAt"] != nil || keys[1].text("authenticator") != "" || first["publicKey"] != nil {
		t.Errorf("%v", keys[1])
	}
	passkeys(t, h, token, first.text("id"), keys[1].text("id"), h.enrol(other))
	sessions(t, h, a, token)
}

// passkeys renames and deletes passkeys; the first one signs in.
func passkeys(t *testing.T, h *testServer, token, first, second string, others *passkeytest.Authenticator) {
	const at = "/users/me/passkeys/"
	renamed, _ := h.ok(200, "PATCH "+at+second, `{"name":" Work "}`, token)
	if renamed.text("name") != "Work" || renamed.text("id") != second {
		t.Errorf("%v", renamed)
	}
	for body, path := range map[string]string{
		`{}`: "name", `{"name":""}`: "name", `{"name":null}`: "name", `{"name":7}`: "name", `{"nam":"x"}`: "nam", `[]`: "",
		`{"name":"a\nb"}`: "name", `{"name":"` + strings.Repeat("x", 201) + `"}`: "name",
	} {
		f := fails(t, h.do("PATCH", at+second, body, token), 400, schemas.CodeInvalidRequest)
		if len(f.Errors) == 0 || f.Errors[0].Path != path {
			t.Errorf("%s: %v", body, f.Errors)
		}
	}
	foreign := schemas.Bytes(others.Credentials()[0].ID).String()
	for _, id := range []string{foreign, "nope!", "bm9uZQ", "%00"} {
		fails(t, h.do("PATCH", at+id, `{"name":"x"}`, token), 404, schemas.CodeCredentialNotFound)
		fails(t, h.do("DELETE", at+id, "", token), 404, schemas.CodeCredentialNotFound)
	}
	h.ok(204, "DELETE "+at+second, "", token)
	fails(t, h.do("DELETE", at+first, "", token), 409, schemas.CodeLastCredential)
	if list, _ := h.ok(200, "GET /users/me/passkeys", "", token); list.number("count") != 1 {
		t.Errorf("%v", list)
	}
}

// sessions looks at sessions and ends them.
func sessions(t *testing.T, h *testServer, a *passkeytest.Authenticator, token string) {
	h.pass(time.Second)
	phone, laptop, tablet := h.signIn(a), h.signIn(a), h.signIn(a)
	list, _ := h.ok(200, "GET /users/me/sessions", "", token)
	all := list.list("sessions")
	current := 0
	for _, s := range all {
		if s["current"] == true {
			current++
		}
		if s.text("client") != "Test/1.0" || s.text("expiresAt") == "" {
			t.Errorf("%v", s)
		}
	}
	if len(all) != 4 || current != 1 {
		t.Fatalf("%v", list)
	}
	own, _ := h.ok(200, "GET /users/me/sessions", "", phone)
	for _, s := range own.list("sessions") {
		if s["current"] == true {
			h.ok(204, "DELETE /users/me/sessions/"+s.text("id"), "", token)
			fails(t, h.do("DELETE", "/users/me/sessions/"+s.text("id"), "", token), 404, "session_not_found")
		}
	}
	fails(t, h.do("GET", "/users/me", "", phone), 401, "invalid_token")
	h.ok(200, "GET /users/me", "", laptop)
	if ended, _ := h.ok(200, "DELETE /users/me/sessions", "", token); ended.number("ended") != 2 {
		t.Errorf("%v", ended)
	}
	for _, gone := range []string{laptop, tablet} {
		fails(t, h.do("GET", "/users/me", "", gone), 401, "invalid_token")
	}
	h.ok(200, "GET /users/me", "", token)
	h.pass(2 * time.Hour) // longer than a session lasts
	fails(t, h.do("GET", "/users/me", "", token), 401, "invalid_token")
}

// Administrators see to the accounts of others.
func TestAccountsOfOthers(t *testing.T) {
	h := newTestServer(t)
	id := h.user("grace")
	a := h.enrol(id)
	token := h.signIn(a)
	at := "/users/" + id
	keys, _ := h.ok(200, "GET "+at+"/passkeys", "")
	key := keys.list("passkeys")[0].text("id")
	for _, request := range []string{"GET " + at + "/passkeys", "DELETE " + at + "/passkeys/" + key, "GET " + at + "/sessions", "DELETE " + at + "/sessions"} {
		method, path, _ := strings.Cut(request, " ")
		fails(t, h.do(method, path, "", token), 403, "forbidden")
	}
	h.ok(200, "PATCH "+at+"/passkeys/"+key, `{"name":"Lost"}`)
	list, _ := h.ok(200, "GET "+at+"/sessions", "")
	session := list.list("sessions")[0]
	if session["current"] != false {
		t.Errorf("%v", session)
	}
	h.ok(204, "DELETE "+at+"/sessions/"+session.text("id"), "")
	fails(t, h.do("GET", "/users/me", "", token), 401, "invalid_token")
	token = h.signIn(a)
	if ended, _ := h.ok(200, "DELETE "+at+"/sessions", ""); ended.number("ended") != 1 {
		t.Errorf("%v", ended)
	}
	fails(t, h.do("GET", "/users/me", "", token), 401, "invalid_token")
	h.ok(204, "DELETE "+at+"/passkeys/"+key, "") // a device that was stolen opens nothing
	for _, request := range []string{"GET /users/nope/passkeys", "DELETE /users/nope/passkeys/AA", "GET /users/nope/sessions", "DELETE /users/nope/sessions", "DELETE /users/nope/sessions/x"} {
		method, path, _ := strings.Cut(request, " ")
		fails(t, h.do(method, path, "", h.admin), 404, schemas.CodeUserNotFound)
	}
}

// The token of a deleted user, or without a session, is invalid.
func TestTokenOfADeletedUser(t *testing.T) {
	h := newTestServer(t)
	id := h.user("grace")
	token, lasting := h.signIn(h.enrol(id)), h.bearer(id)
	h.ok(200, "GET /users/me", "", lasting)
	h.ok(204, "DELETE /users/"+id, "")
	for _, header := range []string{token, lasting} {
		for _, path := range []string{"/users/me", "/users/me/passkeys", "/users/me/sessions"} {
			fails(t, h.do("GET", path, "", header), 401, "invalid_token")
		}
	}
}
