package flowtest_test

import (
	"context"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/flows"
	"github.com/postern-id/postern/flows/flowtest"
	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/schemas"
)

// parse parses a scenario file next to a flow.
func parse(t testing.TB, flow flowtest.Definition, text string) *flowtest.File {
	t.Helper()
	f, problems := flowtest.Parse(flow, []byte(text))
	if f == nil {
		t.Fatalf("%v\n%s", problems, text)
	}
	return f
}

// builtIn returns a built-in flow.
func builtIn(t testing.TB, name string) flowtest.Definition {
	t.Helper()
	path := filepath.Join("..", name)
	text := datatest.ReadFile(t, path)
	return flowtest.Definition{Text: text, Subflows: flows.NewSubflowResolver().ForFile(path)}
}

// A scenario that is played and saved passes, and reaches the same outcomes.
func TestSavedWalksPass(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and one run after another: run it without -short")
	}
	files, err := filepath.Glob("../*_test.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			text := datatest.ReadFile(t, path)
			flow := builtIn(t, strings.TrimSuffix(filepath.Base(path), "_test.yaml")+".yaml")
			f := parse(t, flow, string(text))
			head, _, _ := strings.Cut(string(text), "\nscenarios:")
			saved := head + "\nscenarios:\n"
			scenarios := f.Scenarios
			for _, s := range scenarios {
				f.Scenarios = []flowtest.Scenario{s}
				p, err := f.Play(context.Background())
				if err != nil {
					t.Fatalf("%s: %v", s.Name, err)
				}
				if n := len(p.Walk(context.Background()).Turns); n != len(s.Steps) {
					t.Errorf("%s: %d turns, want %d", s.Name, n, len(s.Steps))
				}
				saved += p.Scenario(s.Name)
			}
			expectSame(t, parse(t, flow, string(text)), parse(t, flow, saved))
		})
	}
}

// expectSame runs the scenarios of both files, which must pass and reach the same outcomes.
func expectSame(t *testing.T, written, saved *flowtest.File) {
	t.Helper()
	want, err := written.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	got, err := saved.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range got.Results {
		if !r.Passed {
			t.Errorf("%s: %s", r.Name, r.Failure.Text("saved"))
		}
	}
	if a, b := got.Coverage.Summary(), want.Coverage.Summary(); a != b {
		t.Errorf("the saved scenarios reach %s, the written ones %s", a, b)
	}
}

const playedUsers = `users:
  ada: {attributes: {username: ada, email: ada@example.org}, password: a long password, passkeys: [laptop]}
scenarios:
  - name: walk
    steps: [{}]
`

func TestPlayerDescribesTheWalk(t *testing.T) {
	ctx := context.Background()
	p, err := parse(t, builtIn(t, "sign_in.yaml"), playedUsers).Play(ctx)
	if err != nil {
		t.Fatal(err)
	}
	w := p.Walk(ctx)
	if w.Step.StepID != "key" || w.Step.Data.Meta == nil || len(w.Turns[0].Left) != 1 || w.Turns[0].Left[0] != (flowtest.Exit{Node: "session", Outcome: "none"}) {
		t.Errorf("the first step is %+v after %+v", w.Step, w.Turns)
	}
	if err := p.Send(ctx, flowtest.Send{Passkey: &flowtest.Ceremony{Device: "laptop", Fault: "bad-signature"}}); err != nil {
		t.Fatal(err)
	}
	if w = p.Walk(ctx); w.Turns[1].Error.Code != "passkey_verification_failed" || w.Turns[1].Check != "signature" || w.Step.StepID != "who" || w.User != "" {
		t.Errorf("after a forged answer: %+v", w.Turns[1])
	}
	if err := p.Send(ctx, flowtest.Send{Action: "continue", Inputs: map[string]string{"username": "ada", "password": "a long password"}}); err != nil {
		t.Fatal(err)
	}
	if w = p.Walk(ctx); w.User != "ada" || w.Claims["acr"] != schemas.ACRPassword || !slices.Contains(w.Turns[2].Events, "user.signed_in") {
		t.Errorf("at the end: %+v %v", w.Turns[2], w.Claims)
	}
}

const twoSteps = `handle: two
name: Two steps
flowType: AUTHENTICATION
nodes:
  - {id: who, use: prompt, with: {inputs: [{identifier: username, type: TEXT_INPUT, required: true}, {identifier: password, type: PASSWORD_INPUT, required: true}], actions: [{ref: go, label: Go}]}, next: find}
  - {id: find, use: user-resolve, with: {from: username, by: [username], conceal: true}, next: {found: check, missing: check}}
  - {id: check, use: password-authenticate, next: {success: mail, failure: who}}
  - {id: mail, use: email-otp, next: {success: done, failure: who}}
  - {id: done, use: authorization-code}
`

// Codes that a user reads in a mail are different in each run, so the walk refers to them.
func TestPlayerRecognizesMailedCodes(t *testing.T) {
	ctx := context.Background()
	flow := flowtest.Definition{Text: []byte(twoSteps), Subflows: schemas.SubflowsOf{}}
	p, err := parse(t, flow, playedUsers).Play(ctx)
	if err == nil {
		err = p.Send(ctx, flowtest.Send{Action: "go", Inputs: map[string]string{"username": "ada", "password": "a long password"}})
	}
	if err != nil {
		t.Fatal(err)
	}
	w := p.Walk(ctx)
	if len(w.Mails) != 1 || len(w.Facts) == 0 {
		t.Fatalf("mails %v, facts %v", w.Mails, w.Facts)
	}
	if err := p.Send(ctx, flowtest.Send{Action: "submit", Inputs: map[string]string{"code": w.Mails[0].Code}}); err != nil {
		t.Fatal(err)
	}
	sent := p.Sends()[2]
	if sent.MailedCode != "newest" || len(sent.Inputs) != 0 || p.Walk(ctx).User != "ada" {
		t.Errorf("sent %+v, user %q, %+v", sent, p.Walk(ctx).User, p.Walk(ctx).Turns[2])
	}
}

const draftUsers = `users:
  ada: {attributes: {username: ada, email: ada@example.org}, password: a long password, passkeys: [laptop]}
  bob: {attributes: {username: bob, email: bob@example.org, email_verified: true}, password: a long password, passkeys: [tablet], totp: phone, recoveryCodes: [7K3M-9QWE-AAAA-BBBB-CCCC-DDDD]}
scenarios:
  - name: walk
    steps: [{}]
`

// Drafts for outcomes that the users of the file can reach are complete and pass.
func TestDraftsReachOutcomes(t *testing.T) {
	ctx := context.Background()
	for name, users := range map[string]string{
		"sign_in.yaml": draftUsers, "passkey_sign_in.yaml": playedUsers, "password_then_passkey.yaml": draftUsers, "passkey_sign_up.yaml": playedUsers,
	} {
		flow := builtIn(t, name)
		f := parse(t, flow, users)
		report, err := f.Run(ctx)
		if err != nil {
			t.Fatal(err)
		}
		drafts, err := f.Drafts(ctx, report.Coverage.MissedExits())
		if err != nil {
			t.Fatal(err)
		}
		text, complete := strings.TrimSuffix(users, "  - name: walk\n    steps: [{}]\n"), 0
		for _, d := range drafts {
			if d.Complete {
				complete++
			}
			text += d.Scenario
		}
		t.Logf("%s: %d of %d drafts are complete", name, complete, len(drafts))
		if 2*complete < len(drafts) {
			t.Errorf("%s: only %d of %d drafts are complete:\n%s", name, complete, len(drafts), text)
		}
		if report, err = parse(t, flow, text).Run(ctx); err != nil || report.Failed() > 0 {
			t.Errorf("%s: %v %+v\n%s", name, err, report, text)
		}
		for _, d := range drafts {
			if d.Complete && !report.Coverage.Reached(d.Node, d.Outcome) {
				t.Errorf("%s: the draft for %s %s does not reach it", name, d.Node, d.Outcome)
			}
			if !d.Complete && !regexp.MustCompile(`# To do:.*\n( +#.*\n)*`+` +#   `+d.Node).MatchString(d.Scenario) {
				t.Errorf("%s: the draft names no way to %s %s:\n%s", name, d.Node, d.Outcome, d.Scenario)
			}
		}
	}
}

// A request that cannot be made is an error, not a reply.
func TestPlayerErrors(t *testing.T) {
	ctx := context.Background()
	for want, s := range map[string]flowtest.Send{
		"no earlier step":          {Stale: true},
		"has no authenticator app": {TOTP: &flowtest.Code{Device: "toaster"}},
		"no such mail":             {MailedCode: "newest"},
	} {
		p, err := parse(t, builtIn(t, "sign_in.yaml"), playedUsers).Play(ctx)
		if err == nil {
			err = p.Send(ctx, s)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", s, err, want)
		}
	}
}
