package declare_test

import (
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/declare"
)

const (
	secondFactorFile = `handle: second-factor
name: Second factor
flowType: SUBFLOW
requires: {facts: [authenticated]}
nodes:
  - {id: app, use: totp, next: {success: end, none: end}}
`
	secureFile = `handle: secure
name: Secure
flowType: SUBFLOW
requires: {facts: [authenticated]}
nodes:
  - {id: prove, use: flow, with: {flow: second-factor}, next: app}
  - {id: app, use: totp-register, next: {success: end, kept: end}}
`
	strictFile = `handle: a-strict-sign-in
name: Strict
flowType: AUTHENTICATION
nodes:
  - {id: key, use: passkey-authenticate, next: secure}
  - {id: secure, use: flow, with: {flow: secure}, next: done}
  - {id: done, use: authorization-code}
`
)

// Sub-flows are written before the flows that use them, whatever their file names. A flow
// whose sub-flow changed gets a new version.
func TestApplySubflows(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		dir := w.export()
		write(t, dir, "flows/authentication/a.yaml", strictFile)
		write(t, dir, "flows/subflow/b.yaml", secureFile)
		write(t, dir, "flows/subflow/c.yaml", secondFactorFile)
		want := `+ flow "second-factor"  (flows/subflow/c.yaml)
+ flow "secure"  (flows/subflow/b.yaml)
+ flow "a-strict-sign-in"  (flows/authentication/a.yaml)
3 to create, 0 to change, 0 to delete
applied
`
		if plan := w.mustApply(dir, declare.Options{}); plan != want {
			t.Fatalf("the plan is\n%s", plan)
		}
		dir = w.export()
		nothing := "0 to create, 0 to change, 0 to delete\napplied"
		if plan := w.mustApply(dir, declare.Options{}); !strings.HasPrefix(plan, nothing) {
			t.Errorf("of what was exported the plan is\n%s", plan)
		}
		edit(t, dir, "flows/subflow/second-factor.yaml", "name: Second factor", "name: A second factor")
		want = `~ flow "second-factor"  (flows/subflow/second-factor.yaml)
    name: "Second factor" → "A second factor"
~ flow "secure"  (flows/subflow/secure.yaml)
    uses.second-factor: 1 → 2
~ flow "a-strict-sign-in"  (flows/authentication/a-strict-sign-in.yaml)
    uses.secure: 1 → 2
0 to create, 3 to change, 0 to delete
applied
`
		if plan := w.mustApply(dir, declare.Options{}); plan != want {
			t.Errorf("the plan is\n%s", plan)
		}
		if plan := w.mustApply(dir, declare.Options{}); !strings.HasPrefix(plan, nothing) {
			t.Errorf("once more it is\n%s", plan)
		}
		for _, file := range []string{"flows/subflow/second-factor.yaml", "flows/subflow/secure.yaml", "flows/authentication/a-strict-sign-in.yaml"} {
			write(t, dir, file, "")
		}
		if plan := w.mustApply(dir, declare.Options{Delete: true}); !strings.Contains(plan, `- flow "a-strict-sign-in"`) || !strings.Contains(plan, "0 to change, 3 to delete\napplied") {
			t.Errorf("without the files it is\n%s", plan)
		}
	})
}
