package server_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/schemas"
)

// localType is a user type with identifiers of its own.
const localType = `{"name":"Local","identifierScope":"userType","schema":{"type":"object","properties":{"username":{"type":"string"}}}}`

// The server answers which applications admit a user, by the rule of the sign-in.
func TestApplicationsOfUsers(t *testing.T) {
	onBothStores(t, func(t *testing.T, h *testServer) {
		h.create("/user-types", localType)
		for name, types := range map[string]string{"Open": `[]`, "People": `["Person"]`, "Locals": `["Local"]`} {
			h.create("/applications", `{"name":"`+name+`","allowedUserTypes":`+types+`}`)
		}
		h.create("/applications", `{"name":"Machine","inboundAuthConfig":[{"type":"oauth2","config":{"grantTypes":["client_credentials"]}}]}`)
		person, local := h.user("pat"), h.create("/users", `{"type":"Local","attributes":{"username":"pat"}}`)
		for user, want := range map[string][]string{person: {"Open", "People"}, local: {"Locals"}} {
			reply, _ := h.ok(200, "GET /users/"+user+"/applications", "")
			var names []string
			for _, a := range reply.list("applications") {
				names = append(names, a.text("name"))
			}
			slices.Sort(names)
			if !slices.Equal(names, want) {
				t.Errorf("the applications are %v, expected %v", names, want)
			}
		}
	})
}

// An application that manages accounts does so for the users that it admits only, however they signed in.
func TestAccountsOfUsersThatAreNoLongerAdmitted(t *testing.T) {
	onAccountServers(t, func(t *testing.T, h *testServer) {
		h.create("/user-types", localType)
		user := h.user("ada")
		h.enrol(user)
		app := h.accountApp()
		senders := h.senders(user, schemas.ACRMultiFactorPR, []string{"pop", "user", "mfa"})
		for _, s := range senders {
			if rec := h.request("GET /users/me/passkeys", "", s.headers...); rec.Code != 200 {
				t.Errorf("an admitted user by %s: %d %s", s.what, rec.Code, rec.Body)
			}
		}
		h.ok(200, "PATCH /applications/"+app, `{"allowedUserTypes":["Local"]}`)
		for _, s := range senders {
			for _, request := range []string{"GET /users/me/passkeys", "GET /users/me/sessions", "DELETE /users/me/sessions", "GET /users/me/export", "DELETE /users/me"} {
				rec := h.request(request, "", s.headers...)
				if rec.Code != 401 && rec.Code != 403 {
					t.Errorf("%s of a user who is not admitted by %s: %d %s", request, s.what, rec.Code, rec.Body)
				}
			}
		}
	})
}

// Users cannot set the password that they have, and after an invitation a user sets one with the new passkey.
func TestNewPasswords(t *testing.T) {
	onAccountServers(t, func(t *testing.T, h *testServer) {
		h.accountApp()
		user := h.user("ada")
		const password = `{"password":"another lantern in the harbour"}`
		h.apply(schemas.SetPassword{UserID: user, ID: "first", Hash: "plain:another lantern in the harbour", At: h.clock()})
		token := h.signInWith(user, h.byPassword("first"))
		rec := h.request("PUT /users/me/password", password, token)
		if rec.Code != 400 || !strings.Contains(rec.Body.String(), "This is your current password.") {
			t.Errorf("the same password: %d %s", rec.Code, rec.Body)
		}
		h.ok(204, "PUT /users/me/password", `{"password":"a kettle in the orchard"}`, token)
		h.ok(200, "PATCH /users/"+user, `{"attributes":{"password":"a kettle in the orchard"}}`) // an administrator must not learn it

		guest := h.user("guest")
		key := schemas.Bytes(h.enrol(guest).Credentials()[0].ID).String()
		invited := h.proves(schemas.InvitationProof, "x", schemas.ACRVouched, schemas.AMREmail)
		weak := h.signInWith(guest, invited)
		profile, _ := h.ok(200, "GET /users/me/profile", "", weak)
		if profile.text("passwordNeeds") != schemas.ACRPassword {
			t.Errorf("after an invitation the profile is %v", profile)
		}
		fails(t, h.request("PUT /users/me/password", password, weak), 401, schemas.CodeStaleProof)
		strong := h.signInWith(guest, h.byPasskey(key))
		if profile, _ := h.ok(200, "GET /users/me/profile", "", strong); profile["passwordNeeds"] != nil {
			t.Errorf("with the passkey the profile is %v", profile)
		}
		h.ok(204, "PUT /users/me/password", password, strong)
		if profile, _ := h.ok(200, "GET /users/me/profile", "", strong); profile["passwordLimit"] != nil {
			t.Errorf("the password is limited: %v", profile)
		}
		touch := h.signInWith(guest, h.proves(schemas.PasskeyProof, key, schemas.ACRPhishingResistant, "pop"))
		h.pass(time.Second)
		h.ok(204, "PUT /users/me/password", `{"password":"a kettle in the orchard"}`, touch)
	})
}
