package nodes

import (
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// readsDepartment are the nodes of a flow that reads an attribute which no node makes certain.
func readsDepartment(t *testing.T, when string) *schemas.Flow {
	return flow(t, askName, `{"id": "find", "use": "user-resolve", "with": {"by": ["username"], "from": "username"}, "next": {"found": "choose", "missing": "who"}}`,
		`{"id": "choose", "use": "decision", "with": `+condition(when)+`, "next": {"yes": "key", "otherwise": "check"}}`,
		`{"id": "key", "use": "passkey-authenticate", "with": {"mode": "identified"}, "next": "done"}`,
		`{"id": "check", "use": "password-authenticate", "next": "done"}`, `{"id": "done", "use": "authorization-code"}`)
}

// A new flow is rejected with the shortest run that lacks the attribute. A stored one runs on, with a
// warning.
func TestAttributesOfStoredFlows(t *testing.T) {
	f := readsDepartment(t, "user.attributes.department == 'Engines'")
	g, problems := engine.Compile(f, Kinds(Deps{}))
	if g != nil || len(problems) != 1 || problems[0].Rule != engine.RuleAttribute || problems[0].Node != "choose" || problems[0].Warning {
		t.Fatalf("got %v", problems)
	}
	p := problems[0]
	if p.Trace.String() != "who —go→ find —found→ choose" || !strings.Contains(p.Message, "has(user.attributes.department) &&") {
		t.Errorf("the finding is %s, by %s", p.Message, p.Trace)
	}
	g, problems = engine.CompileStored(f, Kinds(Deps{}))
	if g == nil || len(problems) != 1 || !problems[0].Warning {
		t.Errorf("stored: %v", problems)
	}
}

// A run in which an expression fails takes no outcome. It ends, and the audit log has the reason,
// but not the reply.
func TestFailingExpressionEndsTheRun(t *testing.T) {
	f := readsDepartment(t, "user.attributes.department == 'Engines'")
	for _, when := range []string{"user.attributes.department == 'Engines'", "!(user.attributes.department == 'Engines')"} {
		f.Nodes[2].With = []byte(condition(when))
		d := drive(t, `{"id": "q", "use": "prompt", "with": {"actions": [{"ref": "go"}]}, "next": "key"}`, `{"id": "key", "use": "passkey-authenticate", "next": "done"}`, done)
		d.runs.changes = nil
		d.graph, _ = engine.CompileStored(f, d.kinds)
		step, err := d.engine.Start(t.Context(), d.graph, app, map[string]string{"username": "bob"}, engine.Request{TraceID: "trace"})
		if err != nil || step.FlowStatus != schemas.Failed || !schemas.HasCode(step.Error, schemas.CodeExpressionFailed) {
			t.Fatalf("%s: got %+v and %v", when, step, err)
		}
		if strings.Contains(step.FailureReason, "attribute") || strings.Contains(step.FailureReason, "choose") {
			t.Errorf("the reply reveals %q", step.FailureReason)
		}
		i := slices.IndexFunc(d.runs.changes, func(c schemas.Change) bool {
			r, ok := c.(schemas.RecordEvent)
			return ok && r.Event.Action == "flow.failed"
		})
		if i < 0 {
			t.Fatalf("%s: no event among %v", when, d.runs.changes)
		}
		event := d.runs.changes[i].(schemas.RecordEvent).Event
		if event.UserID != "bob" || event.Detail["node"] != "choose" || !strings.Contains(event.Detail["reason"], "case 1: it reads an attribute that this user does not have") {
			t.Errorf("the event is %+v", event)
		}
	}
}
