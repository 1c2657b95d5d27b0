package studio

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/postern-id/postern/schemas"
)

// Each kind has the schema of its configuration, and the values that the system has for it.
func TestListKinds(t *testing.T) {
	s := New()
	if _, err := s.SetSystem(schemas.CheckedSystem{Subflows: []schemas.Flow{{ID: "1", Handle: "part"}}, Targets: []string{"risk"}}); err != nil {
		t.Fatal(err)
	}
	kinds, err := s.ListKinds(struct{}{})
	if err != nil || len(kinds) < 20 {
		t.Fatal(kinds, err)
	}
	values := map[string]string{}
	for _, kind := range kinds {
		if kind.Doc == "" || kind.With != nil && decodeSchema(s.kinds[kind.Name].With).object("properties") == nil {
			t.Errorf("%s: %q %s", kind.Name, kind.Doc, kind.With)
		}
		for member, list := range kind.Values {
			values[kind.Name+"."+member] = strings.Join(list, " ")
		}
	}
	if len(values) != 2 || values["flow.flow"] != "part" || values["http-request.target"] != "risk" {
		t.Error(values)
	}
}

// The outcomes of a node follow its configuration, also in a flow with errors.
func TestListParts(t *testing.T) {
	const yaml = `nodes:
  - {id: ask, use: prompt, with: {title: Ask, actions: [{ref: go, label: Go}, {ref: back, label: Back}]}, next: nowhere}
  - {id: key, use: passkey-authenticate}
  - {id: what, use: unknown}
  - {id: done, use: authorization-code}
`
	const written = `{"nodes": [{"id": "ask", "use": "prompt", "with": {"title": "Ask", "actions": [{"ref": "go", "label": "Go"}]}}, {"id": "done", "use": "authorization-code"}]}`
	for _, tt := range []struct{ text, want string }{
		{yaml, `[{"id":"ask","outcomes":["go","back"]},{"id":"key","outcomes":["success","failure"]},{"id":"what","outcomes":[]},{"id":"done","outcomes":[]}]`},
		{written, `[{"id":"ask","outcomes":["go"]},{"id":"done","outcomes":[]}]`},
		{"nodes: []", `[]`},
	} {
		parts, err := New().ListParts(Source{Text: tt.text, JSON: strings.HasPrefix(tt.text, "{")})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := json.Marshal(parts.Nodes); err != nil || string(got) != tt.want {
			t.Errorf("%s\ngot  %s, %v\nwant %s", tt.text, got, err, tt.want)
		}
	}
}
