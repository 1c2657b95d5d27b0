package main

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

const (
	victimsAddress   = "victim@example.org"
	attackerPassword = "Tarn-ferry-slate-41-owl"
	victimsPassword  = "Heron-quarry-mint-87-elm"
)

// squattedAddress is a server where an attacker has signed up with the address of a victim,
// by a flow that does not verify it.
type squattedAddress struct {
	*testApp
	box                          *mailbox
	passwordApp, codeApp, signUp string // applications, named by what their flows do
	attacker                     string // the user's id
}

func newSquattedAddress(t *testing.T, environ ...string) *squattedAddress {
	w, box := newMailTest(t, environ...)
	token := w.admin()
	s := &squattedAddress{testApp: w, box: box}
	s.passwordApp, s.codeApp = w.shop(token, "username_or_email.yaml"), w.shop(token, "email_code.yaml")
	builtIn, err := store.Flows().Find(t.Context(), w.store, schemas.Registration, "password-sign-up")
	if err != nil || builtIn == nil {
		t.Fatal(builtIn, err)
	}
	s.signUp = w.application(token, "Sign-up", "registrationFlowId", builtIn.ID)
	careless := w.application(token, "Careless", "registrationFlowId", w.storeFlow(token, "password_sign_up.yaml"))
	run := w.answer(w.begin(careless, "REGISTRATION"), "continue", map[string]string{"username": "mallory", "email": victimsAddress})
	run = w.answer(run, "submit", map[string]string{"password": attackerPassword})
	s.attacker = s.subject(run)["sub"].(string)
	return s
}

// subject returns the claims of a completed run.
func (s *squattedAddress) subject(run schemas.Step) map[string]any {
	s.t.Helper()
	if run.FlowStatus != schemas.Complete {
		s.t.Fatalf("the run has not completed: %+v", run)
	}
	var claims map[string]any
	payload, err := base64.RawURLEncoding.DecodeString(strings.Split(run.Assertion, ".")[1])
	if err == nil {
		err = json.Unmarshal(payload, &claims)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return claims
}

func (s *squattedAddress) byPassword(name, password string) schemas.Step {
	return s.answer(s.begin(s.passwordApp, "AUTHENTICATION"), "continue", map[string]string{"username": name, "password": password})
}

// signsIn signs in by name and password, in one page or two.
func (s *squattedAddress) signsIn(name, password string) schemas.Step {
	run := s.byPassword(name, password)
	if run.FlowStatus == schemas.Incomplete && run.StepID == "check" {
		run = s.answer(run, "", map[string]string{"password": password})
	}
	return run
}

// verifies signs the victim up by the built-in flow, which verifies the address.
func (s *squattedAddress) verifies() schemas.Step {
	s.t.Helper()
	run := s.answer(s.begin(s.signUp, "REGISTRATION"), "continue",
		map[string]string{"username": "vera", "email": victimsAddress, "password": victimsPassword})
	if run.StepID != "verify" {
		s.t.Fatalf("the address was not to be verified: %+v", run)
	}
	run = s.answer(run, "submit", map[string]string{"code": s.box.code(s.t)})
	return s.answer(run, "skip", nil)
}

// An attacker signs up with the address of a victim, before the victim does. The victim
// gets a separate account by every sign-up, and the attacker's password does not open it.
func TestAudit02SquattedAddress(t *testing.T) {
	onDatabases(t, func(t *testing.T, environ ...string) {
		s := newSquattedAddress(t, environ...)
		s.attackerSeesNothing()
		if run := s.signsIn(victimsAddress, attackerPassword); run.FlowStatus == schemas.Complete {
			t.Error("an unverified address signs in")
		}
		if claims := s.subject(s.signsIn("mallory", attackerPassword)); claims["sub"] != s.attacker || claims["email"] != nil || claims["email_verified"] != nil {
			t.Errorf("the attacker's claims before: %v, expected no address that is not verified", claims)
		}
		if u, err := s.store.User(t.Context(), s.attacker); err != nil || u.Text("email") != victimsAddress {
			t.Errorf("the attacker's account before: %+v, %v", u, err)
		}

		victim := s.subject(s.verifies())
		if victim["sub"] == s.attacker || victim["email"] != victimsAddress || victim["email_verified"] != true {
			t.Errorf("the victim's claims: %v; the attacker is %s", victim, s.attacker)
		}
		s.separate(victim["sub"].(string))
	})
}

// attackerSeesNothing requests a code for the squatted address and for an unknown one: the
// replies are identical, and no mail is sent.
func (s *squattedAddress) attackerSeesNothing() {
	s.t.Helper()
	var seen []string
	for _, email := range []string{victimsAddress, "nobody@example.org"} {
		run := s.answer(s.begin(s.codeApp, "AUTHENTICATION"), "continue", map[string]string{"email": email})
		wrong := s.answer(run, "submit", map[string]string{"code": "12345678"})
		text := datatest.Marshal(s.t, []any{run.StepID, run.Data, run.Error, wrong.StepID, wrong.Data, wrong.Error})
		seen = append(seen, string(text))
	}
	if seen[0] != seen[1] {
		s.t.Errorf("the reply for an unverified address is\n%s\nand for an unknown one\n%s", seen[0], seen[1])
	}
	if len(s.box.mails) > 0 {
		s.t.Errorf("a mail was sent: %s", <-s.box.mails)
	}
}

// separate makes sure that the two accounts share nothing.
func (s *squattedAddress) separate(victim string) {
	s.t.Helper()
	for _, name := range []string{victimsAddress, "vera"} {
		if run := s.signsIn(name, attackerPassword); run.FlowStatus == schemas.Complete {
			s.t.Errorf("the attacker's password opens the account of %s", name)
		}
		if claims := s.subject(s.signsIn(name, victimsPassword)); claims["sub"] != victim {
			s.t.Errorf("%s is %v, expected %s", name, claims["sub"], victim)
		}
	}
	if run := s.signsIn("mallory", victimsPassword); run.FlowStatus == schemas.Complete {
		s.t.Error("the victim's password opens the attacker's account")
	}
	claims := s.subject(s.signsIn("mallory", attackerPassword))
	if claims["sub"] != s.attacker || claims["email"] != nil || claims["email_verified"] != nil {
		s.t.Errorf("the attacker's claims after: %v", claims)
	}
	run := s.answer(s.begin(s.codeApp, "AUTHENTICATION"), "continue", map[string]string{"email": victimsAddress})
	if claims := s.subject(s.answer(run, "submit", map[string]string{"code": s.box.code(s.t)})); claims["sub"] != victim {
		s.t.Errorf("the code opens the account of %v, expected %s", claims["sub"], victim)
	}
	events, err := s.store.Events(s.t.Context(), schemas.EventQuery{UserID: s.attacker, Action: "email.lost", Limit: 2})
	if err != nil || len(events) != 1 || events[0].Detail["owner"] != victim {
		s.t.Errorf("the events of the attacker: %+v, %v", events, err)
	}
}

// An administrator who states that an address is verified claims it too, and one who does
// not claims nothing.
func TestAudit02AdministratorSetsAddress(t *testing.T) {
	s := newSquattedAddress(t)
	token := s.admin()
	var made struct{ ID string }
	s.send(http.StatusCreated, "/users", token, `{"type": "Person", "attributes": {"username": "vera", "email": "`+victimsAddress+`"}}`, &made)
	if _, err := s.store.UserByAttribute(t.Context(), "", "email", victimsAddress); !schemas.HasCode(err, schemas.CodeUserNotFound) {
		t.Errorf("an unverified address identifies a user: %v", err)
	}
	s.send(http.StatusCreated, "/users", token, `{"type": "Person", "attributes": {"username": "wanda", "email": "`+victimsAddress+`", "email_verified": true}}`, &made)
	for id, want := range map[string]string{s.attacker: "", made.ID: victimsAddress} {
		u, err := s.store.User(t.Context(), id)
		if err != nil || u.Text("email") != want {
			t.Errorf("the address of %s is %q, expected %q (%v)", id, u.Text("email"), want, err)
		}
	}
}

// A username does not bypass the verification: a username that is an address would block
// the address's owner and be found in their place.
func TestAudit02UsernameThatIsAnAddress(t *testing.T) {
	s := newSquattedAddress(t)
	run := s.answer(s.begin(s.signUp, "REGISTRATION"), "continue", map[string]string{"username": victimsAddress, "password": attackerPassword})
	if run.StepID != "who" || run.Error == nil || run.Error.Code != schemas.CodeInvalidIdentifier {
		t.Errorf("an address became a username: %+v", run)
	}
}
