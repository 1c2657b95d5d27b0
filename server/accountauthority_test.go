package server_test

import (
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/passkey/passkeytest"
	"github.com/postern-id/postern/internal/store/storetest"
	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server"
)

// sender is who sends requests about an account: the headers of a page, or of a token.
type sender struct {
	what    string
	headers []string
}

// senders are the ways to send requests about the own account after a sign-in.
func (h *testServer) senders(user, acr string, methods []string, permissions ...string) []sender {
	h.t.Helper()
	cookie, _ := h.signInBrowser(h.accountApp(), user, acr, methods...)
	assertion := schemas.Assertion{Subject: user, Audience: []string{h.accountApp(), h.base}, AuthTime: h.clock(), AMR: methods, ACR: acr, Generation: h.generation(h.accountApp())}
	list := []sender{
		{"a page", []string{cookie, "Postern-Session: 1", "Sec-Fetch-Site: same-origin"}},
		{"a token for accounts", []string{h.assertionHeader(assertion)}},
	}
	if len(permissions) > 0 {
		assertion.Permissions = permissions
		list = append(list, sender{"a token with " + strings.Join(permissions, " "), []string{h.assertionHeader(assertion)}})
	}
	return list
}

// ownChanges are the requests with which users change their own accounts, as far as the way to send them
// reaches them.
func (h *testServer) ownChanges(user, identity string) map[string]string {
	h.t.Helper()
	changes := h.accountChanges(user, identity)
	changes["PUT /users/me/password"] = `{"password":"another lantern in the harbour"}`
	changes["DELETE /users/me/password"] = ""
	changes["DELETE /users/me"] = ""
	return changes
}

// Whether a sign-in suffices to change an account depends on the account, and not on the way in which the
// request is sent.
func TestAccountAuthority(t *testing.T) {
	onAccountServers(t, accountAuthority)
}

// onAccountServers runs a test on both databases, with the session of the browser.
func onAccountServers(t *testing.T, test func(t *testing.T, h *testServer)) {
	withPage := func(o *server.Options) { o.AccountApplication = accountPageApp }
	t.Run("sqlite", func(t *testing.T) { test(t, newTestServer(t, withPage)) })
	t.Run("postgres", func(t *testing.T) { test(t, newOpenServer(t, "postgres", storetest.EmptyPostgres(t), withPage)) })
}

func accountAuthority(t *testing.T, h *testServer) {
	h.provider("corp")
	h.accountApp()
	withPassword := func(name string, permissions ...string) (user, identity string) {
		user = h.user(name)
		h.apply(schemas.SetPassword{UserID: user, Hash: "hash", At: h.clock()})
		h.allow(user, permissions)
		h.enrol(user)
		return user, h.link(user, "corp", name)
	}
	admin, ofAdmin := withPassword("admin", "system")
	helper, ofHelper := withPassword("helper", "system:users:write")
	nested, ofNested := withPassword("nested")
	inner := h.create("/groups", `{"name":"Inner","members":[{"type":"user","id":"`+nested+`"}]}`)
	outer := h.create("/groups", `{"name":"Outer","members":[{"type":"group","id":"`+inner+`"}]}`)
	h.create("/roles", `{"name":"Of a group","permissions":["system:audit:read"],"assignments":[{"type":"group","id":"`+outer+`"}]}`)
	carl, ofCarl := withPassword("carl")
	h.giveFactors(carl)
	for _, account := range []struct {
		name, user, identity string
		permissions          []string
		status               int
		code                 string
	}{
		{name: "an administrator", user: admin, identity: ofAdmin, permissions: []string{"system"}, status: 401, code: schemas.CodeStaleProof},
		{name: "a partial administrator", user: helper, identity: ofHelper, permissions: []string{"system:users:write"}, status: 401, code: schemas.CodeStaleProof},
		{name: "an administrator by a nested group", user: nested, identity: ofNested, permissions: []string{"system:audit:read"}, status: 401, code: schemas.CodeStaleProof},
		{name: "a user with a second factor", user: carl, identity: ofCarl, status: 403, code: schemas.CodeFactorRequired},
	} {
		before := h.footprint()
		for _, s := range h.senders(account.user, schemas.ACRPassword, []string{"pwd"}, account.permissions...) {
			for request, body := range h.ownChanges(account.user, account.identity) {
				rec := h.request(request, body, append(s.headers, "Content-Type: application/json")...)
				if code := errorCode(rec.Body.String()); rec.Code != account.status || code != account.code {
					t.Errorf("%s of %s by %s after a password: %d %s", request, account.name, s.what, rec.Code, rec.Body)
				}
			}
			for _, request := range accountRestrictions()[1:] { // the user may always take access away
				if rec := h.request(request, "", s.headers...); rec.Code != 404 {
					t.Errorf("%s of %s by %s: %d %s", request, account.name, s.what, rec.Code, rec.Body)
				}
			}
		}
		if after := h.footprint(); after != before {
			t.Errorf("%s changed: before %s, after %s", account.name, before, after)
		}
		for _, s := range h.senders(account.user, schemas.ACRMultiFactorPR, []string{"pop", "user", "mfa"}) {
			if rec := h.request("GET /users/me/export", "", s.headers...); rec.Code != 200 {
				t.Errorf("%s by %s after a passkey: %d %s", account.name, s.what, rec.Code, rec.Body)
			}
		}
	}
	lostPasskey(t, h, helper)
}

// lostPasskey removes all passkeys of an administrator, who is not exempt afterwards.
func lostPasskey(t *testing.T, h *testServer, user string) {
	fresh := h.senders(user, schemas.ACRMultiFactorPR, []string{"pop", "user", "mfa"})[1]
	keys, _ := h.ok(200, "GET /users/me/passkeys", "", fresh.headers...)
	for _, key := range keys.list("passkeys") {
		h.ok(204, "DELETE /users/me/passkeys/"+key.text("id"), "", fresh.headers...)
	}
	h.pass(time.Minute)
	for _, s := range h.senders(user, schemas.ACRPassword, []string{"pwd"}, "system:users:write") {
		rec := h.do("POST", "/register/passkey/start", `{"userId":"`+user+`"}`, s.headers...)
		if rec.Code != 401 || errorCode(rec.Body.String()) != schemas.CodeStaleProof {
			t.Errorf("adding a passkey by %s after the loss of all: %d %s", s.what, rec.Code, rec.Body)
		}
	}
	// An administrator who never had a passkey can add the first one.
	first := h.user("first")
	h.apply(schemas.SetPassword{UserID: first, Hash: "hash", At: h.clock()})
	h.allow(first, []string{"system"})
	for _, s := range h.senders(first, schemas.ACRPassword, []string{"pwd"}, "system") {
		if rec := h.do("POST", "/register/passkey/start", `{"userId":"`+first+`"}`, s.headers...); rec.Code != 200 {
			t.Errorf("the first passkey by %s: %d %s", s.what, rec.Code, rec.Body)
		}
	}
	for _, s := range h.senders(first, schemas.ACRVouched, []string{schemas.AMREmail})[1:] {
		if rec := h.do("PUT", "/users/me/password", `{"password":"another lantern in the harbour"}`, s.headers...); rec.Code != 401 {
			t.Errorf("a new password by %s after a mailed code: %d %s", s.what, rec.Code, rec.Body)
		}
	}
}

// A passkey that was added with a password alone is limited when the password is replaced, and the user sees
// it. Nothing is removed.
func TestFormerPasswordLimitsWhatItAdded(t *testing.T) {
	onAccountServers(t, func(t *testing.T, h *testServer) {
		user := h.user("ada")
		own := h.enrol(user)
		h.apply(schemas.SetPassword{UserID: user, ID: "leaked", Hash: "hash", At: h.clock()})
		session := schemas.Session{ID: schemas.NewID(), UserID: user, ApplicationID: h.accountApp(), ACR: schemas.ACRPassword, AMR: []string{"pwd"},
			CreatedAt: h.clock(), ExpiresAt: h.clock().Add(time.Hour), Proofs: []schemas.Proof{{Kind: schemas.PasswordProof, Of: "leaked"}}}
		h.apply(schemas.StartSession{Session: session})
		thief := h.assertionHeader(schemas.Assertion{Subject: user, Audience: []string{h.accountApp(), h.base}, Session: session.ID, AuthTime: h.clock(),
			AMR: session.AMR, ACR: session.ACR, Generation: h.generation(h.accountApp())})
		s := h.startRegistration(`{"userId":"`+user+`"}`, thief)
		h.post("/register/passkey/finish", attested(t, passkeytest.New(), s), &struct{}{}, thief)
		h.pass(time.Minute)
		h.ok(200, "PATCH /users/"+user, `{"attributes":{"password":"a lantern that nobody knows"}}`)
		list, _ := h.ok(200, "GET /users/me/passkeys", "", h.signIn(own))
		limits := map[any]any{} // by whether the passkey was added with the former password alone
		for _, key := range list.list("passkeys") {
			limits[key["formerPassword"]] = key["limit"]
		}
		if len(limits) != 2 || limits[nil] != nil || limits[true] != schemas.ACRVouched {
			t.Errorf("the passkeys are %v", list)
		}
		if events, _ := h.ok(200, "GET /audit-events?action=passkey.limited", ""); len(events.list("auditEvents")) != 1 {
			t.Errorf("%v", events)
		}
	})
}

// errorCode is the code in the reply of an error.
func errorCode(reply string) string {
	_, rest, _ := strings.Cut(reply, `"code":"`)
	code, _, _ := strings.Cut(rest, `"`)
	return code
}
