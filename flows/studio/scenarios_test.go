package studio

import (
	"slices"
	"testing"
)

func TestCompleteScenarios(t *testing.T) {
	const steps = "users:\n  ada: {attributes: {username: ada}}\nscenarios:\n  - name: a\n    steps:\n"
	broken := Source{Text: passwordOrKey + "  - {id: check, use: nothing}\n"}
	for name, tt := range map[string]struct {
		flow      Source
		text      string
		has, lack string
	}{
		"a member of the file":     {Source{Text: passwordOrKey}, "|", "scenarios", "steps"},
		"a member of a step":       {Source{Text: passwordOrKey}, steps + "      - expect: {|", "step", "send"},
		"a node":                   {Source{Text: passwordOrKey}, steps + "      - expect: {step: |}", "who", "end"},
		"a node of a sub-flow":     {Source{Text: passwordOrKey}, steps + "      - expect: {step: |}", "key.ask", ""},
		"a node of a broken flow":  {broken, steps + "      - expect: {step: |}", "who", "key.ask"},
		"an error of a kind":       {Source{Text: passwordOrKey}, steps + "      - expect: {error: |}", "invalid_credentials", "mail_throttled"},
		"an error of a sub-flow":   {Source{Text: passwordOrKey}, steps + "      - expect: {error: |}", "passkey_verification_failed", ""},
		"an error of a broken one": {broken, steps + "      - expect: {error: |}", "invalid_credentials", ""},
		"a common error":           {Source{Text: passwordOrKey}, steps + "      - expect: {error: |}", "stale_step", ""},
		"an action":                {Source{Text: passwordOrKey}, steps + "      - send: {action: |}", "go", "who"},
		"an input":                 {Source{Text: passwordOrKey}, steps + "      - send: {inputs: {|}}", "username", ""},
		"an expected input":        {Source{Text: passwordOrKey}, steps + "      - expect: {inputs: [|]}", "password", ""},
		"a user":                   {Source{Text: passwordOrKey}, steps + "      - expect: {user: |}", "ada", ""},
		"a user of a broken file":  {Source{Text: passwordOrKey}, steps + "      - expect: {{\n      - expect: {user: |", "ada", ""},
		"an attribute":             {Source{Text: passwordOrKey}, "users:\n  ada: {attributes: {|}}", "email", ""},
		"a status":                 {Source{Text: passwordOrKey}, steps + "      - expect:\n          status: |", "COMPLETE", ""},
	} {
		got, err := proverWithSubflow(t).CompleteScenarios(cursor(t, tt.text), tt.flow)
		if err != nil {
			t.Fatal(name, err)
		}
		has := func(label string) bool {
			return slices.ContainsFunc(got.Options, func(c Completion) bool { return c.Label == label })
		}
		if !has(tt.has) || tt.lack != "" && has(tt.lack) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
