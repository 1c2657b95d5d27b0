package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// Each finding shows the shortest run that breaks the rule.
func TestTraces(t *testing.T) {
	const auth, reg = schemas.Authentication, schemas.Registration
	tests := []struct {
		name string
		flow *schemas.Flow
		want string // rule: trace
	}{
		{"at the entry", flowOf(auth, "done finish"), "unauthenticated: done"},
		{"a failure lets in", flowOf(auth, "key prove success=done failure=done", "done finish"), "unauthenticated: key —failure→ done"},
		{"the shorter of two", flowOf(auth, "q ask a=p b=key", "p pass a=r b=r", "r pass a=done b=done", "key prove success=done failure=done", "done finish"),
			"unauthenticated: q —b→ key —failure→ done"},
		{"not the shortest way, but the shortest that breaks", flowOf(auth, "key prove success=done failure=q", "q ask a=p b=key", "p pass done", "done finish"),
			"unauthenticated: key —failure→ q —a→ p —a→ done"},
		{"an end", flowOf(auth, "q ask a=key b=end", "key prove end"), "unauthenticated: q —b→ end"},
		{"the end by one of two outcomes", flowOf(auth, "key prove success=end failure=end"), "unauthenticated: key —failure→ end"},
		{"another user after authenticating", flowOf(auth, "key prove f", "f form r", "r resolve found=done missing=key", "done finish"),
			"unauthenticated: key —success→ f —a→ r —found→ done"},
		{"a named user", flowOf(reg, "f form r", "r resolve found=key missing=f", "key bind end"), "takeover: f —a→ r —found→ key"},
		{"the name is withdrawn", flowOf(reg, "f form r", "r resolve found=g missing=f", "g form key", "key prove success=bind failure=bind", "bind bind end"),
			"needs: f —a→ r —found→ g —a→ key —failure→ bind\ntakeover: f —a→ r —found→ g —a→ key —failure→ bind"},
		{"an input", flowOf(reg, "q ask a=f b=r", "f form r", "r resolve end"), "needs: q —b→ r"},
		{"after a node that was not understood", flowOf(auth, "q ask a=x b=key", "x proov key", "key prove success=done failure=done", "done finish"),
			"kind: \nunauthenticated: q —b→ key —failure→ done"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, problems := engine.Compile(tt.flow, testKinds())
			var got []string
			for _, p := range problems {
				got = append(got, p.Rule+": "+p.Trace.String())
			}
			if strings.Join(got, "\n") != tt.want {
				t.Errorf("traces:\n%s\nwant:\n%s", strings.Join(got, "\n"), tt.want)
			}
		})
	}
}

// A trace shows what the run gains and loses, and the position in the definition.
func TestTraceNotes(t *testing.T) {
	text := `handle: f
name: f
flowType: AUTHENTICATION
nodes:
  - {id: key, use: prove, next: f}
  - {id: f, use: form, next: r}
  - id: r
    use: resolve
    next:
      found: done
      missing: key
  - {id: done, use: finish}
`
	_, _, problems := engine.Check([]byte(text), true, testKinds())
	if len(problems) != 1 {
		t.Fatal(problems)
	}
	var got []string
	for _, s := range problems[0].Trace {
		got = append(got, fmt.Sprintf("%s %s %s:%d %s", s.Node, s.Outcome, s.Path, s.Line, s.Note))
	}
	want := []string{
		"key success nodes[0].next:5 the user is authenticated",
		"f a nodes[1].next:6 ",
		"r found nodes[2].next.found:10 the run changes to another user, who is not authenticated; a user who is only identified",
		"done  nodes[3]:12 reached without an authenticated user",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// There is no finding where every path establishes one of the facts that a node needs, even if
// not the same one.
func TestNeedAcceptsEitherFact(t *testing.T) {
	kinds := testKinds()
	kinds["either"] = &engine.Kind{Name: "either", New: maker(pass), Outcomes: outcomes("a"),
		Needs: []engine.Need{{AnyOf: []engine.Fact{engine.New, engine.InputFact("name")}}}}
	if g, problems := engine.Compile(flowOf(schemas.Registration, "q ask a=f b=new", "f form e", "new create e", "e either end"), kinds); g == nil {
		t.Error(problems)
	}
	if g, _ := engine.Compile(flowOf(schemas.Registration, "q ask a=f b=e", "f form e", "e either end"), kinds); g != nil {
		t.Error("a path without either fact was overlooked")
	}
}

// A flow that is built to be expensive is rejected within a bounded time.
func TestHostileFlowsAreChecked(t *testing.T) {
	kinds := testKinds()
	var names []string
	for i := range 60 {
		name := fmt.Sprintf("n%d", i)
		names = append(names, name)
		kinds["name"+name] = &engine.Kind{Name: "name" + name, Asks: true, New: maker(ask), Outcomes: []engine.Outcome{
			engine.On("a", engine.NoEffect(), engine.Outcome{Establishes: []engine.Fact{engine.User, engine.ClaimFact(name)}}),
			engine.On("b", engine.NoEffect(), engine.Outcome{Withdraws: []string{name, "n0"}})}}
	}
	var lines []string
	for i := range 999 {
		lines = append(lines, fmt.Sprintf("n%d name%s a=n%d b=n%d", i, names[i%60], i+1, max(0, i-7)))
	}
	began := time.Now()
	g, problems := engine.Compile(flowOf(schemas.Registration, append(lines, "n999 bind end")...), kinds)
	if g != nil || len(problems) != 1 || problems[0].Rule != engine.RuleTakeover {
		t.Error(problems)
	}
	t.Log(time.Since(began))
}
