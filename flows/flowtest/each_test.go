package flowtest_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/flows/flowtest"
	"github.com/postern-id/postern/schemas"
)

const tableUsers = `users:
  ada: {attributes: {username: ada}, passkeys: [laptop]}
  bob: {attributes: {username: bob}, passkeys: [phone]}
scenarios:
`

// Each row of a table is a scenario with a name of its own.
func TestTableRows(t *testing.T) {
	path := write(t, signIn, tableUsers+`  - name: a sign-in on <device>
    each:
      of Ada: {device: laptop, fault: null, user: ada, error: none, count: 1, events: [passkey.used, user.signed_in]}
      with a forged answer: {device: phone, fault: bad-signature, user: null, error: passkey_verification_failed, count: 1, events: [attempt.failed]}
    steps:
      - {}
      - send: {passkey: {device: <device>, fault: <fault>}}
        expect: {user: <user>, error: <error>, passkeys: {ada: <count>}, events: <events>}
  - name: another
    steps: [{}]
`)
	report := runFile(t, path)
	var got []string
	for _, r := range report.Results {
		got = append(got, fmt.Sprint(r.Line, " ", r.Name, " ", r.Passed))
	}
	want := []string{"7 a sign-in on laptop: of Ada true", "8 a sign-in on phone: with a forged answer true", "13 another true"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, expected %q", got, want)
	}
}

// A difference is at the value of the row, if that is the whole expectation.
func TestTableFailure(t *testing.T) {
	f, err := flowtest.Load(write(t, signIn, tableUsers+`  - name: a sign-in
    each:
      of Ada: {device: laptop, user: ada}
      of Bob: {device: phone, user: ada}
    steps:
      - {}
      - send: {passkey: {device: <device>}}
        expect: {user: <user>}
`))
	if err != nil {
		t.Fatal(err)
	}
	report, err := f.Run(t.Context())
	if err != nil || report.Failed() != 1 {
		t.Fatal(report, err)
	}
	if d := report.Results[1].Failure.Differences[0]; d.Line != 8 || d.Column != 37 || d.Got != "bob" {
		t.Errorf("got %+v", d)
	}
}

func TestTableProblems(t *testing.T) {
	const steps = "    steps:\n      - {}\n      - send: {passkey: {device: <device>}}\n"
	for name, tt := range map[string]struct{ scenario, want string }{
		"an unknown placeholder": {"  - name: a <devise>\n    each:\n      one: {device: laptop}\n" + steps,
			`5:11: scenarios[0]: no row has the column "devise"; did you mean "device"?`},
		"an unused column": {"  - name: a\n    each:\n      one: {device: laptop}\n      two: {device: laptop, more: 1}\n" + steps,
			`8:29: scenarios[0].each.two.more: the scenario does not use the column "more": write <more> in it, or remove the column`},
		"a missing value": {"  - name: a\n    each:\n      one: {device: laptop}\n      two: {}\n" + steps,
			`8:12: scenarios[0]: this row has no value for <device>; write device: null to omit the member`},
		"a list in a text": {"  - name: on <device>\n    each:\n      one: {device: [laptop]}\n" + steps,
			`7:21: scenarios[0]: expected a text, a number, true or false, because <device> is a part of a text`},
		"a wrong value": {"  - name: a\n    each:\n      one: {device: laptop, fault: bad-sig}\n    steps:\n      - {}\n      - send: {passkey: {device: <device>, fault: <fault>}}\n",
			`7:36: scenarios[0].steps[1].send.passkey.fault: `},
		"a row that is a text": {"  - name: a\n    each: {one: laptop}\n" + steps,
			`6:17: scenarios[0].each.one: `},
		"no rows":          {"  - name: a\n    each: {}\n" + steps, `6:11: scenarios[0].each: `},
		"a problem of all": {"  - name: a\n    each:\n      one: {device: laptop}\n      two: {device: phone}\n    stepz: []\n" + steps, `9:5: scenarios[0].stepz: unknown member "stepz"`},
		"the second scenario": {"  - {name: a, each: {x: {d: laptop}, y: {d: phone}}, steps: [{}, {send: {passkey: {device: <d>}}}]}\n  - {name: b, steps: [{}, {send: {passkey: {device: laptop, as: eve}}}]}\n",
			`6:65: scenarios[1].steps[1].send.passkey.as: there is no user "eve"`},
	} {
		_, problems := flowtest.Parse(flowtest.Definition{Text: []byte(signIn)}, []byte(tableUsers+tt.scenario))
		texts := ""
		for _, p := range problems {
			texts += fmt.Sprintf("%d:%d: %s: %s\n", p.Line, p.Column, p.Path, p.Message)
		}
		if !strings.HasPrefix(texts, tt.want) || strings.Count(texts, "\n") != 1 {
			t.Errorf("%s: got\n%sexpected\n%s", name, texts, tt.want)
		}
	}
}

// The published schema accepts placeholders for values of every type, and still rejects other texts.
func TestSchemaAcceptsPlaceholders(t *testing.T) {
	check := func(members string) []schemas.Problem {
		return flowtest.Schema().Check(json.RawMessage(`{"scenarios": [{"name": "a", "each": {"b": {"c": 1}}, "steps": [{}, ` + members + `]}]}`))
	}
	for _, step := range []string{
		`{"send": {"passkey": {"device": "<c>", "fault": "<c>", "old": "<c>"}, "recoveryCode": "<c>", "after": "<c>", "inputs": "<c>"}}`,
		`{"expect": {"status": "<c>", "check": "<c>", "like": "<c>", "events": "<c>", "passkeys": {"ada": "<c>"}, "actions": ["<c>"]}}`,
	} {
		if problems := check(step); len(problems) > 0 {
			t.Errorf("%s: %v", step, problems)
		}
	}
	for _, step := range []string{`{"send": {"recoveryCode": "x"}}`, `{"expect": {"status": "DONE"}}`, `{"send": {"passkey": "<c>"}}`} {
		if problems := check(step); len(problems) == 0 {
			t.Errorf("%s is accepted", step)
		}
	}
}
