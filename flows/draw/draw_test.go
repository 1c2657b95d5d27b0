package draw_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/flows/draw"
	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
)

var update = flag.Bool("update", false, "update the golden files")

func compiled(t testing.TB, file string) *engine.Graph {
	t.Helper()
	text := datatest.ReadFile(t, file)
	_, g, problems := engine.CheckUsing(text, true, nodes.Kinds(nodes.Deps{}), subflowsInFolder(t, file))
	if g == nil {
		t.Fatal(problems)
	}
	return g
}

// subflowsInFolder are the sub-flows in the folder of a file.
func subflowsInFolder(t testing.TB, file string) schemas.SubflowsOf {
	t.Helper()
	subflows := schemas.SubflowsOf{}
	for _, name := range datatest.Glob(t, filepath.Join(filepath.Dir(file), "*.yaml")) {
		text := datatest.ReadFile(t, name)
		if f, _, _ := schemas.ParseFlow(text, true); f != nil && f.FlowType == schemas.Subflow {
			subflows[f.Handle] = f
		}
	}
	return subflows
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		datatest.WriteFile(t, path, got)
	}
	want, err := os.ReadFile(path)
	if err != nil || string(want) != got {
		t.Errorf("%s is not what is drawn (%v); got\n%s", path, err, got)
	}
}

// Drawings are stable.
func TestDrawings(t *testing.T) {
	half := draw.Options{Reached: func(node, outcome string) bool { return outcome != "failure" && node != "check" }}
	for _, flow := range []string{"sign_in", "passkey_sign_up", "password_then_passkey"} {
		g := compiled(t, "../"+flow+".yaml")
		golden(t, flow+".mmd", draw.Mermaid(g, draw.Options{}))
		golden(t, flow+".dot", draw.DOT(g, draw.Options{}))
		golden(t, flow+"_coverage.mmd", draw.Mermaid(g, half))
		golden(t, flow+"_coverage.dot", draw.DOT(g, half))
		for range 20 {
			again := compiled(t, "../"+flow+".yaml")
			if draw.Mermaid(g, half) != draw.Mermaid(again, half) || draw.DOT(g, half) != draw.DOT(again, half) {
				t.Fatal("two drawings of one flow differ")
			}
		}
	}
	// A sub-flow is drawn as a group, and a nested one as a group within it. Drawn alone, it
	// leads to its outcomes.
	for _, flow := range []string{"secured_sign_up", "second_factor"} {
		g := compiled(t, "../testdata/good/"+flow+".yaml")
		golden(t, flow+".mmd", draw.Mermaid(g, draw.Options{}))
		golden(t, flow+".dot", draw.DOT(g, draw.Options{}))
	}
}

// hostileNames try to end their label, line or document.
func hostileNames() []string {
	return []string{
		`x"]; click n0 "javascript:alert(1)"; n9["`, "a\nclick n0 call alert(1)", `<script>alert(1)</script>`, `\"; n9 [label="`, `\N`, "`code`",
		"#quot;", "#34;", "&quot;", "%%{init: {}}%%", "a|b", "}}", "---\ntitle: x\n---", "end", "subgraph", "\x00\x1b[2J", "a\u2028b", "[\"", "日本語", "",
	}
}

type exitKind struct{}

// Execute implements engine.Executor.
func (exitKind) Execute(context.Context, *engine.Visit) (*engine.Decision, error) { return nil, nil }

// named compiles a flow in which every name is the given one.
func named(t testing.TB, name string) *engine.Graph {
	t.Helper()
	leave := func(*engine.Config) (engine.Executor, []schemas.Problem) { return exitKind{}, nil }
	kinds := engine.Kinds{name: {Name: name, Asks: true, Outcomes: []engine.Outcome{engine.On(name, engine.NoEffect(), engine.Outcome{})}, New: leave}}
	g, problems := engine.Compile(&schemas.Flow{Name: name, FlowType: schemas.Registration, Nodes: []schemas.Node{
		{ID: "n" + name, Use: name, Next: schemas.Next{To: schemas.End}},
	}}, kinds)
	if g == nil {
		t.Fatal(problems)
	}
	return g
}

// No name can add a statement: the text outside of quotes is the same for all.
func TestNamesAreText(t *testing.T) {
	quoted := regexp.MustCompile(`"(?:[^"\\\n]|\\[^\n])*"`)
	bare := func(s string) string { return quoted.ReplaceAllString(s, `""`) }
	plain := named(t, "plain")
	mermaid, dot := bare(draw.Mermaid(plain, draw.Options{})), bare(draw.DOT(plain, draw.Options{}))
	label := regexp.MustCompile(`[\["|(]"([^"\n]*)"`)
	for _, name := range hostileNames() {
		g := named(t, name)
		got := draw.Mermaid(g, draw.Options{})
		if bare(got) != mermaid {
			t.Errorf("Mermaid of %q:\n%s", name, got)
		}
		for _, found := range label.FindAllStringSubmatch(strings.SplitN(got, "flowchart", 2)[1], -1) {
			if text := strings.ReplaceAll(found[1], "<br/>", ""); strings.ContainsAny(text, "<>&\\`|") {
				t.Errorf("Mermaid of %q has the label %q", name, text)
			}
		}
		if got := draw.DOT(g, draw.Options{}); bare(got) != dot {
			t.Errorf("DOT of %q:\n%s", name, got)
		}
	}
}
