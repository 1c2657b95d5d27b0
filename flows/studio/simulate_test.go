package studio

import (
	"encoding/json"
	"strings"
	"testing"
)

const simulated = `handle: sign-in
name: Sign in
flowType: AUTHENTICATION
nodes:
  - {id: key, use: passkey-authenticate, with: {mode: usernameless}, next: {success: done, failure: key}}
  - {id: done, use: authorization-code}
`

const simulatedFile = "users:\n  ada: {attributes: {username: ada}, passkeys: [laptop]}\n"

func sends(texts ...string) (list []json.RawMessage) {
	for _, text := range texts {
		list = append(list, json.RawMessage(text))
	}
	return list
}

func TestPlayContinuesAndGoesBack(t *testing.T) {
	s := New()
	input := PlayInput{Source: Source{Text: simulated}, File: simulatedFile, Name: "walk"}
	play := func(requests ...string) PlayResult {
		t.Helper()
		input.Sends = sends(requests...)
		r, failed := call[PlayResult](t, s, "play", input)
		if failed != "" || r.Failure != "" || len(r.Problems) > 0 {
			t.Fatal(failed, r)
		}
		return r
	}
	first := play()
	forged := `{"passkey": {"device": "laptop", "fault": "bad-signature"}}`
	second := play(forged)
	if first.Walk.Step.ExecutionID != second.Walk.Step.ExecutionID {
		t.Error("a walk that goes on is another run")
	}
	if third := play(forged, `{"passkey": {"device": "laptop"}}`); third.Walk.User != "ada" || len(third.Walk.Turns) != 3 || third.Walk.Turns[1].Check != "signature" {
		t.Errorf("at the end: %+v", third.Walk)
	}
	if back := play(forged); len(back.Walk.Turns) != 2 || back.Walk.User != "" || back.Walk.Step.StepID != "key" {
		t.Errorf("on the way back: %+v", back.Walk)
	}
	if again := play(forged, `{"passkey": {"device": "laptop"}}`); again.Walk.User != "ada" {
		t.Errorf("on the way forth again: %+v", again.Walk)
	}
}

func TestPlayReportsWhatIsWrong(t *testing.T) {
	ok := PlayInput{Source: Source{Text: simulated}, File: simulatedFile}
	for name, tt := range map[string]struct {
		change  func(*PlayInput)
		in      string
		message string
		line    int
	}{
		"the file":       {func(p *PlayInput) { p.File += "devicez: {}\n" }, "file", "devicez", 3},
		"no YAML":        {func(p *PlayInput) { p.File = "users: [" }, "file", "", 1},
		"no object":      {func(p *PlayInput) { p.Start = "- a" }, "start", "members", 1},
		"the start":      {func(p *PlayInput) { p.Start = "noMail: false\nlogin: {maxAge: soon}" }, "start", "maxAge", 2},
		"a request":      {func(p *PlayInput) { p.Sends = sends(`{"passkey": {"device": "laptop", "fault": "none"}}`) }, "sends", "fault", 0},
		"an unknown one": {func(p *PlayInput) { p.Sends = sends(`{"jump": true}`) }, "sends", "jump", 0},
		"the flow":       {func(p *PlayInput) { p.Text = "handle: x" }, "", "nodes", 0},
		"no app":         {func(p *PlayInput) { p.Sends = sends(`{"totp": {"device": "laptop"}}`) }, "", "authenticator app", 0},
	} {
		input := ok
		tt.change(&input)
		r, failed := call[PlayResult](t, New(), "play", input)
		if failed != "" || r.Walk != nil {
			t.Errorf("%s: %s %+v", name, failed, r)
			continue
		}
		if tt.in == "" {
			if !strings.Contains(r.Failure, tt.message) {
				t.Errorf("%s: %q, want %q", name, r.Failure, tt.message)
			}
		} else if p := r.Problems[0]; p.In != tt.in || p.Line != tt.line || !strings.Contains(p.Path+p.Message, tt.message) {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

// The scenario of a walk runs, and drafts reach the outcomes that it misses.
func TestRunScenariosAndDrafts(t *testing.T) {
	s := New()
	flow := Source{Text: simulated}
	walk, _ := call[PlayResult](t, s, "play", PlayInput{Source: flow, File: simulatedFile, Sends: sends(`{"passkey": {"device": "laptop"}}`), Name: "a passkey"})
	file := simulatedFile + "scenarios:\n" + walk.Scenario
	ran, failed := call[ScenariosResult](t, s, "runScenarios", ScenariosInput{flow, file})
	if failed != "" || len(ran.Results) != 1 || !ran.Results[0].Passed || len(ran.Missed) != 1 || ran.Missed[0].Outcome != "failure" {
		t.Fatalf("%s %+v", failed, ran)
	}
	drafts, failed := call[DraftResult](t, s, "draftScenarios", DraftInput{Source: flow, File: file, Outcomes: ran.Missed})
	if failed != "" || len(drafts.Drafts) != 1 || !drafts.Drafts[0].Complete {
		t.Fatalf("%s %+v", failed, drafts)
	}
	ran, _ = call[ScenariosResult](t, s, "runScenarios", ScenariosInput{flow, file + drafts.Drafts[0].Scenario})
	if len(ran.Missed) != 0 || len(ran.Results) != 2 {
		t.Errorf("%+v", ran)
	}
	if wrong, _ := call[ScenariosResult](t, s, "runScenarios", ScenariosInput{flow, "scenarios: []"}); len(wrong.Problems) == 0 {
		t.Error("a file without scenarios has no problem")
	}
	if broken, _ := call[ScenariosResult](t, s, "runScenarios", ScenariosInput{Source{Text: "handle: x"}, file}); broken.Failure == "" {
		t.Error("a flow that does not compile runs")
	}
}

func TestListFaults(t *testing.T) {
	if r, failed := call[FaultsResult](t, New(), "listFaults", struct{}{}); failed != "" || len(r.Devices) < 20 || len(r.Providers) < 20 || r.Devices[0].Doc == "" {
		t.Errorf("%s %+v", failed, r)
	}
}
