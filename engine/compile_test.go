package engine_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// Each flow has exactly the listed findings, as "rule path".
func TestCompileFindings(t *testing.T) {
	const auth, reg = schemas.Authentication, schemas.Registration
	tests := []struct {
		name string
		flow *schemas.Flow
		want []string
	}{
		{"no nodes", flowOf(auth), []string{"shape nodes"}},
		{"good", flowOf(auth, "key prove done", "done finish"), nil},
		{"good, retried by name", flowOf(auth, "key prove success=done", "done finish"), nil},
		{"good, ends without a terminal node", flowOf(auth, "key prove end"), nil},
		{"unknown kind", flowOf(auth, "key proov done", "done finish"), []string{"kind nodes[0].use"}},
		{"id twice", flowOf(auth, "key prove done", "key prove done", "done finish"), []string{"id nodes[1].id"}},
		{"reserved id", flowOf(auth, "key prove done", "done finish", "end finish"), []string{"id nodes[2].id"}},
		{"unknown target", flowOf(auth, "key prove dnoe", "done finish"), []string{"target nodes[0].next"}},
		{"unknown target by name", flowOf(auth, "key prove success=dnoe", "done finish"), []string{"target nodes[0].next.success"}},
		{"unknown outcome", flowOf(auth, "key prove succes=done", "done finish"), []string{"outcome nodes[0].next.succes", "outcome nodes[0].next"}},
		{"outcome not wired", flowOf(auth, "q ask a=key", "key prove done", "done finish"), []string{"outcome nodes[0].next"}},
		{"next missing", flowOf(auth, "q ask", "key prove done", "done finish"), []string{"outcome nodes[0]"}},
		{"next after the end", flowOf(auth, "key prove done", "done finish key"), []string{"outcome nodes[1].next"}},
		{"unreachable", flowOf(auth, "key prove done", "done finish", "lost ask done"), []string{"reach nodes[2].id"}},
		{"no way out", flowOf(auth, "q ask a=q b=key", "key prove done", "done finish", "trap ask trap"), []string{"reach nodes[3].id"}},
		{"trap", flowOf(auth, "q ask a=trap b=key", "key prove done", "done finish", "trap ask trap"), []string{"end nodes[3].next"}},
		{"circle", flowOf(reg, "p pass a=p b=end"), []string{"circle nodes[0].next"}},
		{"circle of two", flowOf(reg, "p pass q", "q pass a=p b=end"), []string{"circle nodes[0].next"}},
		{"circle by an unwired outcome", flowOf(reg, "p retry end"), []string{"circle nodes[0].next"}},
		{"circle that asks", flowOf(reg, "p pass q", "q ask a=p b=end"), nil},
		{"a step that is too long", flowOf(reg, chain(100)...), []string{"circle nodes[0].next"}},
		{"a long step", flowOf(reg, chain(98)...), nil},
		{"three services in a row", flowOf(reg, "q ask v", "v wait w", "w wait x", "x wait end"), nil},
		{"four", flowOf(reg, "q ask v", "v wait w", "w wait x", "x wait p", "p pass y", "y wait end"), []string{"circle nodes[5].use"}},
		{"four on one of several ways", flowOf(reg, "q ask a=v b=x", "v wait w", "w wait x", "x wait a=y b=end", "y wait end"), []string{"circle nodes[4].use"}},
		{"six with a question between", flowOf(reg, "a ask v", "v wait w", "w wait x", "x wait q", "q ask a=r b=end", "r wait s", "s wait t", "t wait end"), nil},
		{"a question that a start may answer", flowOf(reg, "v wait q", "q ask w", "w wait x", "x wait y", "y wait end"), []string{"circle nodes[4].use"}},
		{"one that it may not", flowOf(reg, "v wait q", "q away w", "w wait x", "x wait end"), nil},
		{"services after one that asks", flowOf(reg, "q away w", "w wait x", "x wait y", "y wait end"), []string{"circle nodes[3].use"}},
		{"services before one that asks", flowOf(reg, "p ask v", "v wait w", "w wait x", "x wait q", "q away end"), []string{"circle nodes[4].use"}},
		{"services in a circle", flowOf(reg, "v wait a=w b=end", "w wait x", "x wait y", "y wait v"), []string{"circle nodes[0].next", "circle nodes[3].use"}},
		{"input never collected", flowOf(reg, "r resolve end"), []string{"needs nodes[0]"}},
		{"input collected on one path", flowOf(reg, "q ask a=f b=r", "f form r", "r resolve end"), []string{"needs nodes[2]"}},
		{"one input, two types", flowOf(reg, "f form n", "n number end"), []string{"input nodes[1].with"}},

		{"no authentication", flowOf(auth, "done finish"), []string{"unauthenticated nodes[0]"}},
		{"failure lets in", flowOf(auth, "key prove success=done failure=done", "done finish"), []string{"unauthenticated nodes[1]"}},
		{"one path lets in", flowOf(auth, "q ask a=key b=done", "key prove done", "done finish"), []string{"unauthenticated nodes[2]"}},
		{"end lets in", flowOf(auth, "q ask a=key b=end", "key prove end"), []string{"unauthenticated nodes[0].next.b"}},
		{"a registration may end so", flowOf(reg, "q ask a=key b=end", "key prove end"), nil},
		{"a registration hands out no assertion", flowOf(reg, "q ask a=key b=done", "key prove done", "done finish"), []string{"unauthenticated nodes[2]"}},
		{"a new user alone is not authenticated", flowOf(reg, "new create done", "done finish"), []string{"unauthenticated nodes[1]"}},
		{"a new user's credential authenticates", flowOf(reg, "new create key", "key bind done", "done finish"), nil},
		{"another user after authenticating", flowOf(auth, "key prove f", "f form r", "r resolve found=done missing=key", "done finish"), []string{"unauthenticated nodes[3]"}},
		{"another new user after authenticating", flowOf(reg, "key prove new", "new create done", "done finish"), []string{"unauthenticated nodes[2]"}},

		{"no user", flowOf(reg, "key bind end"), []string{"needs nodes[0]", "takeover nodes[0]"}},
		{"a named user", flowOf(reg, "f form r", "r resolve found=key missing=f", "key bind end"), []string{"takeover nodes[2]"}},
		{"a named user on one path", flowOf(reg, "q ask a=f b=auth", "f form r", "r resolve found=key missing=f", "auth prove key", "key bind end"), []string{"takeover nodes[4]"}},
		{"a named user after authenticating", flowOf(reg, "auth prove f", "f form r", "r resolve found=key missing=f", "key bind end"), []string{"takeover nodes[3]"}},
		{"an authenticated user", flowOf(auth, "auth prove key", "key bind end"), nil},
		{"new on one path, authenticated on the other", flowOf(reg, "q ask a=new b=auth", "new create key", "auth prove key", "key bind done", "done finish"), nil},
		{"the name is withdrawn", flowOf(reg, "f form r", "r resolve found=g missing=f", "g form key", "key bind end"), []string{"needs nodes[3]", "takeover nodes[3]"}},
		{"a typo hides nothing elsewhere", flowOf(auth, "q ask a=x b=key", "x proov key", "key bind end"), []string{"kind nodes[1].use", "needs nodes[2]", "takeover nodes[2]", "unauthenticated nodes[2].next"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g, problems := engine.Compile(tt.flow, testKinds())
			var got []string
			for _, p := range problems {
				got = append(got, p.Rule+" "+p.Path)
				if p.Message == "" || (p.Node == "" && !strings.HasPrefix(p.Path, "nodes") && p.Path != "nodes") {
					t.Errorf("a finding without message or node: %+v", p)
				}
			}
			slices.Sort(got)
			want := slices.Clone(tt.want)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("findings:\n%s\nwant:\n%s", problems, strings.Join(want, "\n"))
			}
			if (g == nil) != (len(tt.want) > 0) {
				t.Errorf("graph = %v with %d findings", g, len(problems))
			}
		})
	}
}

// chain is a flow of n nodes that ask nothing.
func chain(n int) []string {
	var lines []string
	for i := range n - 1 {
		lines = append(lines, fmt.Sprintf("n%d pass n%d", i, i+1))
	}
	return append(lines, fmt.Sprintf("n%d pass end", n-1))
}

// Of many findings the first are reported and the others counted. None is lost, and no waiver
// hides them.
func TestManyFindings(t *testing.T) {
	var lines []string
	for i := range 1999 {
		lines = append(lines, fmt.Sprintf("n%d ask a=x%d b=n%d", i, i, i+1))
	}
	f := flowOf(schemas.Registration, append(lines, "n1999 ask end")...)
	g, problems := engine.Compile(f, testKinds())
	if last := problems[len(problems)-1].Message; g != nil || len(problems) != 100 || !strings.Contains(last, "(and 1899 more findings)") {
		t.Errorf("%d findings, the last %s", len(problems), last)
	}

	lines = []string{"f form r", "r resolve found=k0 missing=f"}
	for i := range 300 {
		lines = append(lines, fmt.Sprintf("k%d bind k%d", i, i+1))
	}
	f = flowOf(schemas.Registration, append(lines, "k300 bind end")...)
	for i := range 300 { // all but the last
		f.Waive = append(f.Waive, schemas.Waiver{Rule: engine.RuleTakeover, Node: fmt.Sprintf("k%d", i), Reason: "a clerk"})
	}
	if g, problems := engine.Compile(f, testKinds()); g != nil || problems[len(problems)-1].Node != "k300" || problems[len(problems)-1].Warning {
		t.Errorf("300 waived, one not: %v", problems[len(problems)-1])
	}
	f.Waive = append(f.Waive, schemas.Waiver{Rule: engine.RuleTakeover, Node: "k300", Reason: "a clerk"})
	if g, problems := engine.Compile(f, testKinds()); g == nil || len(problems) != 301 {
		t.Errorf("all waived: %d findings", len(problems))
	}
}

func TestCompileWith(t *testing.T) {
	f := flowOf(schemas.Registration, "s strict p", "p pass end")
	f.Nodes[0].With = json.RawMessage(`{"size":"big","sise":1}`)
	f.Nodes[1].With = json.RawMessage(`{"x":1}`)
	_, problems := engine.Compile(f, testKinds())
	var paths []string
	for _, p := range problems {
		paths = append(paths, p.Path)
	}
	for _, want := range []string{"nodes[0].with.size", "nodes[0].with.sise", "nodes[1].with"} {
		if !slices.Contains(paths, want) {
			t.Errorf("no finding at %s, got %v", want, problems)
		}
	}
}

func TestWaivers(t *testing.T) {
	named := func(w ...schemas.Waiver) *schemas.Flow {
		f := flowOf(schemas.Registration, "f form r", "r resolve found=key missing=f", "key bind end")
		f.Waive = w
		return f
	}
	g, problems := engine.Compile(named(schemas.Waiver{Rule: "takeover", Node: "key", Reason: "a clerk stands by"}), testKinds())
	if g == nil || len(problems) != 1 || !problems[0].Warning || !strings.Contains(problems[0].Message, "a clerk stands by") {
		t.Fatalf("a waived takeover: graph %v, findings %v", g, problems)
	}
	if len(g.Warnings()) != 1 {
		t.Errorf("a waived finding must stay visible, got %v", g.Warnings())
	}
	for _, w := range []schemas.Waiver{{Rule: "unauthenticated", Node: "key", Reason: "x"}, {Rule: "takeover", Node: "r", Reason: "x"}, {Rule: "takeover", Node: "gone", Reason: "x"}} {
		if g, problems := engine.Compile(named(w), testKinds()); g != nil {
			t.Errorf("%+v was accepted: %v", w, problems)
		}
	}
	f := named(schemas.Waiver{Rule: "takeover", Node: "key", Reason: "x"})
	f.Nodes[2].Next.To = "done"
	f.Nodes = append(f.Nodes, schemas.Node{ID: "done", Use: "finish"})
	if g, _ := engine.Compile(f, testKinds()); g != nil {
		t.Error("a waived takeover must not let the named user in")
	}
}

func TestGraphDescribesItself(t *testing.T) {
	g, problems := engine.Compile(flowOf(schemas.Authentication, "key prove done", "done finish"), testKinds())
	if g == nil {
		t.Fatal(problems)
	}
	want := []engine.Node{
		{ID: "key", Kind: "prove", Certain: []engine.Fact{}, Edges: []engine.Edge{
			{Outcome: "success", Target: "done", Certain: []engine.Fact{"authenticated", "own", "user"}},
			{Outcome: "failure", Target: "key", Retry: true, Certain: []engine.Fact{}}}},
		{ID: "done", Kind: "finish", Completes: true, Certain: []engine.Fact{"authenticated", "own", "user"}},
	}
	if got := g.Nodes(); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// TestHeldLargeGraphs compiles graphs of 1,500 nodes: a chain with edges back, and one in which
// every node leads to many others.
func TestHeldLargeGraphs(t *testing.T) {
	const nodes = 1500
	for name, edges := range map[string]func(i int) string{
		"a chain": func(i int) string { return fmt.Sprintf("a=n%d b=n%d", i+1, max(0, i-1)) },
		"a net":   func(i int) string { return fmt.Sprintf("a=n%d b=n%d", i+1, (i*7919)%nodes) },
	} {
		var lines []string
		for i := range nodes - 1 {
			lines = append(lines, fmt.Sprintf("n%d ask %s", i, edges(i)))
		}
		g, problems := engine.Compile(flowOf(schemas.Registration, append(lines, fmt.Sprintf("n%d ask end", nodes-1))...), testKinds())
		if g == nil || len(g.Nodes()) != nodes {
			t.Errorf("%s: %v", name, problems)
		}
	}
}

func BenchmarkCompile1000(b *testing.B) {
	var lines []string
	for i := range 999 {
		lines = append(lines, fmt.Sprintf("n%d ask a=n%d b=n%d", i, i+1, max(0, i-1)))
	}
	f := flowOf(schemas.Registration, append(lines, "n999 ask end")...)
	kinds := testKinds()
	for b.Loop() {
		if g, problems := engine.Compile(f, kinds); g == nil {
			b.Fatal(problems)
		}
	}
}
