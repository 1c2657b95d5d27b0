package main

import (
	"fmt"
	"io"
	"mime/quotedprintable"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/schemas"
)

// invitation returns the token in the link of the next invitation, and whether the mail states that it
// replaces another; other mails are skipped.
func (b *mailbox) invitation(t testing.TB) (token string, replaces bool) {
	t.Helper()
	for {
		text, err := io.ReadAll(quotedprintable.NewReader(strings.NewReader(<-b.mails)))
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(`/invitation\?applicationId=[0-9a-f-]{36}#([A-Za-z0-9_-]{40,})`).FindStringSubmatch(string(text))
		if found != nil {
			return found[1], strings.Contains(string(text), "replaces the earlier one")
		}
	}
}

// invitationTest has a server that sends mail, and an application with the built-in flow.
type invitationTest struct {
	*testApp
	box        *mailbox
	token, app string
	replaces   bool // the last invitation replaced another
}

func onInvitations(t *testing.T, test func(t *testing.T, w *invitationTest)) {
	onDatabases(t, func(t *testing.T, environ ...string) {
		w := &invitationTest{}
		w.testApp, w.box = newMailTest(t, environ...)
		w.token = w.admin()
		w.app = w.application(w.token, "Shop", "invitationFlowId", "invitation")
		test(t, w)
	})
}

// person creates a user with an address and without a credential.
func (w *invitationTest) person(name string) (id string) {
	return w.made(w.token, "/users", fmt.Sprintf(`{"type": "Person", "attributes": {"username": %q, "email": "%s@example.org"}}`, name, name))
}

// invite invites a user and returns the token in the mail.
func (w *invitationTest) invite(user string) string {
	w.t.Helper()
	var made directory.Invitation
	w.send(201, "/users/"+user+"/invitation", w.token, `{"applicationId": "`+w.app+`"}`, &made)
	if made.ApplicationID != w.app || made.Opened || made.ExpiresAt.Sub(made.CreatedAt) != directory.InvitationTTL {
		w.t.Errorf("the reply is %+v", made)
	}
	token, replaces := w.box.invitation(w.t)
	w.replaces = replaces
	return token
}

// accept starts a run with the token of an invitation.
func (w *invitationTest) accept(token string) schemas.Step {
	return w.answer(w.begin(w.app, "INVITATION"), "submit", map[string]string{"invitation": token})
}

// wants reports a reply with another status or code.
func (w *invitationTest) wants(status int, code, method, path, body string) {
	w.t.Helper()
	if rec := w.call(method, path, w.token, body); rec.Code != status || !strings.Contains(rec.Body.String(), code) {
		w.t.Errorf("%s %s: %d %s, want %d %s", method, path, rec.Code, rec.Body, status, code)
	}
}

// An invited user opens the link in two browsers: only the last one can continue. The password that
// the user sets has no limit, and afterwards the link does not work.
func TestInvitation(t *testing.T) {
	onInvitations(t, func(t *testing.T, w *invitationTest) {
		user := w.person("ada")
		path := "/users/" + user + "/invitation"
		w.wants(404, directory.CodeInvitationNotFound, http.MethodGet, path, "")
		former := w.invite(user)
		if w.replaces {
			t.Error("the first invitation replaces another")
		}
		token := w.invite(user)
		if !w.replaces {
			t.Error("the second invitation does not state that it replaces the first")
		}
		if s := w.accept(former); s.StepID != "link" || s.Error == nil || s.Error.Code != schemas.CodeInvalidLink {
			t.Errorf("a replaced invitation: %+v", s)
		}
		first := w.accept(token)
		if first.StepID != "key" {
			t.Fatalf("the run is at %+v", first)
		}
		w.wants(200, `"opened":true`, http.MethodGet, path, "")
		second := w.accept(token)
		if s := w.answer(first, "skip", nil); s.FlowStatus != schemas.Failed && s.FlowStatus != "ERROR" {
			t.Errorf("the first browser can continue: %+v", s)
		}
		s := w.answer(w.answer(second, "skip", nil), "submit", map[string]string{"password": "wheel of forty cogs"})
		if s.FlowStatus != schemas.Complete || s.Assertion == "" {
			t.Fatalf("the run ends with %+v", s)
		}
		if s := w.accept(token); s.StepID != "link" || s.Error == nil {
			t.Errorf("the link works again: %+v", s)
		}
		w.wants(404, directory.CodeInvitationNotFound, http.MethodGet, path, "")
		w.wants(409, directory.CodeHasCredential, http.MethodPost, path, `{"applicationId": "`+w.app+`"}`)
		stored, err := w.store.User(t.Context(), user)
		if err != nil || !stored.Verified(schemas.EmailVerified) {
			t.Errorf("the address of %+v is not verified: %v", stored, err)
		}
		if password, err := w.store.Password(t.Context(), user); err != nil || !password.AddedBy.IsZero() {
			t.Errorf("the password has the limit %+v, %v", password.AddedBy, err)
		}
		for action, want := range map[string]int{"user.invited": 2, "invitation.opened": 2, "invitation.accepted": 1, "password.set": 1} {
			if n := w.countEvents(action, user); n != want {
				t.Errorf("%d events %s, want %d", n, action, want)
			}
		}
	})
}

// A user is not invited to an application whose sign-in flow does not accept what the invitation flow adds.
func TestInvitationFlowFitsTheSignIn(t *testing.T) {
	onInvitations(t, func(t *testing.T, w *invitationTest) {
		onlyPassword := w.made(w.token, "/flows", `{"handle":"first-password","name":"First password","flowType":"AUTHENTICATION","waive":[{"rule":"chain","node":"secret","reason":"the link is for one mailbox"}],"nodes":[
			{"id":"link","use":"invitation","next":"secret"},{"id":"secret","use":"password-set","next":"done"},{"id":"done","use":"authorization-code"}]}`)
		user := w.person("ada")
		path := "/users/" + user + "/invitation"
		for _, name := range []string{"passkey-sign-in", "password-sign-in", "sign-in"} {
			app := w.made(w.token, "/applications", `{"name":"With `+name+`","authFlowId":"`+name+`","invitationFlowId":"`+onlyPassword+`"}`)
			if name != "passkey-sign-in" {
				w.wants(201, "", http.MethodPost, path, `{"applicationId": "`+app+`"}`)
				w.box.invitation(t)
				continue
			}
			w.wants(409, `with the invitation flow \"first-password\" the user adds a password, but the sign-in flow \"passkey-sign-in\" of the application \"With passkey-sign-in\" accepts only a passkey`, http.MethodPost, path, `{"applicationId": "`+app+`"}`)
			w.wants(404, directory.CodeInvitationNotFound, http.MethodGet, path, "")
		}
	})
}

// What ends an invitation also ends the run that has accepted it.
func TestInvitationEnds(t *testing.T) {
	onInvitations(t, func(t *testing.T, w *invitationTest) {
		for name, end := range map[string]func(user string){
			"withdrawn": func(user string) { w.wants(204, "", http.MethodDelete, "/users/"+user+"/invitation", "") },
			"replaced":  func(user string) { w.invite(user) },
			"moved": func(user string) {
				w.wants(200, "", http.MethodPatch, "/users/"+user, `{"attributes": {"email": "new-moved@example.org"}}`)
			},
			"disabled": func(user string) {
				w.wants(200, "", http.MethodPatch, "/users/"+user, `{"status": "disabled"}`)
			},
			"enrolled": func(user string) {
				w.wants(200, "", http.MethodPatch, "/users/"+user, `{"attributes": {"password": "wheel of forty cogs"}}`)
			},
		} {
			user := w.person(name)
			token := w.invite(user)
			s := w.accept(token)
			end(user)
			w.wants(map[bool]int{true: 200, false: 404}[name == "replaced" || name == "disabled"], "", http.MethodGet, "/users/"+user+"/invitation", "")
			body := fmt.Sprintf(`{"executionId": %q, "action": "skip", "inputs": {}, "challengeToken": %q}`, s.ExecutionID, s.ChallengeToken)
			if rec := w.call(http.MethodPost, "/flow/execute", "", body); strings.Contains(rec.Body.String(), `"secret"`) {
				t.Errorf("%s: the run continues: %s", name, rec.Body)
			}
			if s := w.accept(token); s.StepID == "key" {
				t.Errorf("%s: the link still works: %+v", name, s)
			}
		}
		w.wants(404, directory.CodeInvitationNotFound, http.MethodDelete, "/users/"+w.person("eve")+"/invitation", "")
	})
}

// An invitation is refused with the reason.
func TestInvitationRefused(t *testing.T) {
	onInvitations(t, func(t *testing.T, w *invitationTest) {
		bare := w.made(w.token, "/users", `{"type": "Person", "attributes": {"username": "bare"}}`)
		off := w.made(w.token, "/users", `{"type": "Person", "status": "disabled", "attributes": {"username": "off", "email": "off@example.org"}}`)
		closed := w.application(w.token, "Closed", "name", "Closed")
		w.made(w.token, "/user-types", `{"name": "Robot", "schema": {"type": "object"}}`)
		robots := w.made(w.token, "/applications", `{"name": "Robots", "allowedUserTypes": ["Robot"], "invitationFlowId": "invitation"}`)
		admin := w.userNamed("admin")
		eve := w.person("eve")
		for _, test := range []struct {
			user, app, said string
			status          int
		}{
			{bare, w.app, "no mail address", 409}, {off, w.app, "disabled or locked", 409}, {eve, closed, "no invitation flow", 409},
			{eve, robots, "does not admit users of the type", 409}, {eve, schemas.NewID(), "there is no application with the id", 400},
			{schemas.NewID(), w.app, schemas.CodeUserNotFound, 404}, {admin, w.app, directory.CodeHasCredential, 409},
		} {
			w.wants(test.status, test.said, http.MethodPost, "/users/"+test.user+"/invitation", `{"applicationId": "`+test.app+`"}`)
		}
		w.wants(400, "applicationId", http.MethodPost, "/users/"+eve+"/invitation", `{}`)
		owner := w.person("owner")
		w.made(w.token, "/roles", `{"name": "Owner", "permissions": ["system"], "assignments": [{"type": "user", "id": "`+owner+`"}]}`)
		w.token = w.holder("clerk", "system:users")
		w.wants(403, "which you do not have", http.MethodPost, "/users/"+owner+"/invitation", `{"applicationId": "`+w.app+`"}`)
		select {
		case mail := <-w.box.mails:
			t.Errorf("a mail was sent: %s", mail)
		default:
		}
	})
}

// Without a mail server the reply says so.
func TestInvitationWithoutMail(t *testing.T) {
	w := newTestApp(t)
	token := w.admin()
	app := w.application(token, "Shop", "name", "Shop")
	rec := w.call(http.MethodPatch, "/applications/"+app, token, `{"invitationFlowId": "invitation"}`)
	if rec.Code != http.StatusOK {
		t.Fatalf("%d %s", rec.Code, rec.Body)
	}
	user := w.made(token, "/users", `{"type": "Person", "attributes": {"username": "ada", "email": "ada@example.org"}}`)
	if rec := w.call(http.MethodPost, "/users/"+user+"/invitation", token, `{"applicationId": "`+app+`"}`); rec.Code != http.StatusServiceUnavailable ||
		!strings.Contains(rec.Body.String(), schemas.CodeMailNotConfigured) {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
}

// The reply to an invitation contains the address for callers who may read users, and no other member of
// the user for any caller.
func TestInvitationsContainTheAddressForReaders(t *testing.T) {
	onInvitations(t, func(t *testing.T, w *invitationTest) {
		for name, test := range map[string]struct {
			permissions []string
			want        string
		}{
			"writer":        {[]string{"system:users:write"}, ""},
			"reader":        {[]string{"system:users:write", "system:users:read"}, "reader-invites@example.org"},
			"administrator": {[]string{"system"}, "administrator-invites@example.org"},
		} {
			token, user := w.holder(name, test.permissions...), w.person(name+"-invites")
			var made map[string]any
			w.send(201, "/users/"+user+"/invitation", token, `{"applicationId": "`+w.app+`"}`, &made)
			if got, _ := made["email"].(string); got != test.want || made["expiresAt"] == nil {
				t.Errorf("%s: %v", name, made)
			}
		}
	})
}
