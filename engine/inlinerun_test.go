package engine_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// A run passes the nodes of a sub-flow like any others, under their own IDs, and continues where
// the flow wires the outcomes of the sub-flow.
func TestRunThroughSubflows(t *testing.T) {
	ctx := t.Context()
	second := part("second", "authenticated", "passed declined", "ask ask a=passed b=declined")
	both := part("both", "", "passed", "key prove more", "more sub:second passed=passed declined=key")
	_, g, problems := check(t, using(schemas.Authentication, "in sub:both passed=again", "again sub:second passed=done declined=in", "done finish"), subflowsOf(second, both))
	if g == nil {
		t.Fatal(problems)
	}
	memory := newMemory(g)
	e := engine.NewEngine(engine.Engine{Runs: memory, Graphs: memory, Applications: memory})
	step, err := e.Start(ctx, g, &schemas.Application{ID: "app"}, nil, engine.Request{})
	for _, answer := range []struct {
		at, action string
	}{{"in.key", "a"}, {"in.more.ask", "b"}, {"in.key", "a"}, {"in.more.ask", "a"}, {"again.ask", "b"}, {"in.key", "a"}, {"in.more.ask", "a"}, {"again.ask", "a"}} {
		if err != nil || step.StepID != answer.at {
			t.Fatalf("at %q, wanted %q: %v", step.StepID, answer.at, err)
		}
		step, err = e.Continue(ctx, engine.Reply{ExecutionID: step.ExecutionID, Action: answer.action, ChallengeToken: step.ChallengeToken, Inputs: map[string]string{"secret": "right"}}, engine.Request{})
	}
	if err != nil || step.FlowStatus != schemas.Complete || step.Assertion == "" {
		t.Errorf("%+v, %v", step, err)
	}
}

func TestSubflowIsNotRun(t *testing.T) {
	_, g, problems := check(t, part("second", "", "", "ask ask end"), nil)
	if g == nil {
		t.Fatal(problems)
	}
	memory := newMemory(g)
	e := engine.NewEngine(engine.Engine{Runs: memory, Graphs: memory, Applications: memory})
	if _, err := e.Start(t.Context(), g, &schemas.Application{ID: "app"}, nil, engine.Request{}); !schemas.HasClass(err, schemas.Invalid) || !strings.Contains(err.Error(), "start a flow that uses it") {
		t.Errorf("a sub-flow was started: %v", err)
	}
}

// A flow depends only on its definition and its parts: compiled again it is the same, even if
// the resolver now returns other sub-flows.
func TestCompleteFlow(t *testing.T) {
	second := part("second", "", "", "ask ask end")
	second.ActiveVersion = 3
	first := part("first", "", "", "a sub:second end")
	f, g, problems := check(t, using(schemas.Registration, "in sub:first end"), subflowsOf(first, second))
	if g == nil {
		t.Fatal(problems)
	}
	if uses := schemas.UsesOf(f.Parts); !reflect.DeepEqual(uses, []schemas.Use{{Handle: "first", ID: "first", Version: 1}}) {
		t.Errorf("uses %v", uses)
	}
	if nested := schemas.UsesOf(f.Parts["first"].Parts); !reflect.DeepEqual(nested, []schemas.Use{{Handle: "second", ID: "second", Version: 3}}) {
		t.Errorf("the sub-flow uses %v", nested)
	}
	again, problems := engine.Compile(f, subKinds())
	if again == nil || !reflect.DeepEqual(again.Nodes(), g.Nodes()) {
		t.Errorf("compiled again: %v", problems)
	}
	other := part("second", "", "", "other ask end")
	_, g, _ = check(t, using(schemas.Registration, "in sub:first end"), subflowsOf(f.Parts["first"], other))
	if nodes := g.Nodes(); len(nodes) != 3 || nodes[2].ID != "in.a.ask" {
		t.Errorf("a sub-flow that has its parts took another: %v", nodes)
	}
	if first.Parts != nil || second.Parts != nil {
		t.Error("the resolver was written to")
	}
	f.Parts = nil
	if g, problems := engine.Compile(f, subKinds()); g != nil || len(problems) != 1 || problems[0].Rule != engine.RuleSubflow {
		t.Errorf("without its parts: %v", problems)
	}
}

// A sub-flow waives findings about its nodes wherever it is used, and they stay visible as
// warnings. The waiver causes no finding where there is nothing to waive, and covers no other
// nodes.
func TestSubflowWaives(t *testing.T) {
	clerk := part("clerk", "user", "", "key bind end")
	waiver := schemas.Waiver{Rule: engine.RuleTakeover, Node: "key", Reason: "a clerk stands by"}
	clerk.Waive = []schemas.Waiver{waiver}
	f, g, problems := check(t, using(schemas.Registration, "f form r", "r resolve found=in missing=f", "in sub:clerk end"), subflowsOf(clerk))
	if g == nil || len(problems) != 1 || !problems[0].Warning || problems[0].Path != "nodes[2].with.flow" || problems[0].Node != "in.key" ||
		!strings.Contains(problems[0].Message, "(waived: a clerk stands by)") {
		t.Fatalf("findings: %v", problems)
	}
	if got := f.Waivers(); !slices.Equal(got, []schemas.Waiver{waiver}) {
		t.Errorf("waivers: %v", got)
	}
	if _, g, problems := check(t, using(schemas.Registration, "new create in", "in sub:clerk end"), subflowsOf(clerk)); g == nil || len(problems) > 0 {
		t.Errorf("where nothing is to be waived: %v", problems)
	}
	outer := using(schemas.Registration, "f form r", "r resolve found=key missing=f", "key bind in", "in sub:clerk end")
	if _, g, problems := check(t, outer, subflowsOf(clerk)); g != nil {
		t.Errorf("the sub-flow waived for the flow: %v", problems)
	}
	outer.Waive = []schemas.Waiver{{Rule: engine.RuleTakeover, Node: "key", Reason: "another"}}
	if _, g, problems := check(t, outer, subflowsOf(clerk)); g == nil || len(problems) != 2 {
		t.Errorf("each waives for itself: %v", problems)
	}
	strict := part("clerk", "user", "", "key bind end")
	if _, g, problems := check(t, outer, subflowsOf(strict)); g != nil {
		t.Errorf("the flow waived for the sub-flow: %v", problems)
	}
}

// The run that breaks a rule is shown through the sub-flows that it passes.
func TestTraceThroughSubflow(t *testing.T) {
	login := part("login", "", "passed declined", "key prove success=passed failure=ask", "ask ask a=declined b=key")
	_, _, problems := check(t, using(schemas.Authentication, "in sub:login passed=done declined=done", "done finish"), subflowsOf(login))
	if len(problems) != 1 {
		t.Fatal(problems)
	}
	var got []string
	for _, s := range problems[0].Trace {
		got = append(got, s.Node+" "+s.Outcome+" "+s.Path)
	}
	want := []string{"in begin nodes[0]", "in.key failure nodes[0].with.flow", "in.ask a nodes[0].next.declined", "done  nodes[1]"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
