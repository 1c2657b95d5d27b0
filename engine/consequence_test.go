package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// references returns "rule node" of each finding, with "< rule node" of the one that it follows from.
func references(problems []schemas.Problem) (list []string) {
	for _, p := range problems {
		text := p.Rule + " " + p.Node
		if p.Follows != nil {
			text += " < " + p.Follows.Rule + " " + p.Follows.Node
		}
		list = append(list, text)
	}
	return list
}

// A finding refers to another if no run would show it without that one. Findings that another run
// shows as well stand for themselves.
func TestConsequences(t *testing.T) {
	const auth, reg = schemas.Authentication, schemas.Registration
	guaranteed := func(f *schemas.Flow, g schemas.Guarantees) *schemas.Flow {
		f.Guarantees = g
		return f
	}
	tests := []struct {
		name string
		flow *schemas.Flow
		want []string
	}{
		{"one finding", flowOf(auth, "q ask done", "done finish"), []string{"unauthenticated done"}},
		{"a missing user", flowOf(reg, "q ask one", "one bind two", "two bind done", "done finish"),
			[]string{"needs one < takeover one", "takeover one", "needs two < takeover one", "takeover two < takeover one", "unauthenticated done < takeover one"}},
		{"beside another path", flowOf(auth, "q ask a=one b=done", "one bind done", "done finish"),
			[]string{"needs one < takeover one", "takeover one", "unauthenticated done"}},
		{"two paths of their own", flowOf(reg, "q ask a=one b=two", "one bind end", "two bind end"),
			[]string{"needs one < takeover one", "takeover one", "needs two < takeover two", "takeover two"}},
		{"a guarantee without authentication", guaranteed(flowOf(auth, "q ask done", "done finish"), schemas.Guarantees{ACR: schemas.ACRPassword}),
			[]string{"unauthenticated done", "guarantee done < unauthenticated done"}},
		{"a guarantee and a weaker proof", guaranteed(flowOf(auth, "q ask a=done b=key", "key password done", "done finish"), schemas.Guarantees{ACR: schemas.ACRPhishingResistant}),
			[]string{"unauthenticated done", "guarantee done"}},
		{"a missing input", flowOf(reg, "q ask find", "find resolve found=again missing=q", "again resolve found=end missing=q"),
			[]string{"needs find", "needs again < needs find"}},
		{"different facts in a row", flowOf(auth, "q ask find", "find resolve found=done missing=q", "done finish"),
			[]string{"needs find", "unauthenticated done"}},
		{"unreachable nodes", flowOf(auth, "key prove done", "done finish", "one ask two", "two ask three", "three ask one", "four ask done"),
			[]string{"reach one", "reach two < reach one", "reach three < reach one", "reach four"}},
		{"nodes without an end", flowOf(auth, "key prove success=one failure=done", "one ask two", "two ask three", "three ask two", "done ask a=last b=key", "last prove end"),
			[]string{"end one < end two", "end two", "end three < end two"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g, problems := engine.Compile(tt.flow, guaranteeKinds())
			if got := references(problems); g != nil || !slices.Equal(got, tt.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
}

// The search is limited: a flow with many findings is checked in a bounded time, and a finding
// without a known cause stands for itself.
func TestConsequencesAreLimited(t *testing.T) {
	var nodes []string
	for i := range 400 {
		nodes = append(nodes, fmt.Sprintf("n%d bind n%d", i, i+1))
	}
	_, problems := engine.Compile(flowOf(schemas.Registration, append(nodes, "n400 ask end")...), testKinds())
	roots := 0
	for _, p := range problems {
		if p.Follows == nil {
			roots++
		}
	}
	if roots == 0 || len(problems) < 50 {
		t.Errorf("%d findings, %d of them roots", len(problems), roots)
	}
}
