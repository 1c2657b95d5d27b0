package nodes

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// session returns a session of Ada that began ten minutes ago with a password, for another
// application.
func session(change ...func(*schemas.Session)) *schemas.Session {
	s := &schemas.Session{
		ID: "session-1", UserID: "ada", ApplicationID: "another", AMR: []string{"pwd"}, ACR: schemas.ACRPassword,
		CreatedAt: noon.Add(-10 * time.Minute), ExpiresAt: noon.Add(time.Hour),
	}
	for _, c := range change {
		c(s)
	}
	return s
}

func by(acr string, amr ...string) func(*schemas.Session) {
	return func(s *schemas.Session) { s.ACR, s.AMR = acr, amr }
}

func of(userID string) func(*schemas.Session) {
	return func(s *schemas.Session) { s.UserID = userID }
}

func browser(s *schemas.Session) func(*engine.Visit) {
	return func(v *engine.Visit) { v.Request.Session = s }
}

func login(prompt string, acr ...string) func(*engine.Visit) {
	return func(v *engine.Visit) { v.Login = schemas.LoginRules{Prompt: strings.Fields(prompt), ACRValues: acr} }
}

func maxAge(seconds int) func(*engine.Visit) {
	return func(v *engine.Visit) { v.Login.MaxAge = &seconds }
}

func means(userID string) func(*engine.Visit) {
	return func(v *engine.Visit) { v.Login.Subject = userID }
}

func allowed(types ...string) func(*engine.Visit) {
	return func(v *engine.Visit) {
		v.Application = &schemas.Application{ID: "app-1", Name: "Shop", AllowedUserTypes: types}
	}
}

func TestSessionCheck(t *testing.T) {
	const passkeyOnly, both = `{"methods": ["pop"]}`, `{"methods": ["pwd", "pop"]}`
	passkey, verified := by("phrh", "hwk", "pop"), by(schemas.ACRMultiFactorPRProtected, "hwk", "pop", "user", "mfa")
	tests := []struct {
		name, with string
		visit      *engine.Visit
		active     bool
	}{
		{"no session", `{}`, visit(), false},
		{"one with another application", `{}`, visit(browser(session())), true},
		{"one that expires now", `{}`, visit(browser(session(func(s *schemas.Session) { s.ExpiresAt = noon }))), false},
		{"one without methods", `{}`, visit(browser(session(by("")))), false},
		{"its user is gone", `{}`, visit(browser(session(of("zoe")))), false},
		{"audit 15: its user is disabled", `{}`, visit(browser(session(of("dora")))), false},
		{"audit 15: its user is locked", `{}`, visit(browser(session(of("lea")))), false},
		{"its user's type is served", `{}`, visit(browser(session()), allowed("Clerk", "Person")), true},
		{"its user's type is not served", `{}`, visit(browser(session()), allowed("Clerk")), false},
		{"no application", `{}`, visit(browser(session()), func(v *engine.Visit) { v.Application = nil }), true},

		{"prompt=login", `{}`, visit(browser(session()), login("login")), false},
		{"prompt=select_account", `{}`, visit(browser(session()), login("consent select_account")), false},
		{"prompt=consent", `{}`, visit(browser(session()), login("consent")), true},
		{"prompt=none", `{}`, visit(browser(session()), login("none")), true},

		{"max_age is longer ago", `{}`, visit(browser(session()), maxAge(601)), true},
		{"max_age to the second", `{}`, visit(browser(session()), maxAge(600)), true},
		{"max_age is shorter ago", `{}`, visit(browser(session()), maxAge(599)), false},
		{"max_age beyond all time", `{}`, visit(browser(session()), maxAge(1<<62)), true},
		{"max_age=0", `{}`, visit(browser(session()), maxAge(0)), false},
		{"max_age=0 in the second of the sign-in", `{}`, visit(browser(session(func(s *schemas.Session) { s.CreatedAt = noon })), maxAge(0)), false},
		{"max_age below zero", `{}`, visit(browser(session()), maxAge(-1)), false},

		{"acr_values with its class", `{}`, visit(browser(session()), login("", "phr", schemas.ACRPassword)), true},
		{"acr_values of stronger classes", `{}`, visit(browser(session()), login("", "phr", "phrh")), false},
		{"acr_values of a weaker class", `{}`, visit(browser(session(passkey)), login("", "phr")), true},
		{"unknown acr_values are voluntary and never satisfied", `{}`, visit(browser(session(passkey)), login("", "gold")), true},
		{"an unknown class is not above any", `{}`, visit(browser(session(by("gold", "pwd"))), login("", schemas.ACRPassword)), false},
		{"less than a password", `{}`, visit(browser(session(by(schemas.ACRRecovery, schemas.AMRRecovery)))), false},
		{"less than a password where that will do", `{"acr": "urn:postern:acr:recovery"}`, visit(browser(session(by(schemas.ACROneTimeCode, "otp")))), true},
		{"two factors", `{"acr": "urn:postern:acr:mfa"}`, visit(browser(session())), false},
		{"a passkey for two factors", `{"acr": "urn:postern:acr:mfa"}`, visit(browser(session(passkey))), false},
		{"a passkey that verified its user for two factors", `{"acr": "urn:postern:acr:mfa"}`, visit(browser(session(verified))), true},
		{"two factors for a passkey", `{"acr": "phr"}`, visit(browser(session(by(schemas.ACRMultiFactor, "pwd", "otp", "mfa")))), false},
		{"acr_values that a passkey without user verification does not satisfy", `{}`, visit(browser(session(passkey)), login("none", schemas.ACRMultiFactor)), false},
		{"of a class that is another program's", `{}`, visit(browser(session(by("gold", "pwd")))), false},

		{"the client means its user", `{}`, visit(browser(session()), means("ada")), true},
		{"the client expects another user", `{}`, visit(browser(session()), means("bob")), false},
		{"all together", `{}`, visit(browser(session(passkey)), login("consent", "phrh"), maxAge(3600)), true},

		{"a password where a passkey is asked for", passkeyOnly, visit(browser(session())), false},
		{"a passkey where one is asked for", passkeyOnly, visit(browser(session(passkey))), true},
		{"a synced passkey where any is asked for", passkeyOnly, visit(browser(session(by("phr", "swk", "pop")))), true},
		{"a password where both are asked for", both, visit(browser(session())), false},
		{"a passkey where both are asked for", both, visit(browser(session(passkey))), false},
		{"both where both are asked for", both, visit(browser(session(by("phr", "pwd", "swk", "pop", "mfa")))), true},
		{"what the client asks is no less than what the flow does", passkeyOnly, visit(browser(session()), login("", schemas.ACRPassword)), false},

		{"of the user who was named", `{}`, visit(browser(session()), known("ada")), true},
		{"of another than was named", `{}`, visit(browser(session()), known("bob")), false},
		{"of a user other than the unknown name", `{}`, visit(browser(session()), concealed("nobody")), false},
		{"of another than the run creates", `{}`, visit(browser(session()), drafted(&schemas.User{ID: "new"})), false},
		{"of another than authenticated", `{}`, visit(browser(session()), known("bob"), authenticated("phrh", "hwk", "pop")), false},
	}
	w := newFixture(t)
	w.addInactive()
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := run(t, w.make(t, "session-check", test.with, nil), test.visit)
			if !test.active {
				if left(t, d, "none"); !reflect.DeepEqual(d, engine.LeaveBy("none")) {
					t.Errorf("an unsuitable session reveals %+v", d)
				}
				return
			}
			s := test.visit.Request.Session
			want := &engine.Decision{Outcome: "active", Subject: &engine.Subject{UserID: "ada"}, Session: s.ID,
				Proofs: []schemas.Proof{{Kind: schemas.SessionProof, Of: s.ID, At: s.CreatedAt, ACR: s.ACR, AMR: strings.Join(s.AMR, " ")}}}
			if !reflect.DeepEqual(d, want) {
				t.Errorf("got %+v, want %+v", d, want)
			}
		})
	}
}

// If the store cannot be read, the node fails instead of requesting a password.
func TestSessionCheckFails(t *testing.T) {
	w := newFixture(t)
	w.broken = errors.New("disk on fire")
	if d, err := w.make(t, "session-check", `{}`, nil).Execute(t.Context(), visit(browser(session()))); !errors.Is(err, w.broken) {
		t.Errorf("got %+v, %v", d, err)
	}
}

// A method that no sign-in has would make a node that never finds a session.
func TestSessionCheckKnowsItsMethods(t *testing.T) {
	w := newFixture(t)
	for _, with := range []string{`{"methods": ["passkey"]}`, `{"methods": []}`, `{"methods": ["pwd", "pwd"]}`} {
		if _, problems := w.try("session-check", with, nil, schemas.Next{}); len(problems) == 0 {
			t.Errorf("accepted %s", with)
		}
	}
}
