package engine_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/postern-id/postern/engine"
)

// A text with an invalid shape yields its other findings in the same pass, with their positions,
// and none that only follow from the invalid shape.
func TestCheck(t *testing.T) {
	const head = "handle: f\nname: f\nflowType: AUTHENTICATION\nnodes:\n"
	const done = "  - {id: done, use: finish}\n"
	tests := []struct {
		name, text string
		want       []string
	}{
		{"good", head + "  - {id: key, use: prove, next: done}\n" + done, nil},
		{"not YAML", "nodes: [", []string{"shape 1"}},
		{"shape alone", "handle: F\nname: f\nflowType: AUTHENTICATION\nnodes:\n  - {id: key, use: prove, next: done}\n" + done, []string{"shape 1"}},
		{"shape and proof", "handle: F\nname: f\nflowType: AUTHENTICATION\nnodes:\n  - {id: key, use: prove, next: {success: done, failure: done}}\n" + done, []string{"shape 1", "unauthenticated 6"}},
		{"a misspelt next", head + "  - {id: key, use: prove, nxet: done}\n" + done, []string{"shape 5"}},
		{"a misspelt next and a proof elsewhere", head + "  - {id: q, use: ask, nexd: x, next: {a: key, b: done}}\n  - {id: key, use: prove, next: end, wit: {}}\n  - {id: r, use: prof}\n" + done, []string{"kind 7", "shape 5", "shape 6", "unauthenticated 8"}},
		{"no nodes", "handle: f\nname: f\nflowType: AUTHENTICATION\n", []string{"shape 1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			flow, g, problems := engine.Check([]byte(tt.text), true, testKinds())
			var got []string
			for _, p := range problems {
				got = append(got, fmt.Sprint(p.Rule, " ", p.Line))
			}
			slices.Sort(got)
			if !slices.Equal(got, tt.want) {
				t.Errorf("findings %v, want %v: %v", got, tt.want, problems)
			}
			if good := len(tt.want) == 0; (g != nil) != good || (flow != nil) != good {
				t.Errorf("flow %v, graph %v", flow, g)
			}
		})
	}
}
