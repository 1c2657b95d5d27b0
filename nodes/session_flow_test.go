package nodes

import (
	"reflect"
	"testing"
	"time"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

const (
	bySession = `{"id": "check", "use": "session-check", "next": {"active": "done", "none": "NEXT"}}`
	stepUp    = `{"id": "check", "use": "session-check", "next": "NEXT"}`
	byPasskey = `{"id": "key", "use": "passkey-authenticate", "next": "done"}`
)

// bound returns a request for an authorization request, by a browser with the session.
func bound(s *schemas.Session) engine.Request {
	return engine.Request{Session: s, Browser: []byte("this"), AuthRequest: &schemas.AuthRequest{
		ID: "auth-1", ApplicationID: app.ID, BrowserHash: []byte("the first"),
	}}
}

// decided returns the committed changes of a type.
func decided[T schemas.Change](d *driver) []T {
	var list []T
	for _, change := range d.changes {
		if c, ok := change.(T); ok {
			list = append(list, c)
		}
	}
	return list
}

// granted returns the grant of the authorization request, and checks that it is for the
// browser.
func granted(d *driver, browser string) schemas.Grant {
	d.t.Helper()
	list := decided[schemas.GrantAuthRequest](d)
	if len(list) != 1 || list[0].ID != "auth-1" || !list[0].At.Equal(d.engine.Now()) || string(list[0].BrowserHash) != browser {
		d.t.Fatalf("granted %+v", list)
	}
	if want := "https://id.example.com/oauth2/auth/callback?authId=auth-1"; d.step.Data.RedirectURL != want {
		d.t.Errorf("the way back is %q, want %q", d.step.Data.RedirectURL, want)
	}
	return list[0].Grant
}

func TestSignInBySession(t *testing.T) {
	found := session(by("phr", "swk", "pop"))
	d := driveBy(t, bound(found), bySession, byPasskey, done)
	want := schemas.Grant{UserID: "ada", SessionID: found.ID, AuthTime: found.CreatedAt, AMR: found.AMR, ACR: "phr", Consented: true}
	if got := granted(d, "the first"); !reflect.DeepEqual(got, want) {
		t.Errorf("granted %+v, want %+v", got, want)
	}
	if a := d.assertion(); a.Session != found.ID || !a.AuthTime.Equal(found.CreatedAt) || a.ACR != "phr" {
		t.Errorf("stated %+v", a)
	}
	if list := decided[schemas.StartSession](d); len(list) > 0 {
		t.Errorf("started %+v in addition to the existing session", list)
	}
	events := decided[schemas.RecordEvent](d)
	if len(events) != 1 {
		t.Fatalf("recorded %+v", events)
	}
	if e := events[0].Event; e.Action != "user.signed_in" || e.Actor.ID != "ada" || e.Detail["sessionId"] != found.ID || e.Detail["bySession"] != "true" {
		t.Errorf("recorded %+v", e)
	}
}

// A sign-in for an authorization request starts a session that outlives the assertion. Its
// time is that of the proof: max_age counts from there, however long the user needs for a
// later question.
func TestSignInForAnAuthorizationRequest(t *testing.T) {
	d := driveBy(t, bound(nil), `{"id": "check", "use": "session-check", "next": {"active": "done", "none": "NEXT"}}`,
		`{"id": "key", "use": "passkey-authenticate", "next": "NEXT"}`,
		`{"id": "news", "use": "prompt", "with": {"actions": [{"ref": "go"}]}, "next": "NEXT"}`, done)
	d.passkey("news")
	later := noon.Add(20 * time.Minute)
	d.engine.Now = func() time.Time { return later }
	d.send("go", "")
	grant, started := granted(d, "this"), decided[schemas.StartSession](d)
	if len(started) != 1 || started[0].Session.ID != grant.SessionID || grant.UserID != "bob" || !grant.AuthTime.Equal(noon) {
		t.Fatalf("started %+v for %+v", started, grant)
	}
	if s := started[0].Session; !s.CreatedAt.Equal(noon) || !s.ExpiresAt.Equal(later.Add(12*time.Hour)) || !reflect.DeepEqual(s.AMR, grant.AMR) || s.ACR != grant.ACR {
		t.Errorf("started %+v", s)
	}
	if e := decided[schemas.RecordEvent](d); e[len(e)-1].Event.Detail["bySession"] != "" {
		t.Errorf("recorded %+v", e)
	}
}

// A passkey after a session that began with a password starts another session: a session
// never gains proofs.
func TestStepUpStartsAnotherSession(t *testing.T) {
	found := session(of("bob"))
	d := driveBy(t, bound(found), stepUp, byPasskey, done)
	d.passkey("")
	grant, started := granted(d, "this"), decided[schemas.StartSession](d)
	if len(started) != 1 || started[0].Session.ID != grant.SessionID || grant.SessionID == found.ID {
		t.Fatalf("started %+v for %+v", started, grant)
	}
	if want := []string{"pwd", "pop", "user", "mfa"}; !reflect.DeepEqual(grant.AMR, want) || grant.ACR != schemas.ACRMultiFactorPR || !grant.AuthTime.Equal(noon) {
		t.Errorf("granted %+v, want the methods %v", grant, want)
	}
}

// A passkey of another user than the session's is no step-up.
func TestStepUpByAnother(t *testing.T) {
	d := driveBy(t, bound(session()), stepUp,
		`{"id": "key", "use": "passkey-authenticate", "with": {"mode": "usernameless"}, "next": "done"}`, done)
	d.passkey("key") // Bob's passkey, with Ada's session
	if d.step.Error == nil || d.step.Error.Code != schemas.CodePasskeyFailed {
		t.Errorf("got %+v", d.step)
	}
}

// A user named instead of the session's user must authenticate, and no other user can.
func TestSessionOfAnotherUser(t *testing.T) {
	d := driveBy(t, bound(session(by("phr", "swk", "pop"))), askName, find, bySession, byPasskey, done)
	d.send("go", "key", "username", "bob")
	d.passkey("")
	if grant := granted(d, "this"); grant.UserID != "bob" || grant.SessionID == "session-1" || d.assertion().Subject != "bob" {
		t.Errorf("granted %+v", grant)
	}

	d = driveBy(t, bound(session(by("phr", "swk", "pop"))), askName, find, bySession, byPasskey, done)
	d.send("go", "", "username", "ada")
	if grant := granted(d, "this"); grant.UserID != "ada" || grant.SessionID != "session-1" {
		t.Errorf("granted %+v", grant)
	}
}

// A session found after a proof replaces it: later claims contain only the session's
// methods.
func TestSessionKeepsItsClass(t *testing.T) {
	found := session(by("phr", "swk", "pop"))
	d := driveBy(t, bound(found), askName, find, `{"id": "pw", "use": "password-authenticate", "next": "NEXT"}`, stepUp, done)
	d.send("go", "pw", "username", "ada")
	d.send("submit", "", "password", "analytical engine")
	want := schemas.Grant{UserID: "ada", SessionID: found.ID, AuthTime: found.CreatedAt, AMR: found.AMR, ACR: "phr", Consented: true}
	if got := granted(d, "this"); !reflect.DeepEqual(got, want) {
		t.Errorf("granted %+v, want %+v", got, want)
	}
}

// A run outside an authorization request receives no session, even if the browser's
// cookies were sent.
func TestSessionIsForAuthorizationRequestsOnly(t *testing.T) {
	d := driveBy(t, engine.Request{Session: session()}, askName, bySession, byPasskey, done)
	d.send("go", "key", "username", "x")
}
