package nodes

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/schemas"
)

// post is a queue of mails that can be full.
type post struct {
	sent   []schemas.Mail
	names  []string
	broken error
}

func (p *post) Mail(_ context.Context, name string, m schemas.Mail, now time.Time) (schemas.Delivery, error) {
	if p.broken != nil {
		return schemas.Delivery{}, p.broken
	}
	p.sent, p.names = append(p.sent, m), append(p.names, name)
	body, err := json.Marshal(m)
	return schemas.Delivery{ID: "delivery", Kind: schemas.MailDelivery, Body: body, CreatedAt: now}, err
}

// code returns the code of the newest mail.
func (p *post) code() string { return p.sent[len(p.sent)-1].Code }

// codeFixture returns a world with a mail queue, and a node that sends codes with it.
func codeFixture(t *testing.T, with string) (*fixture, *post, engine.Executor) {
	w := newFixture(t)
	p := &post{}
	w.deps.Mails = p
	w.kinds = Kinds(w.deps)
	return w, p, w.make(t, "email-otp", with, nil)
}

// A code is valid only for the purpose for which it was sent.
func TestEmailOTPBinds(t *testing.T) {
	moved := func(w *fixture) { w.users["ada"].Attributes["email"] = "new@example.org" }
	tests := map[string]struct {
		visit  *engine.Visit // the visit of the answer
		before func(*fixture)
		right  bool
	}{
		"the run and user that it was sent for": {visit(known("ada")), nil, true},
		"the same address, written otherwise":   {visit(known("ada")), func(w *fixture) { w.users["ada"].Attributes["email"] = "ADA@example.org" }, true},
		"another address of the user":           {visit(known("ada")), moved, false},
		"another run":                           {visit(known("ada"), func(v *engine.Visit) { v.ExecutionID = "run-2" }), nil, false},
		"another user with that address": {visit(known("bob")), func(w *fixture) {
			w.users["bob"].Attributes["email"], w.users["bob"].Attributes["email_verified"] = "ada@example.org", true
		}, false},
		"a user who is not there": {visit(concealed("ada")), nil, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w, p, exec := codeFixture(t, `{}`)
			asked := run(t, exec, visit(known("ada")))
			if test.before != nil {
				test.before(w)
			}
			v := test.visit
			v.NodeState = asked.NodeState
			answer("submit", "code", " "+p.code()[:3]+" "+p.code()[3:]+" ")(v)
			d := run(t, exec, v)
			if right := d.Outcome == "success"; right != test.right {
				t.Errorf("left by %q, ask %v", d.Outcome, d.Ask)
			}
		})
	}
}

// The mail of a recovery differs from that of a sign-in, unless the user has authenticated already.
func TestEmailOTPOfARecovery(t *testing.T) {
	recovers := func(v *engine.Visit) { v.Recovers = true }
	authenticated := func(v *engine.Visit) { v.Authentication = &engine.Authentication{} }
	for name, test := range map[string]struct {
		visit *engine.Visit
		want  bool
	}{
		"a sign-in":                           {visit(known("ada")), false},
		"a recovery":                          {visit(known("ada"), recovers), true},
		"a recovery of an unknown user":       {visit(concealed("eve"), recovers), true},
		"an authenticated user in a recovery": {visit(known("ada"), recovers, authenticated), false},
	} {
		_, p, exec := codeFixture(t, `{}`)
		run(t, exec, test.visit)
		if len(p.sent) != 1 || p.sent[0].Recovery != test.want {
			t.Errorf("%s: the mails are %v, want one with recovery %v", name, p.sent, test.want)
		}
	}
}

// The stored state does not reveal the code, and differs between runs.
func TestEmailOTPKeepsNoCode(t *testing.T) {
	_, p, exec := codeFixture(t, `{"digits": 8}`)
	d := run(t, exec, visit(known("ada")))
	if len(p.code()) != 8 || slices.ContainsFunc([]byte(p.code()), func(c byte) bool { return c < '0' || c > '9' }) {
		t.Errorf("the code %q", p.code())
	}
	var sent sentCode
	if err := json.Unmarshal(d.NodeState, &sent); err != nil || len(sent.MAC) != 32 {
		t.Fatalf("kept %s, %v", d.NodeState, err)
	}
	if m := p.sent[0]; m.To != "ada@example.org" || m.Minutes != 10 || m.Application != "Shop" || p.names[0] != "ada" {
		t.Errorf("the mail %+v for %q", m, p.names[0])
	}
	if again := run(t, exec, visit(known("ada"))); string(again.NodeState) == string(d.NodeState) {
		t.Error("two codes are the same")
	}
}

// Replies and the work of the server do not reveal whether a name exists.
func TestEmailOTPConceals(t *testing.T) {
	w, p, exec := codeFixture(t, `{}`)
	w.users["eve"] = &schemas.User{ID: "eve", Attributes: map[string]any{"username": "eve"}} // without an address
	hidden := func(name string) func(*engine.Visit) {
		return func(v *engine.Visit) { v.Subject = engine.Subject{UserID: name, Name: name, Input: "username"} }
	}
	w.users["una"] = &schemas.User{ID: "una", Attributes: map[string]any{"username": "una", "email": "una@example.org"}}
	var asks []string
	reasons := []string{schemas.ReasonWrongMailedCode, schemas.ReasonNoAddress, schemas.ReasonUnverified, schemas.ReasonUnknownUser}
	for i, v := range []*engine.Visit{visit(hidden("ada")), visit(hidden("eve")), visit(hidden("una")), visit(concealed("nobody"))} {
		d := run(t, exec, v)
		requested := d.Changes[1].(schemas.RecordEvent).Event
		if sent := i == 0; sent != (requested.Action == "email_code.sent") || !sent && requested.Detail["reason"] != reasons[i] || requested.UserID != v.Subject.UserID {
			t.Errorf("the event is %+v, want the reason %q", requested, reasons[i])
		}
		text := datatest.Marshal(t, d.Ask)
		asks = append(asks, string(text))
		if len(p.sent) != i+1 {
			t.Errorf("%d mails after %d arrivals", len(p.sent), i+1)
		}
		if mailed := p.sent[i].To != ""; mailed != (i == 0) {
			t.Errorf("the mail goes to %q", p.sent[i].To)
		}
		v.NodeState, v.Answer = d.NodeState, &engine.Answer{Action: "submit", Inputs: map[string]string{"code": "12345678"}}
		if d := run(t, exec, v); d.Ask == nil || !d.Failed || d.Ask.FieldErrors[0].Message != "Incorrect code. You have 4 attempts left." || d.Reason != reasons[i] {
			t.Errorf("a wrong code: %+v, want the reason %q", d, reasons[i])
		}
	}
	if len(slices.Compact(asks)) != 1 {
		t.Errorf("the questions differ: %s", asks)
	}
	if _, p, exec := codeFixture(t, `{}`); true {
		d := run(t, exec, visit(drafted(&schemas.User{ID: "new", Attributes: map[string]any{"email": "new@example.org"}})))
		if d.Ask == nil || p.names[0] != "new@example.org" {
			t.Errorf("mails to a new user are counted by %q", p.names)
		}
	}
}

// A user without an address gets an error if the run may reveal that.
func TestEmailOTPMissing(t *testing.T) {
	_, _, exec := codeFixture(t, `{}`)
	d, err := exec.Execute(t.Context(), visit(known("bob")))
	if err != nil || d.Fail == nil || d.Fail.Code != "no_email_address" {
		t.Errorf("got %+v, %v", d, err)
	}
	w, _, _ := codeFixture(t, `{}`)
	wired, problems := w.try("email-otp", `{}`, nil, schemas.Next{By: map[string]string{"success": "next", "missing": "next"}})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	left(t, run(t, wired, visit(known("bob"))), "missing")
	for name, v := range map[string]*engine.Visit{
		"a user without an address": visit(func(v *engine.Visit) { v.Subject = engine.Subject{UserID: "bob", Name: "bob", Input: "username"} }),
		"nobody":                    visit(concealed("eve")),
	} {
		if d := run(t, wired, v); d.Ask == nil {
			t.Errorf("%s, who is concealed, leaves by %q", name, d.Outcome)
		}
	}
	proven := visit(func(v *engine.Visit) { v.Subject = engine.Subject{UserID: "bob", Name: "bob", Input: "username"} }, authenticated(schemas.ACRPassword, "pwd"))
	left(t, run(t, wired, proven), "missing")
}

// An exceeded mail limit is reported with the question and not as an error: the outcomes
// before it still count.
func TestEmailOTPThrottled(t *testing.T) {
	_, p, exec := codeFixture(t, `{}`)
	p.broken = schemas.Errorf(schemas.Throttled, "too_many_requests", "too many mails")
	d := run(t, exec, visit(known("ada")))
	if d.Ask == nil || d.Notice == nil || d.Notice.Class != schemas.Throttled || len(d.Changes) > 0 {
		t.Fatalf("got %+v", d)
	}
	v := visit(known("ada"), keeping(d), answer("submit", "code", "123456"))
	if d := run(t, exec, v); d.Ask == nil || d.Ask.FieldErrors == nil {
		t.Errorf("there is no code, and %+v", d)
	}
	p.broken = schemas.Errorf(schemas.Unavailable, "mail_not_configured", "no mail server")
	if _, err := exec.Execute(t.Context(), visit(known("ada"))); !schemas.HasCode(err, "mail_not_configured") {
		t.Errorf("got %v", err)
	}
}

// Wrong codes are counted like wrong passwords.
func TestEmailOTPGuesses(t *testing.T) {
	w, p, _ := codeFixture(t, `{}`)
	limited := &counted{}
	w.deps.Guesses = limited
	w.kinds = Kinds(w.deps)
	exec := w.make(t, "email-otp", `{}`, nil)
	asked := run(t, exec, visit(known("ada")))
	run(t, exec, visit(known("ada"), keeping(asked), answer("submit", "code", "1")))
	left(t, run(t, exec, visit(known("ada"), keeping(asked), answer("submit", "code", p.code()))), "success")
	if !slices.Equal(limited.outcomes, []bool{false, true}) {
		t.Errorf("counted %v", limited.outcomes)
	}
}

// counted records the results of guesses.
type counted struct{ outcomes []bool }

func (c *counted) Guess(_ context.Context, _ schemas.Guess, check func() (bool, error)) (bool, error) {
	right, err := check()
	c.outcomes = append(c.outcomes, right)
	return right, err
}

// Mails contain no names of unverified applications: otherwise anyone who registers a
// client could send users any text in this server's name.
func TestEmailOTPNames(t *testing.T) {
	_, p, exec := codeFixture(t, `{}`)
	another := *app
	another.Registration = schemas.RegisteredDynamically
	run(t, exec, visit(known("ada"), func(v *engine.Visit) { v.Application = &another }))
	if p.sent[0].Application != "" {
		t.Errorf("the mail speaks of %q", p.sent[0].Application)
	}
}

// A user who is only identified gets no code at an unverified address, and the client
// cannot distinguish this from an unknown user.
func TestAudit02NoCodeToUnverifiedAddress(t *testing.T) {
	w, p, exec := codeFixture(t, `{}`)
	w.users["mallory"] = &schemas.User{ID: "mallory", Attributes: map[string]any{"username": "mallory", "email": "victim@example.org"}}
	found := func(v *engine.Visit) {
		known("mallory")(v)
		v.Subject.Name = "mallory"
	}
	hidden := run(t, exec, visit(found))
	if nobody := run(t, exec, visit(concealed("nobody"))); p.sent[0].To != "" || p.sent[1].To != "" {
		t.Errorf("mails to %+v", p.sent)
	} else if a, b := asked(t, hidden), asked(t, nobody); a != b {
		t.Errorf("asked\n%s\nand for an unknown user\n%s", a, b)
	}
	if d := run(t, exec, visit(found, keeping(hidden), answer("submit", "code", p.sent[0].Code))); d.Outcome != "" {
		t.Errorf("the code of an unsent mail opens the account: %q", d.Outcome)
	}
	wired, problems := w.try("email-otp", `{}`, nil, schemas.Next{By: map[string]string{"success": "next", "missing": "next"}})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	left(t, run(t, wired, visit(known("mallory"))), "missing")
}

// The code verifies the address of an authenticated user, and the commit checks that the
// user still has it.
func TestEmailOTPVerifies(t *testing.T) {
	w, p, exec := codeFixture(t, `{}`)
	w.users["grace"] = &schemas.User{ID: "grace", Attributes: map[string]any{"email": "grace@example.org"}}
	d := run(t, exec, ownVisit("grace"))
	if p.sent[0].To != "grace@example.org" {
		t.Fatalf("the mail goes to %q", p.sent[0].To)
	}
	done := left(t, run(t, exec, ownVisit("grace", keeping(d), answer("submit", "code", p.code()))), "success")
	if want := (schemas.VerifyEmail{UserID: "grace", Email: "grace@example.org", At: noon}); !slices.Contains(done.Changes, schemas.Change(want)) {
		t.Errorf("the changes %+v", done.Changes)
	}
}

// Without a mail server the node leaves by unavailable if the flow wires it, for every
// user.
func TestEmailOTPUnavailable(t *testing.T) {
	w, p, _ := codeFixture(t, `{}`)
	p.broken = schemas.Errorf(schemas.Unavailable, schemas.CodeMailNotConfigured, "no mail server")
	exec, problems := w.try("email-otp", `{}`, nil, schemas.Next{By: map[string]string{"success": "next", "unavailable": "next"}})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for _, v := range []*engine.Visit{visit(known("ada")), visit(concealed("nobody")), ownVisit("ada")} {
		left(t, run(t, exec, v), "unavailable")
	}
}

// asked returns a question as the client receives it.
func asked(t *testing.T, d *engine.Decision) string {
	t.Helper()
	return string(datatest.Marshal(t, d.Ask))
}
