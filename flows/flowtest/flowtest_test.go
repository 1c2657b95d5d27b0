package flowtest_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/flows/flowtest"
	"github.com/postern-id/postern/internal/datatest"
)

const signIn = `handle: sign-in
name: Sign in
flowType: AUTHENTICATION
nodes:
  - {id: key, use: passkey-authenticate, next: {success: done, failure: key}}
  - {id: done, use: authorization-code}
`

// write writes a flow and its scenarios and returns the scenarios' path.
func write(t testing.TB, flow, scenarios string) string {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "flow_test.yaml")
	for name, text := range map[string]string{filepath.Join(dir, "flow.yaml"): flow, path: scenarios} {
		datatest.WriteFile(t, name, text)
	}
	return path
}

// runFile runs the scenarios of a file.
func runFile(t testing.TB, path string) *flowtest.Report {
	t.Helper()
	f, err := flowtest.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	report, err := f.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// Each scenario fails in one way, and the report states which.
func TestFailuresAreReported(t *testing.T) {
	const head = "users: {ada: {attributes: {username: ada}, passkeys: [laptop]}, bob: {attributes: {username: bob}}}\nscenarios:\n  - name: s\n    steps:\n"
	const begin = "      - expect: {step: key}\n"
	tests := []struct{ name, steps, want string }{
		{"status", "      - expect: {status: COMPLETE}\n", "flow_test.yaml:5:26: step 1: status\n  expected  COMPLETE\n  got       INCOMPLETE"},
		{"step", "      - expect: {step: done}\n", "step\n  expected  done\n  got       key"},
		{"actions", "      - expect: {actions: [go]}\n", "actions\n  expected  [go]\n  got       [passkey]"},
		{"inputs", "      - expect: {inputs: [a]}\n", "inputs\n  expected  [a]\n  got       [credentialId"},
		{"data", "      - expect: {data: [nothing]}\n", "data[0]\n  expected  nothing\n  got       [passkeyChallenge]"},
		{"values", "      - expect: {values: {nothing: x}}\n", "flow_test.yaml:5:36: step 1: values.nothing\n  expected  x\n  got       none"},
		{"events", "      - expect: {events: [user.signed_in]}\n", "events\n  expected  [user.signed_in]\n  got       []"},
		{"users", "      - expect: {users: 3}\n", "users\n  expected  3\n  got       2"},
		{"passkeys", "      - expect: {passkeys: {ada: 2}}\n", "passkeys.ada\n  expected  2\n  got       1"},
		{"all that is wrong", "      - expect: {users: 3, step: done}\n", "step\n  expected  done\n  got       key\nflow_test.yaml:5:25: step 1: users\n"},
		{"an unexpected error", begin + "      - send: {passkey: {device: laptop, fault: no-up}}\n", "step 2: error\n  expected  none\n  got       passkey_verification_failed ("},
		{"an error that does not come", begin + "      - send: {passkey: {device: laptop}}\n        expect: {error: x}\n", "error\n  expected  x\n  got       none"},
		{"another check", begin + "      - send: {passkey: {device: laptop, fault: no-up}}\n        expect: {error: passkey_verification_failed, check: signature}\n", "check\n  expected  signature\n  got       user_presence"},
		{"a check that passes", begin + "      - send: {passkey: {device: laptop}}\n        expect: {check: signature}\n", "check\n  expected  signature\n  got       none"},
		{"an unexpected refusal", begin + "      - send: {action: x}\n", "refused\n  expected  none\n  got       invalid_action"},
		{"a refusal that does not come", begin + "      - send: {passkey: {device: laptop}}\n        expect: {refused: stale_step}\n", "refused\n  expected  stale_step\n  got       none"},
		{"a step together with a refusal", begin + "      - send: {action: x}\n        expect: {refused: invalid_action, step: key}\n", "step\n  expected  key\n  got       none"},
		{"claim", begin + "      - send: {passkey: {device: laptop}}\n        expect: {claims: {username: bob}}\n", "claims.username\n  expected  bob\n  got       ada"},
		{"a claim too many", begin + "      - send: {passkey: {device: laptop}}\n        expect: {noClaims: [email, username]}\n", "noClaims[1]\n  expected  no claim username\n  got       ada"},
		{"another user", begin + "      - send: {passkey: {device: laptop}}\n        expect: {user: bob}\n", "user\n  expected  bob\n  got       ada"},
		{"another user of an event", begin + "      - send: {passkey: {device: laptop}}\n        expect: {events: [{action: passkey.used, user: bob}, user.signed_in]}\n", "events[0].user\n  expected  bob\n  got       ada"},
		{"another detail of an event", begin + "      - send: {passkey: {device: laptop}}\n        expect: {events: [{action: passkey.used, detail: {credentialId: x}}, user.signed_in]}\n", "events[0].detail.credentialId\n  expected  x\n"},
		{"another reply", begin + "      - send: {passkey: {device: laptop, fault: no-up}}\n        expect: {error: passkey_verification_failed, like: 1}\n", "step 2: like\n  expected  error none\n  got       error passkey_verification_failed ("},
		{"no assertion", "      - expect: {claims: {username: ada}}\n", "got       no assertion"},
		{"no assertion to lack a claim", "      - expect: {noClaims: [email]}\n", "got       no assertion"},
		{"nobody", "      - expect: {user: ada}\n", "got       no assertion"},
		{"the way back", "      - expect: {redirectURL: https://x}\n", "redirectURL\n  expected  https://x\n  got       none"},
		{"sessions", "      - expect: {sessions: 1}\n", "sessions\n  expected  1\n  got       0"},
		{"no passkey on the device", begin + "      - send: {passkey: {device: toaster}}\n", "declined\n  expected  none\n  got       no-passkey"},
		{"a device that answers", begin + "      - send: {passkey: {device: laptop}}\n        expect: {declined: cancelled}\n", "declined\n  expected  cancelled\n  got       none"},
		{"no answer to send again", begin + "      - send: {passkey: {device: laptop, replay: true}}\n", "flow_test.yaml:6:9: step 2\n  the device laptop has no earlier answer"},
		{"no step before the last", begin + "      - send: {stale: true, passkey: {device: laptop}}\n", "there is no earlier step"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			report := runFile(t, write(t, signIn, head+tt.steps))
			failure := report.Results[0].Failure
			if failure == nil {
				t.Fatal("it passed")
			}
			if got := failure.Text("flow_test.yaml"); !strings.Contains(got, tt.want) {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// Errors in a file are reported with their position.
func TestFaultyFiles(t *testing.T) {
	const good = "scenarios: [{name: s, steps: [{expect: {step: key}}]}]\n"
	tests := []struct{ name, flow, scenarios, want string }{
		{"unknown member", signIn, "scenarios:\n  - name: s\n    step: []\n", `flow_test.yaml:3:5: scenarios[0].step: unknown member "step"; did you mean "steps"?`},
		{"no scenarios", signIn, "users: {}\n", `"scenarios" is missing`},
		{"not YAML", signIn, "scenarios: [\n", "flow_test.yaml:"},
		{"a bad wait", signIn, "scenarios:\n  - name: s\n    steps: [{send: {after: soon}}]\n", `flow_test.yaml:3:28: scenarios[0].steps[0].send.after: expected a duration such as 31m`},
		{"a wait for the past", signIn, "scenarios:\n  - name: s\n    steps: [{send: {after: -1s}}]\n", "expected a duration such as 31m"},
		{"a session of no time", signIn, "scenarios:\n  - name: s\n    session: {user: a, amr: [pwd], age: old}\n    steps: [{}]\n", "flow_test.yaml:3:41: scenarios[0].session.age: expected a duration such as 31m"},
		{"a session without a user", signIn, "scenarios:\n  - name: s\n    session: {amr: [pwd]}\n    steps: [{}]\n", `"user" is missing`},
		{"what OpenID Connect calls otherwise", signIn, "scenarios:\n  - name: s\n    login: {max_age: 1}\n    steps: [{}]\n", `unknown member "max_age"; did you mean "maxAge"?`},
		{"no such fault", signIn, "scenarios:\n  - name: s\n    steps: [{send: {passkey: {device: d, fault: bad-signatur}}}]\n", `did you mean "bad-signature"?`},
		{"a misspelt member of the application", signIn, "application: {requireConset: true}\n" + good, `unknown member "requireConset"; did you mean "requireConsent"?`},
		{"a misspelt member of a scenario's application", signIn, "scenarios: [{name: s, application: {nam: x}, steps: [{}]}]\n", `unknown member "nam"; did you mean "name"?`},
		{"two scenarios of a name", signIn, "scenarios:\n  - {name: s, steps: [{}]}\n  - {name: s, steps: [{}]}\n", "flow_test.yaml:3:12: scenarios[1].name: the scenario on line 2 has the same name"},
		{"a consent of an unknown user", signIn, "users: {ada: {attributes: {}}}\nscenarios: [{name: s, consents: {adb: []}, steps: [{}]}]\n", `there is no user "adb"; did you mean "ada"?`},
		{"a passkey of an unknown user", signIn, "scenarios: [{name: s, steps: [{send: {passkey: {device: d, as: eve}}}]}]\n", `passkey.as: there is no user "eve"`},
		{"an expectation of an unknown user", signIn, "scenarios: [{name: s, steps: [{expect: {user: eve, passkeys: {eve: 1}, events: [{action: x, user: eve}]}}]}]\n", `events[0].user: there is no user "eve"`},
		{"an answer to nothing", signIn, "scenarios: [{name: s, steps: [{send: {action: go}}]}]\n", "flow_test.yaml:1:47: scenarios[0].steps[0].send.action: the first step starts the run"},
		{"an answer together with resume", signIn, "scenarios: [{name: s, steps: [{}, {send: {resume: true, inputs: {a: b}}}]}]\n", "steps[1].send.inputs: a step with resume requests the step again and cannot answer it"},
		{"another answer once more", signIn, "scenarios: [{name: s, steps: [{}, {send: {passkey: {device: d, replay: true, old: true, origin: x}}}]}]\n", "passkey.old: a replayed answer (replay) cannot be changed"},
		{"like what is to come", signIn, "scenarios: [{name: s, steps: [{expect: {like: 1}}]}]\n", "expect.like: this is step 1; expected the number of one before it, got 1"},
		{"an event that is a number", signIn, "scenarios: [{name: s, steps: [{expect: {events: [1]}}]}]\n", "events[0]: expected "},
		{"a clock of no time", signIn, "clock: noon\n" + good, "clock: expected a time such as"},
		{"a flow that is not one", "handle: x\n", good, "flow.yaml:1:1"},
		{"a flow that is not safe", "handle: x\nname: x\nflowType: AUTHENTICATION\nnodes: [{id: done, use: authorization-code}]\n", good, "flow.yaml:4:9: nodes[0]: "},
		{"users who are the same", signIn, "users: {a: {attributes: {username: x}}, b: {attributes: {username: X}}}\n" + good, "the user b: attribute_taken"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := flowtest.Load(write(t, tt.flow, tt.scenarios))
			if err == nil {
				_, err = f.Run(context.Background())
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
	if _, err := flowtest.Load(filepath.Join(t.TempDir(), "none_test.yaml")); !os.IsNotExist(err) {
		t.Errorf("a file that is not there: %v", err)
	}
}

// The schema lists and describes every check that a passkey can fail.
func TestChecksAreNamed(t *testing.T) {
	const path = "../../internal/passkey/failure.go"
	source := datatest.ReadFile(t, path)
	var steps []string
	for _, found := range regexp.MustCompile(`Step\w+ +Step = "(\w+)"`).FindAllStringSubmatch(string(source), -1) {
		steps = append(steps, found[1])
	}
	var schema struct {
		Defs struct {
			Expect struct {
				Properties struct {
					Check struct {
						AnyOf []struct{ Enum, EnumDescriptions []string }
					} // the other one is a placeholder
				}
			}
		} `json:"$defs"`
	}
	datatest.Unmarshal(t, flowtest.Schema().Raw(), &schema)
	check := schema.Defs.Expect.Properties.Check.AnyOf[0]
	if len(steps) < 18 || !slices.Equal(check.Enum, steps) || len(check.EnumDescriptions) != len(steps) {
		t.Errorf("%s has the steps %v; the schema %v, with %d descriptions", path, steps, check.Enum, len(check.EnumDescriptions))
	}
}

// Results do not depend on when or how scenarios run.
func TestResultsAreReproducible(t *testing.T) {
	paths, err := filepath.Glob("../*_test.yaml")
	if err != nil || len(paths) < 6 {
		t.Fatal(paths, err)
	}
	paths = append(paths, write(t, signIn, "users: {ada: {attributes: {username: ada}, passkeys: [laptop]}}\nscenarios: [{name: fails, steps: [{}, {send: {passkey: {device: laptop}}, expect: {users: 2, step: key}}]}]\n"))
	run := func() string {
		var out strings.Builder
		suite := flowtest.Runner{Transcripts: true}.RunFiles(t.Context(), paths)
		for _, write := range []func() error{
			func() error { return flowtest.Text{Verbose: true, Coverage: true}.Write(&out, suite) },
			func() error { return flowtest.WriteJSON(&out, suite) },
			func() error { return flowtest.WriteJUnit(&out, suite) },
		} {
			if err := write(); err != nil {
				t.Fatal(err)
			}
		}
		return out.String()
	}
	first := run()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if again := run(); again != first {
		was, is := strings.Split(first, "\n"), strings.Split(again, "\n")
		for i := range min(len(was), len(is)) {
			if was[i] != is[i] {
				t.Fatalf("line %d was\n%s\nand is now\n%s", i+1, was[i], is[i])
			}
		}
		t.Error("another run says more, or less")
	}
}

// A run that relies on a session ends when the session ends.
func TestSessionEndsInTheMiddleOfARun(t *testing.T) {
	const flow = `handle: sign-in
name: Sign in
flowType: AUTHENTICATION
nodes:
  - {id: session, use: session-check, next: {active: news, none: key}}
  - {id: key, use: passkey-authenticate, next: {success: news, failure: key}}
  - {id: news, use: prompt, with: {actions: [{ref: go}]}, next: done}
  - {id: done, use: authorization-code}
`
	const scenarios = `users: {ada: {attributes: {username: ada}}}
scenarios:
  - name: in time
    request: {bound: true}
    session: {user: ada, amr: [swk, pop], age: 11h50m}
    steps:
      - expect: {step: news}
      - send: {action: go, after: 9m}
        expect: {status: COMPLETE}
  - name: too late
    request: {bound: true}
    session: {user: ada, amr: [swk, pop], age: 11h50m}
    steps:
      - expect: {step: news}
      - send: {action: go, after: 11m}
        expect: {refused: execution_not_found}
`
	report := runFile(t, write(t, flow, scenarios))
	for _, r := range report.Results {
		if r.Failure != nil {
			t.Errorf("%s: %s", r.Name, r.Failure.Text("flow_test.yaml"))
		}
	}
}

// Outcomes that no scenario reached are listed.
func TestMissed(t *testing.T) {
	report := runFile(t, write(t, signIn, "scenarios: [{name: s, steps: [{expect: {step: key}}]}]\n"))
	if got, want := fmt.Sprint(report.Coverage.Missed()), "[key success key failure done]"; got != want {
		t.Errorf("missed %s, want %s", got, want)
	}
}

// A thousand scenarios, each with a registration, a challenge and a signature.
func BenchmarkThousandScenarios(b *testing.B) {
	text := "users: {ada: {attributes: {username: ada}, passkeys: [laptop]}}\nscenarios:\n"
	for i := range 1000 {
		text += fmt.Sprintf("  - name: s%d\n    steps: [{expect: {step: key}}, {send: {passkey: {device: laptop}}, expect: {status: COMPLETE}}]\n", i)
	}
	path := write(b, signIn, text)
	for b.Loop() {
		f, err := flowtest.Load(path)
		if err != nil {
			b.Fatal(err)
		}
		report, err := f.Run(context.Background())
		if err != nil || report.Failed() > 0 {
			b.Fatal(err, report)
		}
	}
}
