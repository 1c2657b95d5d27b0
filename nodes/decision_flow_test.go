package nodes

import (
	"strings"
	"testing"

	"github.com/postern-id/postern/engine"
)

// A flow can rely on exactly the facts that a decision establishes.
func TestFlowsRelyOnDecisions(t *testing.T) {
	tests := []struct{ name, when, always, otherwise, want string }{
		{"who is authenticated gets in", "user.isAuthenticated", "done", "key", ""},
		{"who is not is asked", "!user.isAuthenticated", "key", "done", ""},
		{"also by way of more conditions", "user.isAuthenticated && request.language == 'de'", "done", "key", ""},
		{"the ways mixed up", "!user.isAuthenticated", "done", "key", "q —skip→ choose —yes→ done"},
		{"one condition too many", "user.isAuthenticated || request.language == 'de'", "done", "key", "q —skip→ choose —yes→ done"},
		{"something else", "request.language == 'de'", "done", "key", "q —skip→ choose —yes→ done"},
		{"who is authenticated may add a passkey", "user.isAuthenticated", "add", "key", ""},
		{"who is not may not", "!user.isAuthenticated", "add", "key", "q —skip→ choose —yes→ add"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			text := strings.NewReplacer("WHEN", test.when, "YES", test.always, "OTHERWISE", test.otherwise).Replace(`
handle: f
name: f
flowType: AUTHENTICATION
nodes:
  - {id: q, use: prompt, with: {actions: [{ref: key}, {ref: skip}]}, next: {key: key, skip: choose}}
  - {id: key, use: passkey-authenticate, next: choose}
  - {id: choose, use: decision, with: {cases: [{when: "WHEN", outcome: yes}]}, next: {yes: YES, otherwise: OTHERWISE}}
  - {id: add, use: passkey-register, next: done}
  - {id: done, use: authorization-code}
`)
			_, _, problems := engine.Check([]byte(text), true, Kinds(Deps{}))
			got := ""
			for _, p := range problems {
				if p.Rule != engine.RuleReach && p.Node != "add" && p.Node != "done" {
					t.Error(p)
				}
				if got == "" && p.Rule != engine.RuleChain && strings.HasPrefix(p.Trace.String(), "q ") {
					got = p.Trace.String()
				}
			}
			if got != test.want {
				t.Errorf("the run %q breaks it, want %q: %v", got, test.want, problems)
			}
		})
	}
}
