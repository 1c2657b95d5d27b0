package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/schemas"
)

// subKinds are the kinds of these tests and one that uses a sub-flow: its configuration is the
// handle.
func subKinds() engine.Kinds {
	kinds := testKinds()
	kinds["sub"] = &engine.Kind{
		Name: "sub", With: schemas.MustSchema("sub", `{"type":"object","additionalProperties":false,"required":["flow"],"properties":{"flow":{"type":"string"}}}`),
		Outcomes: outcomes("<outcome>"),
		Inlines: func(with json.RawMessage) string {
			var w struct{ Flow string }
			_ = json.Unmarshal(with, &w) // "" names none
			return w.Flow
		},
		New: func(c *engine.Config) (engine.Executor, []schemas.Problem) { return sub{c.Subflow}, nil },
	}
	return kinds
}

type sub struct{ flow *schemas.Flow }

func (x sub) Outcomes() []engine.Outcome { return outcomes("begin") }

func (x sub) Needs() []engine.Need {
	var needs []engine.Need
	for _, f := range engine.Required(x.flow) {
		needs = append(needs, engine.Need{AnyOf: []engine.Fact{f}, Path: "with.flow", Why: "the sub-flow " + x.flow.Handle + " requires it"})
	}
	return needs
}

func (x sub) Collects() map[string]schemas.InputType { return x.flow.Requires.Inputs }

func (sub) Execute(context.Context, *engine.Visit) (*engine.Decision, error) {
	return engine.LeaveBy("begin"), nil
}

// using is flowOf with nodes of the kind "sub:handle".
func using(t schemas.FlowType, lines ...string) *schemas.Flow {
	f := flowOf(t, lines...)
	for i := range f.Nodes {
		if handle, is := strings.CutPrefix(f.Nodes[i].Use, "sub:"); is {
			f.Nodes[i].Use, f.Nodes[i].With = "sub", json.RawMessage(fmt.Sprintf(`{"flow":%q}`, handle))
		}
	}
	return f
}

// part is a sub-flow: its handle, required facts, outcomes and nodes.
func part(handle, requires, exits string, lines ...string) *schemas.Flow {
	f := using(schemas.Subflow, lines...)
	f.ID, f.Handle, f.Requires.Facts = handle, handle, strings.Fields(requires)
	for _, name := range strings.Fields(exits) {
		if f.Outcomes == nil {
			f.Outcomes = map[string]string{}
		}
		f.Outcomes[name] = "they " + name
	}
	return f
}

func subflowsOf(list ...*schemas.Flow) schemas.SubflowsOf {
	subflows := schemas.SubflowsOf{}
	for _, f := range list {
		subflows[f.Handle] = f
	}
	return subflows
}

func check(t *testing.T, f *schemas.Flow, subflows schemas.Subflows) (*schemas.Flow, *engine.Graph, []schemas.Problem) {
	t.Helper()
	text := datatest.Marshal(t, f)
	return engine.CheckUsing(text, false, subKinds(), subflows)
}

func TestSubflowFindings(t *testing.T) {
	const auth, reg = schemas.Authentication, schemas.Registration
	login := part("login", "", "passed declined", "key prove success=passed failure=ask", "ask ask a=declined b=key")
	added := part("added", "own", "", "key bind end")
	chain := []*schemas.Flow{part("c0", "", "", "a ask end")}
	for i := 1; i <= 9; i++ {
		chain = append(chain, part(fmt.Sprintf("c%d", i), "", "", fmt.Sprintf("a sub:c%d end", i-1)))
	}
	var many []string
	for i := range 1500 {
		many = append(many, fmt.Sprintf("n%d ask a=n%d b=end", i, i+1))
	}
	large := part("large", "", "", append(many, "n1500 ask end")...)
	heavy := part("heavy", "", "", "a strict a=end")
	heavy.Nodes[0].With = json.RawMessage("{" + strings.Repeat(" ", 400<<10) + "}")
	named := part("named", "", "", "r resolve end")
	named.Requires.Inputs = map[string]schemas.InputType{"name": schemas.TextInput}
	numbered := part("numbered", "", "", "r resolve end")
	numbered.Requires.Inputs = map[string]schemas.InputType{"name": schemas.NumberInput}
	subflows := subflowsOf(append(chain, login, added, large, heavy, named, numbered,
		part("mirror", "", "", "a sub:glass end"), part("glass", "", "", "a sub:mirror end"),
		part("rotten", "", "passed", "key prov passed"),
		part("quiet", "", "", "a pass end"),
		part("last", "authenticated", "", "done finish"),
		flowOf(auth, "key prove done", "done finish"))...)
	tests := []struct {
		name string
		flow *schemas.Flow
		want []string // "rule path: part of the message"
	}{
		{"good", using(auth, "in sub:login passed=done declined=in", "done finish"), nil},
		{"twice", using(auth, "in sub:login passed=done declined=more", "more sub:login passed=done declined=in", "done finish"), nil},
		{"all to one", using(reg, "in sub:login end"), nil},
		{"it ends the run", using(auth, "in sub:login passed=last declined=in", "last sub:last"), nil},
		{"what follows an end", using(auth, "in sub:login passed=last declined=in", "last sub:last end"), []string{`outcome nodes[1].next: ends the run`}},
		{"missing", using(auth, "in sub:logni passed=done declined=in", "done finish"), []string{`subflow nodes[0].with.flow: did you mean "login"?`}},
		{"no sub-flow", using(auth, "in sub:f end"), []string{`subflow nodes[0].with.flow: there is no sub-flow "f"`}},
		{"no handle", using(auth, "in sub end"), []string{`shape nodes[0].with.flow: required member`}},
		{"missing hides nothing", using(auth, "q ask a=in b=key", "in sub:logni key", "key bind end"), []string{"subflow nodes[1].with.flow: ", "needs nodes[2]: ", "takeover nodes[0].next.b: ", "unauthenticated nodes[2].next: "}},
		{"unwired", using(auth, "in sub:login passed=done", "done finish"), []string{`outcome nodes[0].next: "declined" has no target; add ` + "`declined: <node id>` to `next` (they declined)"}},
		{"unknown outcome", using(auth, "in sub:login passed=done declined=in denied=in", "done finish"), []string{`outcome nodes[0].next.denied: expected one of declined, passed`}},
		{"unknown target", using(auth, "in sub:login passed=done declined=out", "done finish"), []string{`target nodes[0].next.declined: there is no node "out"`}},
		{"an inner node is none of the flow's", using(auth, "in sub:login passed=done declined=ask", "done finish"), []string{`target nodes[0].next.declined: there is no node "ask"`}},
		{"lets in", using(auth, "in sub:login passed=done declined=done", "done finish"), []string{"unauthenticated nodes[0].next.declined: "}},
		{"lets in at the end", using(auth, "in sub:login passed=end declined=end"), []string{`unauthenticated nodes[0].next.declined: in the sub-flow "login", at "in.ask"`}},
		{"lets in at the end, all to one", using(auth, "in sub:login end"), []string{`unauthenticated nodes[0].next: in the sub-flow "login"`}},
		{"required", using(auth, "in prove more", "more sub:added end"), nil},
		{"not required of a new user", using(reg, "in create more", "more sub:added end"), nil},
		{"not certain", using(reg, "in ask a=more b=key", "key prove more", "more sub:added end"), []string{`needs nodes[0].next.a: the sub-flow added requires it`}},
		{"certain by either", using(reg, "in ask a=new b=key", "key prove more", "new create more", "more sub:added end"), nil},
		{"required input", using(reg, "in form more", "more sub:named end"), nil},
		{"required input lacking", using(reg, "q ask a=in b=more", "in form more", "more sub:named end"), []string{`needs nodes[0].next.b: a value for the input "name"`}},
		{"required input of another type", using(reg, "in form more", "more sub:numbered end"), []string{`input nodes[1].with: "name" is NUMBER_INPUT here and TEXT_INPUT`}},
		{"circle of sub-flows", using(reg, "in sub:mirror end"), []string{"subflow nodes[0].with.flow: mirror → glass → mirror"}},
		{"a part of itself", part("self", "", "", "a sub:self end"), []string{"subflow nodes[0].with.flow: self → self"}},
		{"broken by itself", using(reg, "in sub:rotten end"), []string{`subflow nodes[0].with.flow: has an error of its own, kind at nodes[0].use: there is no kind of node "prov"`}},
		{"deep", using(reg, "in sub:c7 end"), nil},
		{"too deep", using(reg, "in sub:c8 end"), []string{"subflow nodes[0].with.flow: the limit is 8"}},
		{"large", using(reg, "in sub:large end"), nil},
		{"too long", using(reg, "q ask in", "in sub:heavy more", "more sub:heavy then", "then sub:heavy last", "last sub:heavy end"), []string{"subflow nodes[3].with.flow: more than 1048576 bytes"}},
		{"too large", using(reg, "in sub:large more", "more sub:large then", "then sub:large end"), []string{"subflow nodes[1].with.flow: more than 2000"}},
		{"a circle that asks nothing", using(reg, "in sub:quiet more", "more pass a=in b=end"), []string{"circle nodes[1].next.a: in → in.a → more → in"}},
		{"requires, of a flow that runs", withRequires(flowOf(reg, "q ask end")), []string{"shape requires: only a SUBFLOW has"}},
		{"outcomes, of a flow that runs", withOutcomes(flowOf(reg, "q ask end")), []string{"shape outcomes: only a SUBFLOW has outcomes"}},
		{"guarantees of a sub-flow", withGuarantee(part("p", "", "", "q ask end")), []string{"guarantee guarantees: in the flows that use it"}},
		{"an unused outcome", part("p", "", "passed declined", "key prove passed"), []string{"reach outcomes.declined: no node leads to"}},
		{"a node named as an outcome", part("p", "", "passed", "q ask passed", "passed ask passed"), []string{`id nodes[1].id: "passed" is an outcome`}},
		{"an outcome not declared", part("p", "", "passed", "key prove end"), []string{`target nodes[0].next: there is no node "end"; `}},
		{"a sub-flow alone", part("p", "authenticated", "", "key bind end"), nil},
		{"a sub-flow alone, with less", part("p", "user", "", "key bind end"), []string{"takeover nodes[0]: "}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, g, problems := check(t, tt.flow, subflows)
			problems = slices.DeleteFunc(problems, func(p schemas.Problem) bool { return p.Rule == engine.RuleEffect })
			if (g == nil) != (len(tt.want) > 0) || (f == nil) != (g == nil) || len(problems) != len(tt.want) {
				t.Fatalf("findings: %v\nwant %q", problems, tt.want)
			}
			for i, want := range slices.Sorted(slices.Values(tt.want)) {
				slices.SortFunc(problems, func(a, b schemas.Problem) int { return strings.Compare(a.Rule+" "+a.Path, b.Rule+" "+b.Path) })
				where, message, _ := strings.Cut(want, ": ")
				if p := problems[i]; p.Rule+" "+p.Path != where || !strings.Contains(p.Message, message) {
					t.Errorf("got %v\nwant %s", p, want)
				}
			}
		})
	}
}

func withRequires(f *schemas.Flow) *schemas.Flow {
	f.Requires.Facts = []string{"user"}
	return f
}

func withOutcomes(f *schemas.Flow) *schemas.Flow {
	f.Outcomes = map[string]string{"passed": "they passed"}
	return f
}

func withGuarantee(f *schemas.Flow) *schemas.Flow {
	f.Guarantees.ACR = "phr"
	return f
}
