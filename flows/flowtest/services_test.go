package flowtest_test

import (
	"strings"
	"testing"
)

const asking = `handle: asking
name: Ask a service
flowType: AUTHENTICATION
nodes:
  - {id: ask, use: http-request, with: {target: risk, path: "/a?b=c", mode: query, body: {app: application.id}, as: risk, reply: {ok: {at: /ok, type: boolean}}}, next: {success: key, failure: tell}}
  - {id: tell, use: http-request, with: {target: crm, mode: notify, body: {app: application.id, id: request.origin}}, next: key}
  - {id: key, use: passkey-authenticate, next: {success: done, failure: key}}
  - {id: done, use: authorization-code}
`

// Scenarios check queries and notifications to services, and report differences.
func TestServicesOfScenarios(t *testing.T) {
	const fine, broken = "    http: {risk: [{json: {ok: true}}]}\n", "    http: {risk: [{status: 500}]}\n"
	tests := []struct{ name, scenario, want string }{
		{"asked", fine + "    steps: [{expect: {step: key, requests: [{target: risk, method: POST, path: '/a?b=c', body: {app: application}}]}}]\n", ""},
		{"query and notification", broken + "    steps: [{expect: {step: key, requests: [{target: risk}, {target: crm, path: '', event: tell, body: {app: application}, without: [email]}]}}]\n", ""},
		{"no answer left", "    steps: [{expect: {step: key}}]\n",
			"flow_test.yaml:3:13: step 1\n  node \"ask\" (http-request): the flow asks the target risk (POST /a?b=c), and the scenario has no reply left: add one to its http, such as {risk: [{json: {}}]}"},
		{"answers of another", "    http: {crm: [{json: {ok: true}}]}\n    steps: [{expect: {step: key}}]\n", "the scenario has no reply left"},
		{"not expected", fine + "    steps: [{expect: {requests: []}}]\n", "requests\n  expected  []\n  got       [risk /a?b=c]"},
		{"not so many", fine + "    steps: [{expect: {requests: [{target: risk}, {target: crm}]}}]\n", "requests\n  expected  [risk /, crm /]\n  got       [risk /a?b=c]"},
		{"another target", fine + "    steps: [{expect: {requests: [{target: crm}]}}]\n", "requests[0].target\n  expected  crm\n  got       risk"},
		{"another path", fine + "    steps: [{expect: {requests: [{target: risk, path: /b}]}}]\n", "requests[0].path\n  expected  /b\n  got       /a?b=c"},
		{"another method", fine + "    steps: [{expect: {requests: [{target: risk, method: GET}]}}]\n", "requests[0].method\n  expected  GET\n  got       POST"},
		{"another event", broken + "    steps: [{expect: {requests: [{target: risk}, {target: crm, event: told}]}}]\n", "requests[1].event\n  expected  told\n  got       tell"},
		{"another body", fine + "    steps: [{expect: {requests: [{target: risk, body: {app: b, c: d}}]}}]\n", "requests[0].body.app\n  expected  b\n  got       application\nflow_test.yaml:4:67: step 1: requests[0].body.c\n  expected  d\n  got       none"},
		{"a member too many", fine + "    steps: [{expect: {requests: [{target: risk, without: [app]}]}}]\n", "requests[0].without[0]\n  expected  no member app\n  got       application"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			report := runFile(t, write(t, asking, "scenarios:\n  - name: s\n"+test.scenario))
			got := ""
			if failure := report.Results[0].Failure; failure != nil {
				got = failure.Text("flow_test.yaml")
			}
			if test.want == "" && got != "" || !strings.Contains(got, test.want) {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}
