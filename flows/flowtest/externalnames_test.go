package flowtest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/postern-id/postern/flows/flowtest"
)

// Misspelled names of providers and services are found before a scenario runs.
func TestExternalNames(t *testing.T) {
	const flow = `handle: ask
name: Ask
flowType: AUTHENTICATION
nodes:
  - {id: corp, use: federated-oidc, with: {provider: corp}, next: {success: risk, unknown: corp}}
  - {id: risk, use: http-request, with: {target: risk, mode: query, as: r, reply: {s: {at: /s, type: number}}}, next: {success: done, failure: done}}
  - {id: done, use: authorization-code}
`
	tests := []struct{ scenario, want string }{
		{"down: [corp], http: {risk: [{json: {s: 1}}]}, steps: [{expect: {provider: corp}}]", ""},
		{"down: [crop], steps: [{}]", `1:30: scenarios[0].down[0]: the flow names no identity provider "crop"; did you mean "corp"?`},
		{"http: {rsik: []}, steps: [{}]", `scenarios[0].http.rsik: the flow names no target "rsik"; did you mean "risk"?`},
		{"steps: [{expect: {provider: other}}]", `scenarios[0].steps[0].expect.provider: the flow names no identity provider "other"`},
		{"steps: [{expect: {step: corpo}}]", `scenarios[0].steps[0].expect.step: the flow has no node "corpo"; did you mean "corp"?`},
	}
	for _, test := range tests {
		scenarios := "scenarios: [{name: s, " + test.scenario + "}]\n"
		_, problems := flowtest.Check(write(t, flow, scenarios), []byte(scenarios))
		if got := fmt.Sprint(problems); (len(problems) > 0) != (test.want != "") || !strings.Contains(got, test.want) {
			t.Errorf("%s: found %s, expected %q", test.scenario, got, test.want)
		}
	}
}
