package directory

import (
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// A flow stored by an earlier release that accepts weaker sessions is reported at startup,
// and users cannot sign in with it.
func TestAudit08StoredFlowThatAcceptsWeakerSessionsIsBroken(t *testing.T) {
	const weak = `{"handle": "weak", "name": "Weak", "flowType": "AUTHENTICATION", "nodes": [
		{"id": "session", "use": "session-check", "with": {"acr": "urn:postern:acr:password"}, "next": {"active": "done", "none": "key"}},
		{"id": "key", "use": "passkey-authenticate", "next": "done"},
		{"id": "done", "use": "authorization-code"}]}`
	each(t, func(t *testing.T, w *fixture) {
		h := furnished(t, w)
		check := h.Options.CheckFlow
		h.Options.CheckFlow = func(text []byte, yaml bool, _ schemas.Subflows) (*schemas.Flow, []schemas.Problem) {
			flow, _, problems := schemas.ParseFlow(text, yaml) // the syntax alone, without the rules
			return flow, problems
		}
		h.create(t, h.Flows, weak)
		h.Options.CheckFlow = check
		var reported []BrokenFlow
		must(t, h.BrokenFlows(t.Context(), SystemCall(), func(b BrokenFlow) { reported = append(reported, b) }))
		if len(reported) != 1 || reported[0].Flow.Handle != "weak" {
			t.Fatalf("reported %+v", reported)
		}
		if !slices.ContainsFunc(reported[0].Findings, func(p schemas.Problem) bool {
			return p.Rule == engine.RuleSession && p.Node == "session" && strings.Contains(p.Message, `the class "phr"`)
		}) {
			t.Errorf("found %+v", reported[0].Findings)
		}
	})
}
