package flowtest_test

import (
	"testing"

	"github.com/postern-id/postern/flows/flowtest"
)

// No scenario file or flow makes the checker panic, and every file that Check accepts can
// be loaded.
func FuzzScenarios(f *testing.F) {
	// Small seeds: minimizing a long input takes a minute.
	f.Add("scenarios: [{name: s, steps: [{expect: {step: key}}]}]\n")
	f.Add("users: {ada: {attributes: {username: ada}, passkeys: [d]}}\nscenarios: [{name: s, steps: [{}, {send: {passkey: {device: d}}}]}]\n")
	f.Add(twoPeople + "  - {name: s, steps: [{}, {send: {passkey: {device: laptop, as: bob, fault: be-changed}}, expect: {check: backup}}]}\n")
	f.Add("clock: 0001-01-01T00:00:00Z\nscenarios: [{name: s, session: {user: x, amr: [], age: 99999h}, steps: [{send: {after: 99999h, elsewhere: true}}]}]\n")
	f.Fuzz(func(t *testing.T, scenarios string) {
		path := write(t, signIn, scenarios)
		n, problems := flowtest.Check(path, []byte(scenarios))
		if len(problems) > 0 {
			return
		}
		file, err := flowtest.Load(path)
		if err != nil {
			t.Skip(err) // the flow is in another file
		}
		report, err := file.Run(t.Context())
		if err == nil && len(report.Results) != n {
			t.Errorf("%d scenarios, %d of them run", n, len(report.Results))
		}
	})
}
