package nodes

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/schemas"
)

func TestAuthorizationCode(t *testing.T) {
	limited := &schemas.Application{ID: "shop", Assertion: schemas.AssertionRules{
		ValidityPeriod: 90, UserAttributes: []string{"department", "email", "sub", "scope"},
	}}
	w := newFixture(t)
	w.users["ada"].Attributes["sub"] = "root"
	w.users["ada"].Attributes["scope"] = "system"
	tests := map[string]struct {
		visit *engine.Visit
		want  schemas.Assertion
	}{
		"profile by default": {
			visit(known("ada"), authenticated("phrh", "hwk", "pop"), func(v *engine.Visit) { v.Request.UserAgent = "Firefox" }),
			schemas.Assertion{
				Subject: "ada", Audience: []string{"app-1", "https://id.example.com"}, AuthTime: noon,
				AMR: []string{"hwk", "pop"}, ACR: "phrh", Permissions: []string{"system"}, UserType: "Person", OUID: "ou-1",
				Profile: map[string]any{"username": "ada", "email": "ada@example.org", "email_verified": true, "given_name": "Ada", "name": "Ada"}, Validity: time.Hour,
			},
		},
		"what the application asks for, without what is the issuer's to say": {
			visit(known("ada"), authenticated(schemas.ACRPassword, "pwd"), func(v *engine.Visit) { v.Application = limited }),
			schemas.Assertion{
				Subject: "ada", Audience: []string{"shop", "https://id.example.com"}, AuthTime: noon,
				AMR: []string{"pwd"}, ACR: schemas.ACRPassword, Permissions: []string{"system:users:read"}, UserType: "Person", OUID: "ou-1",
				Profile: map[string]any{"department": "Engines", "email": "ada@example.org"}, Validity: 90 * time.Second,
			},
		},
		"a user who is new has no permissions": {
			visit(drafted(&schemas.User{ID: "ada", Attributes: map[string]any{"username": "x"}}), authenticated("phr", "swk")),
			schemas.Assertion{
				Subject: "ada", Audience: []string{"app-1", "https://id.example.com"}, AuthTime: noon,
				AMR: []string{"swk"}, ACR: "phr", Profile: map[string]any{"username": "x"}, Validity: time.Hour,
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			d := run(t, w.make(t, "authorization-code", `{}`, nil), test.visit)
			if d.Result == nil {
				t.Fatalf("got %+v", d)
			}
			var got schemas.Assertion
			datatest.Unmarshal(t, []byte(d.Result.Assertion), &got)
			checkSession(t, d, test.visit, got)
			got.Session = ""
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("stated\n%+v, want\n%+v", got, test.want)
			}
			if actions(d) != "user.signed_in" {
				t.Errorf("events %s", actions(d))
			}
		})
	}
}

// checkSession checks that the step starts the session of the assertion before it records
// it in the audit log, and that both end together.
func checkSession(t *testing.T, d *engine.Decision, v *engine.Visit, stated schemas.Assertion) {
	t.Helper()
	started, ok := d.Changes[0].(schemas.StartSession)
	if !ok {
		t.Fatalf("the changes are %+v, want the session to be the first", d.Changes)
	}
	want := schemas.Session{
		ID: stated.Session, UserID: stated.Subject, ApplicationID: v.Application.ID, AMR: stated.AMR, ACR: stated.ACR,
		Client: v.Request.UserAgent, CreatedAt: noon, ExpiresAt: noon.Add(stated.Validity), Proofs: v.Authentication.Proofs,
	}
	if !reflect.DeepEqual(started.Session, want) || want.ID == "" || stated.Validity == 0 {
		t.Errorf("started %+v, want %+v", started.Session, want)
	}
	recorded, _ := d.Changes[1].(schemas.RecordEvent)
	if e := recorded.Event; e.Detail["sessionId"] != want.ID || e.Actor != (schemas.Actor{Type: schemas.UserActor, ID: want.UserID, Client: want.ApplicationID}) {
		t.Errorf("recorded %+v", e)
	}
}

// In a browser a session has its own lifetime; elsewhere it ends with the assertion.
func TestSessionLifetime(t *testing.T) {
	w := newFixture(t)
	w.deps.SessionTTL = 3 * time.Hour
	w.kinds = Kinds(w.deps)
	exec := w.make(t, "authorization-code", `{}`, nil)
	for id, want := range map[string]time.Duration{"": time.Hour, "auth-1": 3 * time.Hour} {
		d := run(t, exec, visit(known("ada"), authenticated("phr", "swk"), func(v *engine.Visit) { v.AuthRequestID = id }))
		started, _ := d.Changes[0].(schemas.StartSession)
		if got := started.Session.ExpiresAt.Sub(noon); got != want || (d.Result.RedirectURL == "") != (id == "") {
			t.Errorf("for %q: it lasts %v, want %v; the way back is %q", id, got, want, d.Result.RedirectURL)
		}
	}
}

// A client that requests only permissions gets none of a user without them. A new user is stored: an
// administrator can assign roles only then.
func TestAuthorizationCodeWithoutAnyPermission(t *testing.T) {
	for name, test := range map[string]struct {
		asked, has []string
		draft      bool
		refused    bool
	}{
		"none":                   {asked: []string{"system", "shop"}, has: []string{"billing"}, refused: true},
		"a part":                 {asked: []string{"system"}, has: []string{"system:users:read"}},
		"more than permissions":  {has: []string{"billing"}},
		"a user who is new here": {asked: []string{"system"}, draft: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			w.permissions["ada"] = test.has
			subject := known("ada")
			if test.draft {
				subject = drafted(&schemas.User{ID: "ada", Attributes: map[string]any{"username": "x"}})
			}
			d, err := w.make(t, "authorization-code", `{}`, nil).Execute(t.Context(), visit(subject, authenticated("phr", "swk"), func(v *engine.Visit) {
				v.AuthRequestID, v.Login.OnlyPermissions = "auth-1", test.asked
			}))
			if err != nil || (d.Refuse != nil) != test.refused || (d.Result == nil) != test.refused {
				t.Fatalf("decided %+v, %v", d, err)
			}
			if !test.refused {
				return
			}
			r, _ := d.Refuse.Changes[0].(schemas.RefuseAuthRequest)
			if r.ID != "auth-1" || r.Refusal.Code != "access_denied" || !strings.Contains(r.Refusal.Description, "permissions: system, shop") ||
				d.Refuse.Error.Code != codePermissionsMissing || missingReason(d) != schemas.ReasonNoPermissions || d.Refuse.RedirectURL == "" {
				t.Errorf("refused with %+v, %+v", r.Refusal, d.Refuse.Error)
			}
		})
	}
}

func TestAuthorizationCodeNeedsAnAuthenticatedUser(t *testing.T) {
	exec := newFixture(t).make(t, "authorization-code", `{}`, nil)
	for name, v := range map[string]*engine.Visit{
		"merely named": visit(known("ada")),
		"nobody":       visit(authenticated("phrh", "hwk")),
	} {
		if d, err := exec.Execute(t.Context(), v); err == nil {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

func TestAuthorizationCodeFails(t *testing.T) {
	w := newFixture(t)
	fire := errors.New("disk on fire")
	w.deps.Asserter = asserter{broken: fire}
	w.kinds = Kinds(w.deps)
	v := visit(known("ada"), authenticated("phrh", "hwk"))
	if _, err := w.make(t, "authorization-code", `{}`, nil).Execute(t.Context(), v); !errors.Is(err, fire) {
		t.Errorf("got %v", err)
	}
	w.broken = fire
	if _, err := w.make(t, "authorization-code", `{}`, nil).Execute(t.Context(), v); !errors.Is(err, fire) {
		t.Errorf("got %v", err)
	}
}

// Users of a type that the application does not allow get no assertion for it.
func TestAssertionOnlyForAllowedUserTypes(t *testing.T) {
	w := newFixture(t)
	exec := w.make(t, "authorization-code", `{}`, nil)
	for _, test := range []struct {
		allowed         []string
		ceremonyFailure bool
	}{{nil, false}, {[]string{"Person"}, false}, {[]string{"Employee", "Person"}, false}, {[]string{"Employee"}, true}} {
		v := visit(known("ada"), authenticated("phrh", "hwk"))
		v.Application = &schemas.Application{ID: "app-1", Name: "Shop", AllowedUserTypes: test.allowed}
		d, err := exec.Execute(t.Context(), v)
		if err != nil {
			t.Fatal(err)
		}
		if refused := codeOf(d.Fail) == schemas.CodeUserTypeNotAllowed; refused != test.ceremonyFailure || refused != (d.Result == nil) {
			t.Errorf("allowed %v: %+v", test.allowed, d)
		}
	}
}
