package studio

import (
	"encoding/json"
	"strings"
	"testing"
)

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
		if err != nil || len(parts.Kinds) < 20 || parts.Kinds[0].Doc == "" {
			t.Fatal(parts, err)
		}
		if got, err := json.Marshal(parts.Nodes); err != nil || string(got) != tt.want {
			t.Errorf("%s\ngot  %s, %v\nwant %s", tt.text, got, err, tt.want)
		}
	}
}
