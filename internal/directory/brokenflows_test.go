package directory

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
)

// onlyRisk is a server with one target.
type onlyRisk struct{ nodes.Targets }

func (onlyRisk) Names() []string { return []string{"risk"} }

// asks returns a flow that calls a target.
func asks(handle, target string) string {
	return fmt.Sprintf(`{"handle": %q, "name": "Ask", "flowType": "AUTHENTICATION", "nodes": [
		{"id": "key", "use": "passkey-authenticate", "next": "ask"},
		{"id": "ask", "use": "http-request", "with": {"target": %q, "mode": "query"}, "next": "done"},
		{"id": "done", "use": "authorization-code"}]}`, handle, target)
}

const (
	byClub = `{"handle": "by-club", "name": "Club", "flowType": "AUTHENTICATION", "nodes": [
		{"id": "a", "use": "federated-oidc", "with": {"provider": "taken"}, "next": {"success": "done", "unknown": "b"}},
		{"id": "b", "use": "federated-oidc", "with": {"provider": "club"}, "next": {"success": "done", "unknown": "a"}},
		{"id": "done", "use": "authorization-code"}]}`
	clubPart = `{"handle": "club", "name": "Club", "flowType": "SUBFLOW", "outcomes": {"in": "They are.", "out": "They are not."}, "nodes": [
		{"id": "there", "use": "federated-oidc", "with": {"provider": "club"}, "next": {"success": "in", "unknown": "out"}}]}`
	byClubPart = `{"handle": "by-part", "name": "Part", "flowType": "AUTHENTICATION", "nodes": [
		{"id": "key", "use": "passkey-authenticate", "next": "club"},
		{"id": "club", "use": "flow", "with": {"flow": "club"}, "next": {"in": "done", "out": "key"}},
		{"id": "done", "use": "authorization-code"}]}`
)

// Stored flows are reported that a change of the configuration or of a file has broken.
// Working and unused flows are not.
func TestBrokenFlows(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		h := furnished(t, w)
		h.create(t, h.Flows, asks("ask-risk", "risk"))
		h.create(t, h.Flows, asks("ask-crm", "crm"))
		mended := h.create(t, h.Flows, asks("fixed", "crm"))
		_, err := h.Flows.Replace(t.Context(), SystemCall(), mended, "", doc(t, asks("fixed", "risk")))
		must(t, err)
		_, err = h.SyncFlowsFromFiles(t.Context(), []*schemas.Document{doc(t, byClub), doc(t, byClubPart), doc(t, clubPart)})
		must(t, err)
		broken := func() (list []string) {
			t.Helper()
			must(t, h.BrokenFlows(t.Context(), SystemCall(), func(b BrokenFlow) {
				for _, p := range b.Findings {
					list = append(list, fmt.Sprintf("%s at %q: %s", b.Flow.Handle, p.Path, p.Message))
				}
			}))
			slices.Sort(list)
			return list
		}
		want := []string{
			`by-club at "nodes[1].with.provider": there is no identity provider "club"; create it first`,
			`by-part at "": in the sub-flow club: there is no identity provider "club"; create it first`,
		}
		if got := broken(); !slices.Equal(got, want) {
			t.Errorf("got:\n%s", strings.Join(got, "\n"))
		}
		h.Options.CheckFlow = func(text []byte, yaml bool, subflows schemas.Subflows) (*schemas.Flow, []schemas.Problem) {
			flow, _, problems := engine.CheckUsing(text, yaml, nodes.Kinds(nodes.Deps{Targets: onlyRisk{}}), subflows)
			return flow, problems
		}
		want = append([]string{`ask-crm at "nodes[1].with.target": this server has no target "crm"; targets are configured by its operator, in http.targets`}, want...)
		if got := broken(); !slices.Equal(got, want) {
			t.Errorf("without a target:\n%s", strings.Join(got, "\n"))
		}
		h.create(t, h.IdentityProviders, corp(t, "handle", "club"))
		if got := broken(); !slices.Equal(got, want[:1]) {
			t.Errorf("with the provider:\n%s", strings.Join(got, "\n"))
		}
	})
}
