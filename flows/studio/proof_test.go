package studio

import (
	"slices"
	"testing"

	"github.com/postern-id/postern/schemas"
)

const passwordOrKey = `handle: sign-in
name: Sign in
flowType: AUTHENTICATION
nodes:
  - id: who
    use: prompt
    with:
      inputs: [{identifier: username, type: TEXT_INPUT, required: true}, {identifier: password, type: PASSWORD_INPUT, required: true}]
      actions: [{ref: go, label: Go}, {ref: key, label: Passkey}]
    next: {go: find, key: key}
  - {id: find, use: user-resolve, with: {from: username, by: [username], conceal: true}, next: check}
  - {id: check, use: password-authenticate, next: {success: done, failure: who}}
  - {id: key, use: flow, with: {flow: key}, next: {in: done, out: who}}
  - {id: done, use: authorization-code}
`

func proverWithSubflow(t *testing.T) *Studio {
	t.Helper()
	s := New()
	if _, err := s.SetSystem(schemas.CheckedSystem{Subflows: []schemas.Flow{{
		ID: "1", Handle: "key", Name: "Key", FlowType: schemas.Subflow, ActiveVersion: 1, Outcomes: map[string]string{"in": "Signed in.", "out": "Not."},
		Nodes: []schemas.Node{{ID: "ask", Use: "passkey-authenticate", With: []byte(`{"mode": "usernameless"}`), Next: schemas.Next{By: map[string]string{"success": "in", "failure": "out"}}}},
	}}}); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestProof(t *testing.T) {
	s := proverWithSubflow(t)
	p, err := s.Prove(Source{Text: passwordOrKey})
	if err != nil {
		t.Fatal(err, s.last.result)
	}
	if p.Guarantees.ACR != schemas.ACRPassword || !p.Guarantees.NoEnumeration || p.Guarantees.PhishingResistant {
		t.Errorf("the guarantees are %+v", p.Guarantees)
	}
	for name, tt := range map[string]struct {
		node, outcome, before, after, gain string
	}{
		"a prompt":          {"who", "go", "anyone", "anyone", `a value for the input "username"`},
		"every outcome":     {"find", "", "anyone", "anyone", `a user identified by the input "username"`},
		"an authentication": {"check", "success", "anyone", "authenticated", "an authenticated user"},
		"a failure":         {"check", "failure", "anyone", "anyone", ""},
		"out of a sub-flow": {"key", "in", "anyone", "authenticated", `a proof of at least the class "phr"`},
		"another way out":   {"key", "out", "anyone", "anyone", ""},
	} {
		node := p.Nodes[slices.IndexFunc(p.Nodes, func(n ProvenNode) bool { return n.ID == tt.node })]
		edge := node.Edges[slices.IndexFunc(node.Edges, func(e ProvenEdge) bool { return e.Outcome == tt.outcome })]
		if node.User != tt.before || edge.User != tt.after || tt.gain != "" && !slices.Contains(edge.Gains, tt.gain) || tt.gain == "" && len(edge.Gains) > 0 {
			t.Errorf("%s: %+v, then %+v", name, node.User, edge)
		}
	}
	if len(p.Nodes) != 5 || len(p.Nodes[4].Edges) != 0 || p.Nodes[4].User != "authenticated" {
		t.Errorf("the nodes are %+v", p.Nodes)
	}
}

func TestFactsAt(t *testing.T) {
	s := proverWithSubflow(t)
	source := Source{Text: passwordOrKey}
	for name, tt := range map[string]struct {
		place Place
		has   []string
		lacks []string
	}{
		"the entry": {Place{Node: "who"}, nil, []string{"an authenticated user"}},
		"a node":    {Place{Node: "find"}, []string{`a value for the input "username"`}, []string{"an authenticated user"}},
		"where paths meet": {Place{Node: "done"}, []string{"an authenticated user", `a proof of at least the class "urn:postern:acr:password"`},
			[]string{`an authentication by the method "pwd"`, "a user", `a proof of at least the class "urn:postern:acr:otp"`}},
		"an edge":      {Place{Node: "check", Outcome: "success", Target: "done"}, []string{"an authenticated user", `a value for the input "username"`}, nil},
		"no such node": {Place{Node: "nowhere"}, nil, []string{"an authenticated user"}},
	} {
		tt.place.Source = source
		got, err := s.FactsAt(tt.place)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range tt.has {
			if !slices.Contains(got.Facts, f) {
				t.Errorf("%s: %q, want %q", name, got.Facts, f)
			}
		}
		for _, f := range tt.lacks {
			if slices.Contains(got.Facts, f) {
				t.Errorf("%s: %q has %q", name, got.Facts, f)
			}
		}
	}
	if _, err := s.FactsAt(Place{Source: Source{Text: "nodes: []"}}); err == nil {
		t.Error("facts of a flow with errors")
	}
}
