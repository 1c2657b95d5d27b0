package main

import (
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/signins"
	"github.com/postern-id/postern/internal/totp"
	"github.com/postern-id/postern/schemas"
)

// unknownFactorLimit is how many wrong codes of a second factor in a row unknown networks may enter.
const unknownFactorLimit = 12

// factorGuessing is an account with an authenticator app, and two instances on one store: at one
// application the password is enough, and another asks for a code.
type factorGuessing struct {
	instances   []*testApp
	application string // asks for a code
	weak        string // the password is enough
	key         totp.Key
	last        int64 // step of the last code that was used
	recovery    []string
}

// onFactorGuessing runs a test on both databases.
func onFactorGuessing(t *testing.T, test func(t *testing.T, w *factorGuessing)) {
	onDatabases(t, func(t *testing.T, environ ...string) {
		one := newGuessingTest(t, environ...)
		second := openForTest(t, one.cfg, slog.New(slog.DiscardHandler))
		w := &factorGuessing{instances: []*testApp{one, {app: second, t: t, http: second.handler(), origin: one.origin}}}
		w.application, w.weak = one.shop(one.admin(), "code_as_second_factor.yaml"), one.shop(one.admin(), "password_only.yaml")
		s := one.answer(one.begin(w.application, "AUTHENTICATION"), "continue", map[string]string{"username": "admin", "password": adminPassword})
		w.key = totp.Key{Secret: s.Data.AdditionalData["totpSecret"], Algorithm: totp.SHA1, Digits: 6}
		if s = one.answer(s, "submit", map[string]string{"otp": w.nextCode(t)}); s.StepID != "codes" {
			t.Fatalf("enrolling an authenticator app: %+v", s)
		}
		datatest.Unmarshal(t, []byte(s.Data.AdditionalData["recoveryCodes"]), &w.recovery)
		if s = one.answer(s, "saved", nil); s.FlowStatus != schemas.Complete {
			t.Fatalf("enrolling recovery codes: %+v", s)
		}
		test(t, w)
	})
}

// nextCode returns a code that was not used. The server accepts those of three steps.
func (w *factorGuessing) nextCode(t *testing.T) string {
	t.Helper()
	w.last = max(w.last+1, totp.Step(time.Now())-1)
	code, err := w.key.Code(time.Unix(w.last*int64(totp.Period/time.Second), 0))
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// caller is a browser at an address, which reaches the instances in turn.
func (w *factorGuessing) caller(i int) *guesser {
	return &guesser{testApp: w.instances[i%len(w.instances)], remote: fmt.Sprintf("203.%d.%d.1", i/250, i%250)}
}

// enter signs in with the password and a code, and returns the status of the code's reply and its step.
func (w *factorGuessing) enter(g *guesser, code string) (status int, s schemas.Step) {
	g.send(map[string]any{"applicationId": w.application, "flowType": "AUTHENTICATION"}, &s)
	run := s.ExecutionID
	g.send(map[string]any{"executionId": run, "action": "continue", "inputs": map[string]string{"username": "admin", "password": adminPassword}}, &s)
	if s.StepID != "code" {
		g.t.Fatalf("no code is asked for: %+v", s)
	}
	token := s.ChallengeToken
	s = schemas.Step{}
	status = g.send(map[string]any{"executionId": run, "challengeToken": token, "action": "submit", "inputs": map[string]string{"otp": code}}, &s)
	return status, s
}

// enterPassword signs in with only the password, which makes the browser known for it.
func (w *factorGuessing) enterPassword(g *guesser) {
	g.t.Helper()
	var s schemas.Step
	g.send(map[string]any{"applicationId": w.weak, "flowType": "AUTHENTICATION"}, &s)
	if run := s.ExecutionID; g.send(map[string]any{"executionId": run, "action": "continue", "inputs": map[string]string{"username": "admin", "password": adminPassword}}, &s) != http.StatusOK ||
		s.FlowStatus != schemas.Complete || g.device == nil {
		g.t.Fatalf("the password alone: %+v", s)
	}
}

// An attacker with the password signs in with it where it is enough, in any number of browsers, and
// guesses at the second factor in each of them: together they have the guesses of unknown browsers. The
// user's browser, which has proved the factor, is not affected, and ends the block.
func TestPasswordMakesNoBrowserKnownForTheSecondFactor(t *testing.T) {
	onFactorGuessing(t, func(t *testing.T, w *factorGuessing) {
		owner := w.caller(0)
		if _, s := w.enter(owner, w.nextCode(t)); s.FlowStatus != schemas.Complete || owner.device == nil {
			t.Fatalf("the owner: %+v", s)
		}
		answered := 0
		const browsers = 30
		for i := range browsers {
			thief := w.caller(1 + i)
			w.enterPassword(thief)
			for range 4 {
				if status, _ := w.enter(thief, "000000"); status == http.StatusOK {
					answered++
				}
			}
		}
		if answered != unknownFactorLimit {
			t.Errorf("%d wrong codes were answered in %d browsers, want %d", answered, browsers, unknownFactorLimit)
		}
		w.isDisabled(t, true)
		thief, code := w.caller(browsers+1), w.nextCode(t)
		w.enterPassword(thief)
		if status, s := w.enter(thief, code); status != http.StatusTooManyRequests {
			t.Errorf("the right code in a browser that has proved the password: %d %+v", status, s)
		}
		owner.remote = "198.51.100.77"
		if status, s := w.enter(owner, code); s.FlowStatus != schemas.Complete {
			t.Errorf("the right code in the owner's browser: %d %+v", status, s)
		}
		w.isDisabled(t, false)
		if status, _ := w.enter(thief, "000000"); status != http.StatusOK {
			t.Errorf("a code after the owner has signed in: %d", status)
		}
	})
}

// isDisabled checks what an administrator and the user see of the factor: the mail and the event, its
// state, and the explanation.
func (w *factorGuessing) isDisabled(t *testing.T, disabled bool) {
	t.Helper()
	one := w.instances[0]
	id, token := one.userNamed("admin"), one.admin()
	events, err := one.store.Events(t.Context(), schemas.EventQuery{Limit: 9, Action: schemas.FactorDisabled})
	if err != nil || len(events) != 1 || events[0].UserID != id || events[0].Detail["secret"] != string(schemas.TOTPSecret) {
		t.Errorf("events %+v, %v", events, err)
	}
	if n := schemas.NoticeOf(events[0]); n == nil || n.UserID != id {
		t.Errorf("the notice is %+v", n)
	}
	var list struct {
		Factors []struct{ Type, DisabledAt string } // totp, recovery-codes
	}
	datatest.Unmarshal(t, one.call(http.MethodGet, "/users/"+id+"/factors", token, "").Body.Bytes(), &list)
	if len(list.Factors) != 2 || (list.Factors[0].DisabledAt != "") != disabled || list.Factors[1].DisabledAt != "" {
		t.Errorf("the factors are %+v", list)
	}
	report, text := one.signInsOf(id, token)
	if (report.BlockedAt != nil) != disabled || disabled != slices.ContainsFunc(report.State, func(s signins.Sentence) bool { return s.Values["time"] != "" }) {
		t.Errorf("the report is %s", text)
	}
}

// An administrator, or a sign-in with another factor, enables a disabled factor.
func TestDisabledFactorIsEnabled(t *testing.T) {
	onFactorGuessing(t, func(t *testing.T, w *factorGuessing) {
		one := w.instances[0]
		id := one.userNamed("admin")
		exhaust := func() {
			t.Helper()
			for i := range unknownFactorLimit + 3 {
				w.enter(w.caller(i), "000000")
			}
			if status, _ := w.enter(w.caller(99), "000000"); status != http.StatusTooManyRequests {
				t.Fatalf("a code above the limit: %d", status)
			}
		}
		enabled := func(by string) {
			t.Helper()
			if status, _ := w.enter(w.caller(100), "000000"); status != http.StatusOK {
				t.Errorf("%s does not enable the factor: %d", by, status)
			}
		}
		exhaust()
		if rec := one.call("DELETE", "/users/"+id+"/failed-guesses", one.admin(), ""); rec.Code != http.StatusNoContent {
			t.Errorf("%d %s", rec.Code, rec.Body)
		}
		enabled("an administrator")

		exhaust()
		g := w.caller(101)
		var s schemas.Step
		g.send(map[string]any{"applicationId": w.application, "flowType": "AUTHENTICATION"}, &s)
		run := s.ExecutionID
		g.send(map[string]any{"executionId": run, "action": "continue", "inputs": map[string]string{"username": "admin", "password": adminPassword}}, &s)
		g.send(map[string]any{"executionId": run, "challengeToken": s.ChallengeToken, "action": "lost", "inputs": map[string]string{}}, &s)
		g.send(map[string]any{"executionId": run, "challengeToken": s.ChallengeToken, "action": "submit", "inputs": map[string]string{"recoveryCode": w.recovery[0]}}, &s)
		g.send(map[string]any{"executionId": run, "challengeToken": s.ChallengeToken, "action": "skip", "inputs": map[string]string{}}, &s)
		if s.FlowStatus != schemas.Complete {
			t.Fatalf("with a recovery code: %+v", s)
		}
		enabled("a recovery code")
	})
}

// Of codes that are entered at the same moment at two instances, no more are answered than the limit
// allows.
func TestSecondFactorGuessesAtOnce(t *testing.T) {
	onFactorGuessing(t, func(t *testing.T, w *factorGuessing) {
		type question struct {
			*guesser
			run, token string
		}
		var asked []question
		for i := range 4 * unknownFactorLimit {
			g := w.caller(i)
			var s schemas.Step
			g.send(map[string]any{"applicationId": w.application, "flowType": "AUTHENTICATION"}, &s)
			run := s.ExecutionID
			g.send(map[string]any{"executionId": run, "action": "continue", "inputs": map[string]string{"username": "admin", "password": adminPassword}}, &s)
			asked = append(asked, question{g, run, s.ChallengeToken})
		}
		var all sync.WaitGroup
		var answered atomic.Int32
		for _, q := range asked {
			all.Go(func() {
				var s schemas.Step
				if q.send(map[string]any{"executionId": q.run, "challengeToken": q.token, "action": "submit", "inputs": map[string]string{"otp": "000000"}}, &s) == http.StatusOK {
					answered.Add(1)
				}
			})
		}
		all.Wait()
		if n := answered.Load(); n != unknownFactorLimit {
			t.Errorf("%d codes were answered, want %d", n, unknownFactorLimit)
		}
	})
}

// Guesses at the passwords of many users lock none of them out of their own browsers.
func TestSprayedGuessesDoNotLockOutKnownBrowsers(t *testing.T) {
	onDatabases(t, func(t *testing.T, environ ...string) {
		w := newGuessingTest(t, environ...)
		token := w.admin()
		var owners []*guesser
		for i := range 5 {
			name := fmt.Sprint("user", i)
			w.made(token, "/users", `{"type":"Person","attributes":{"username":"`+name+`","password":"wheel of forty cogs"}}`)
			g := &guesser{testApp: w, remote: fmt.Sprintf("198.51.100.%d", i)}
			if _, s := g.guess(name, "wheel of forty cogs"); s.FlowStatus != schemas.Complete {
				t.Fatalf("%+v", s)
			}
			owners = append(owners, g)
		}
		for i := range owners {
			if n := w.answered(fmt.Sprint("user", i), unknownNetworkLimit+5); n != unknownNetworkLimit {
				t.Errorf("%d guesses were answered, want %d", n, unknownNetworkLimit)
			}
		}
		for i, g := range owners {
			g.remote = "192.0.2.200"
			if status, s := g.guess(fmt.Sprint("user", i), "wheel of forty cogs"); s.FlowStatus != schemas.Complete {
				t.Errorf("the browser of user %d is locked out: %d %+v", i, status, s)
			}
		}
	})
}
