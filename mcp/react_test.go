package mcp_test

import (
	"strings"
	"testing"

	"github.com/postern-id/postern/examples/react"
)

// The instructions and files are for the address that is asked for, by either
// name, or for this server. They are those of examples/react, where they are
// tested.
func TestIntegrateReact(t *testing.T) {
	w := newFixture(t)
	for args, base := range map[string]string{
		`{}`: publicURL,
		`{"service_url": "https://login.example.org"}`:                                               "https://login.example.org",
		`{"thunderid_url": "https://login.example.org"}`:                                             "https://login.example.org",
		`{"service_url": "https://login.example.org", "thunderid_url": "https://login.example.org"}`: "https://login.example.org",
	} {
		var got react.Integration
		w.ok("service_integrate_react_sdk", args, &got)
		want, err := react.Integrate(base)
		must(t, err)
		if got.Instructions != want.Instructions || len(got.Snippets) != len(want.Snippets) || !strings.Contains(got.Instructions, base) {
			t.Errorf("%s: %d files, %.200s", args, len(got.Snippets), got.Instructions)
		}
		modes := map[string]bool{}
		for i, s := range got.Snippets {
			modes[s.Mode] = true
			if s != want.Snippets[i] {
				t.Errorf("%s: %+v", args, s)
			}
		}
		if !modes[react.Redirect] || !modes[react.SelfHosted] {
			t.Errorf("%s: the modes are %v", args, modes)
		}
	}
}
