package nodes

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/passkey/passkeytest"
	"github.com/postern-id/postern/schemas"
)

// Nodes that the flows below share, as JSON.
const (
	askName = `{"id": "who", "use": "prompt", "with": {"inputs": [{"identifier": "username", "type": "TEXT_INPUT", "required": true}],
		"actions": [{"ref": "go"}]}, "next": "NEXT"}`
	askEither = `{"id": "who", "use": "prompt", "with": {"inputs": [{"identifier": "username", "type": "TEXT_INPUT", "required": true}],
		"actions": [{"ref": "go"}, {"ref": "nameless", "inputs": []}]}, "next": {"go": "find", "nameless": "NEXT"}}`
	find = `{"id": "find", "use": "user-resolve", "with": {"by": ["username"], "from": "username"}, "next": {"found": "NEXT", "missing": "who"}}`
	done = `{"id": "done", "use": "authorization-code"}`
)

// flow returns an AUTHENTICATION flow of nodes; NEXT in a node stands for the ID of the
// following one.
func flow(t *testing.T, nodes ...string) *schemas.Flow {
	t.Helper()
	f := &schemas.Flow{ID: "flow-1", Handle: "test", Name: "Test", FlowType: schemas.Authentication, Nodes: make([]schemas.Node, len(nodes))}
	for i, text := range nodes {
		datatest.Unmarshal(t, []byte(text), &f.Nodes[i])
	}
	for i := range f.Nodes[:len(nodes)-1] {
		next, after := &f.Nodes[i].Next, f.Nodes[i+1].ID
		next.To = strings.ReplaceAll(next.To, "NEXT", after)
		for outcome, to := range next.By {
			next.By[outcome] = strings.ReplaceAll(to, "NEXT", after)
		}
	}
	return f
}

func TestFlowsThatAreProven(t *testing.T) {
	tests := []struct {
		name  string
		nodes []string
		want  []string // findings, "node rule"; none: the flow is fine
	}{
		{"a passkey alone", []string{`{"id": "key", "use": "passkey-authenticate", "next": "done"}`, done}, nil},
		{"an identified user proves nothing", []string{askName, find, done}, []string{"done unauthenticated"}},
		{
			"a passkey for a named user", []string{askName, find, `{"id": "add", "use": "passkey-register", "next": "NEXT"}`, done},
			[]string{"add takeover", "done unauthenticated"},
		},
		{
			"a password for a named user", []string{askName, find, `{"id": "set", "use": "password-set", "next": "NEXT"}`, done},
			[]string{"set takeover", "done unauthenticated"},
		},
		{
			"a passkey without a user", []string{`{"id": "add", "use": "passkey-register", "next": "NEXT"}`, done},
			[]string{"add needs", "add takeover", "done unauthenticated"},
		},
		{
			"a passkey for a new user", []string{askName, `{"id": "make", "use": "user-create", "next": {"created": "NEXT", "taken": "who"}}`,
				`{"id": "add", "use": "passkey-register", "next": "NEXT"}`, done}, nil,
		},
		{
			"a new user who may skip the passkey", []string{askName, `{"id": "make", "use": "user-create", "next": {"created": "NEXT", "taken": "who"}}`,
				`{"id": "add", "use": "passkey-register", "with": {"optional": true}, "next": "NEXT"}`, done},
			[]string{"done unauthenticated"},
		},
		{
			"a passkey for a user with a password", []string{askName, find, `{"id": "pw", "use": "password-authenticate", "next": "NEXT"}`,
				`{"id": "add", "use": "passkey-register", "next": "NEXT"}`, done}, nil,
		},
		{
			"a way around the password", []string{askName, find, `{"id": "pw", "use": "password-authenticate", "next": {"success": "NEXT", "failure": "done"}}`, done},
			[]string{"done unauthenticated"},
		},
		{
			"another user after the proof", []string{`{"id": "key", "use": "passkey-authenticate", "next": "NEXT"}`, askName, find,
				`{"id": "add", "use": "passkey-register", "next": "NEXT"}`, done},
			[]string{"add takeover", "done unauthenticated"},
		},
		{
			"an alternative around the passkey", []string{`{"id": "key", "use": "passkey-authenticate", "with": {"alternatives": [{"ref": "later"}]}, "next": {"success": "NEXT", "later": "done"}}`, done},
			[]string{"done unauthenticated"},
		},
		{
			"a name that one action does not bring", []string{askEither, find, done},
			[]string{"find needs", "done unauthenticated"},
		},
		{
			"a look-up without a name", []string{`{"id": "who", "use": "prompt", "with": {"inputs": [{"identifier": "username", "type": "TEXT_INPUT"}], "actions": [{"ref": "go"}]}, "next": "NEXT"}`,
				find, `{"id": "key", "use": "passkey-authenticate", "next": "NEXT"}`, done},
			[]string{"find needs"},
		},
		{
			"an expression without a user", []string{`{"id": "is", "use": "decision", "with": {"cases": [{"when": "user.hasPasskey", "outcome": "yes"}]}, "next": "NEXT"}`,
				`{"id": "key", "use": "passkey-authenticate", "next": "NEXT"}`, done},
			[]string{"is needs"},
		},
		{
			"an expression about an input that may be missing", []string{
				`{"id": "who", "use": "prompt", "with": {"inputs": [{"identifier": "plan", "type": "TEXT_INPUT"}], "actions": [{"ref": "go"}]}, "next": "NEXT"}`,
				`{"id": "is", "use": "decision", "with": {"cases": [{"when": "inputs.plan == 'x'", "outcome": "yes"}]}, "next": "NEXT"}`,
				`{"id": "key", "use": "passkey-authenticate", "next": "NEXT"}`, done},
			[]string{"is needs"},
		},
		{
			"a password collected as plain text", []string{
				`{"id": "who", "use": "prompt", "with": {"inputs": [{"identifier": "word", "type": "TEXT_INPUT"}], "actions": [{"ref": "go"}]}, "next": "NEXT"}`,
				`{"id": "pw", "use": "password-authenticate", "with": {"input": "word"}, "next": "NEXT"}`, done},
			[]string{"pw input"},
		},
		{
			"a misspelt prompt hides no takeover and makes no other mistakes", []string{
				`{"id": "who", "use": "prompt", "with": {"inputs": [{"identifier": "username", "type": "TEXT_INPUT", "requierd": true}], "actions": [{"ref": "go"}]}, "next": "NEXT"}`,
				find, `{"id": "add", "use": "passkey-register", "next": "NEXT"}`, done},
			[]string{"who shape", "add takeover", "done unauthenticated"},
		},
		{
			"a misspelt prompt before a new user", []string{
				`{"id": "who", "use": "prompt", "with": {"inputs": [{"identifier": "username", "type": "TEXT_INPUT", "requierd": true}], "actions": [{"ref": "go"}]}, "next": "NEXT"}`,
				`{"id": "make", "use": "user-create", "next": {"created": "NEXT", "taken": "who"}}`,
				`{"id": "add", "use": "passkey-register", "next": "NEXT"}`, done},
			[]string{"who shape"},
		},
		{
			"identified, without a name", []string{`{"id": "key", "use": "passkey-authenticate", "with": {"mode": "identified"}, "next": "NEXT"}`, done},
			[]string{"key needs"},
		},
		{
			"identified, with a known or concealed name", []string{askName,
				`{"id": "find", "use": "user-resolve", "with": {"by": ["username"], "from": "username", "conceal": true}, "next": "NEXT"}`,
				`{"id": "key", "use": "passkey-authenticate", "with": {"mode": "identified"}, "next": "NEXT"}`, done}, nil,
		},
		{"a session alone", []string{`{"id": "check", "use": "session-check", "next": {"active": "done", "none": "who"}}`,
			`{"id": "who", "use": "prompt", "with": {"actions": [{"ref": "go"}]}, "next": "check"}`, done}, nil},
		{
			"no session proves nothing", []string{`{"id": "check", "use": "session-check", "next": "NEXT"}`, done},
			[]string{"done unauthenticated"},
		},
		{
			"waiting for a session", []string{`{"id": "check", "use": "session-check", "next": {"active": "done", "none": "check"}}`, done},
			[]string{"check circle"},
		},
		{
			"a circle that asks nothing", []string{askName, `{"id": "make", "use": "user-create", "next": {"created": "NEXT", "taken": "make"}}`,
				`{"id": "add", "use": "passkey-register", "next": "NEXT"}`, done},
			[]string{"make circle"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			graph, problems := engine.Compile(flow(t, test.nodes...), Kinds(Deps{}))
			var got []string
			for _, p := range problems {
				got = append(got, p.Node+" "+p.Rule)
			}
			if strings.Join(got, ", ") != strings.Join(test.want, ", ") {
				t.Errorf("found %v, want %v\n%s", got, test.want, texts(problems))
			}
			if (graph == nil) != (len(test.want) > 0) {
				t.Errorf("graph %v", graph)
			}
		})
	}
}

func TestSupervisedEnrolmentCanBeWaived(t *testing.T) {
	f := flow(t, askName, find, `{"id": "add", "use": "passkey-register", "next": "end"}`)
	f.FlowType = schemas.Registration
	f.Waive = []schemas.Waiver{{Rule: "takeover", Node: "add", Reason: "a clerk checks the passport"}}
	graph, problems := engine.Compile(f, Kinds(Deps{}))
	if graph == nil || len(problems) != 1 || !problems[0].Warning {
		t.Fatalf("graph %v, %s", graph, texts(problems))
	}
}

// runs stores the runs of a test, and applies their changes to the world.
type runs struct {
	*fixture
	runs    map[string]schemas.Run
	changes []schemas.Change
}

func (r *runs) Run(_ context.Context, id string) (*schemas.Run, error) {
	if kept, ok := r.runs[id]; ok {
		return &kept, nil
	}
	return nil, schemas.Errorf(schemas.Invalid, schemas.CodeExecutionNotFound, "no run")
}

func (r *runs) Commit(_ context.Context, kept *schemas.Run, changes []schemas.Change) error {
	for _, change := range changes {
		switch c := change.(type) {
		case schemas.CreateUser:
			r.users[c.User.ID] = &c.User
		case schemas.SetPassword:
			r.hashes[c.UserID] = c.Hash
		case schemas.CreateCredential:
			r.credentials = append(r.credentials, c.Credential)
		}
	}
	r.runs[kept.ID] = *kept
	r.changes = append(r.changes, changes...)
	return nil
}

func (r *runs) Application(context.Context, string) (*schemas.Application, error) { return app, nil }

// driver runs one flow. Its requests differ only in their bodies.
type driver struct {
	*runs
	t       *testing.T
	engine  *engine.Engine
	graph   *engine.Graph
	request engine.Request
	step    *schemas.Step
}

func (d *driver) Graph(context.Context, string, int) (*engine.Graph, error) { return d.graph, nil }

func drive(t *testing.T, nodes ...string) *driver {
	t.Helper()
	return driveBy(t, engine.Request{}, nodes...)
}

func driveBy(t *testing.T, request engine.Request, nodes ...string) *driver {
	t.Helper()
	w := newFixture(t)
	graph, problems := engine.Compile(flow(t, nodes...), w.kinds)
	if graph == nil {
		t.Fatal(texts(problems))
	}
	d := &driver{runs: &runs{fixture: w, runs: map[string]schemas.Run{}}, t: t, graph: graph, request: request}
	d.engine = engine.NewEngine(engine.Engine{Runs: d, Graphs: d, Applications: d, Now: func() time.Time { return noon }})
	step, err := d.engine.Start(t.Context(), graph, app, nil, request)
	if err != nil {
		t.Fatal(err)
	}
	d.step = step
	return d
}

// send answers the current step and checks which one comes next.
func (d *driver) send(action, next string, pairs ...string) {
	d.t.Helper()
	reply := engine.Reply{ExecutionID: d.step.ExecutionID, Action: action, ChallengeToken: d.step.ChallengeToken, Inputs: map[string]string{}}
	for i := 0; i < len(pairs); i += 2 {
		reply.Inputs[pairs[i]] = pairs[i+1]
	}
	step, err := d.engine.Continue(d.t.Context(), reply, d.request)
	if err != nil {
		d.t.Fatal(err)
	}
	if got := string(step.FlowStatus); step.FlowStatus == schemas.Incomplete && step.StepID != next || got == "COMPLETE" != (next == "") {
		d.t.Fatalf("%s at %q (error %v), want %q", got, step.StepID, step.Error, next)
	}
	d.step = step
}

// register creates a passkey, expects the step next, and returns the id of the passkey.
func (d *driver) register(next string) string {
	d.t.Helper()
	r, err := d.device.Register(json.RawMessage(d.step.Data.AdditionalData["passkeyCreationOptions"]), origin)
	if err != nil {
		d.t.Fatal(err)
	}
	d.send("passkey", next, "credentialId", r.ID, "clientDataJSON", r.ClientDataJSON, "attestationObject", r.AttestationObject)
	return r.ID
}

func (d *driver) passkey(next string, hows ...passkeytest.CeremonyOption) {
	d.t.Helper()
	r, err := d.device.Authenticate(json.RawMessage(d.step.Data.AdditionalData["passkeyChallenge"]), origin, hows...)
	if err != nil {
		d.t.Fatal(err)
	}
	d.send("", next, "credentialId", r.ID, "clientDataJSON", r.ClientDataJSON,
		"authenticatorData", r.AuthenticatorData, "signature", r.Signature, "userHandle", r.UserHandle)
}

// assertion returns the assertion of the completed run.
func (d *driver) assertion() (a schemas.Assertion) {
	d.t.Helper()
	if err := json.Unmarshal([]byte(d.step.Assertion), &a); err != nil {
		d.t.Fatalf("%v in %q", err, d.step.Assertion)
	}
	return a
}

// TestTwoFactors signs in with a password, then a passkey of the same user.
func TestTwoFactors(t *testing.T) {
	d := drive(t, askName, find, `{"id": "pw", "use": "password-authenticate", "next": "NEXT"}`,
		`{"id": "key", "use": "passkey-authenticate", "next": "NEXT"}`, done)
	d.hashes["bob"] = "new:staple"
	d.send("go", "pw", "username", "bob")
	d.send("submit", "pw", "password", "wrong")
	if d.step.Error == nil || d.step.Error.Code != "invalid_credentials" {
		t.Errorf("error %v", d.step.Error)
	}
	d.send("submit", "key", "password", "staple")
	d.enrol(t, "ada")
	d.passkey("key", passkeytest.ForeignCredential) // Ada's passkey is rejected for Bob
	d.passkey("")
	if a := d.assertion(); a.Subject != "bob" || a.ACR != schemas.ACRMultiFactorPR || strings.Join(a.AMR, " ") != "pwd pop user mfa" {
		t.Errorf("stated %+v", a)
	}
}

// TestAddingAPasskeyProvesNothing signs in with a password and registers a passkey: the
// assertion must not claim that a passkey was used.
func TestAddingAPasskeyProvesNothing(t *testing.T) {
	d := drive(t, askName, find, `{"id": "pw", "use": "password-authenticate", "next": "NEXT"}`,
		`{"id": "add", "use": "passkey-register", "next": "NEXT"}`, done)
	d.send("go", "pw", "username", "ada")
	d.send("submit", "add", "password", "analytical engine")
	id := d.register("")
	if a := d.assertion(); a.ACR != schemas.ACRPassword || strings.Join(a.AMR, " ") != "pwd" {
		t.Errorf("stated %+v", a)
	}
	if d.step.Data.AdditionalData["passkeyCredentialID"] != id {
		t.Errorf("got %v", d.step.Data.AdditionalData)
	}
}

// TestStepSeesItsDecision checks for a passkey in the step that registers one.
func TestStepSeesItsDecision(t *testing.T) {
	d := drive(t, askName, `{"id": "make", "use": "user-create", "next": {"created": "NEXT", "taken": "who"}}`,
		`{"id": "set", "use": "password-set", "next": "NEXT"}`,
		`{"id": "add", "use": "passkey-register", "next": "NEXT"}`,
		`{"id": "is", "use": "decision", "with": {"cases": [{"when": "user.hasPasskey && user.hasPassword", "outcome": "yes"}]}, "next": {"yes": "NEXT", "otherwise": "who"}}`,
		`{"id": "key", "use": "passkey-authenticate", "next": "NEXT"}`, done)
	d.send("go", "set", "username", "grace")
	d.send("submit", "add", "password", "compilers are fun")
	d.register("key")
	d.passkey("") // the new passkey is in the list
}

// TestRegistrationInTwoSteps sets a password and, in the next step, a passkey, when the
// user is stored but still new in this run.
func TestRegistrationInTwoSteps(t *testing.T) {
	d := drive(t, askName, `{"id": "make", "use": "user-create", "next": {"created": "NEXT", "taken": "who"}}`,
		`{"id": "set", "use": "password-set", "next": "NEXT"}`,
		`{"id": "is", "use": "decision", "with": {"cases": [{"when": "user.isNew && user.isAuthenticated", "outcome": "yes"}]}, "next": {"yes": "NEXT", "otherwise": "who"}}`,
		`{"id": "add", "use": "passkey-register", "next": "NEXT"}`, done)
	d.send("go", "set", "username", "grace")
	d.send("submit", "set", "password", "short")
	d.send("submit", "add", "password", "compilers are fun")
	if len(d.users) != 3 {
		t.Errorf("%d users", len(d.users))
	}
	d.register("")
	if a := d.assertion(); a.ACR != schemas.ACRMultiFactorPR || a.Profile["username"] != "grace" || strings.Join(a.AMR, " ") != "pwd pop user mfa" {
		t.Errorf("stated %+v", a)
	}
}

// TestTakenNameIsAskedAgain names Ada, goes back and signs in as Bob without a name.
func TestTakenNameIsAskedAgain(t *testing.T) {
	back := `{"id": "key", "use": "passkey-authenticate", "with": {"alternatives": [{"ref": "back"}]}, "next": {"success": "NEXT", "back": "who"}}`
	d := drive(t, strings.Replace(askEither, "NEXT", "key", 1), find, back, done)
	d.send("go", "key", "username", "ada")
	d.send("back", "who")
	d.send("nameless", "key")
	d.passkey("")
	if a := d.assertion(); a.Subject != "bob" {
		t.Errorf("stated %+v", a)
	}
}

// BenchmarkCompile compiles a flow of a thousand nodes; every tenth evaluates an
// expression.
func BenchmarkCompile(b *testing.B) {
	f := &schemas.Flow{Handle: "big", Name: "Big", FlowType: schemas.Authentication}
	for i := range 999 {
		n := schemas.Node{ID: fmt.Sprintf("n%d", i), Use: "prompt", Next: schemas.Next{To: fmt.Sprintf("n%d", i+1)},
			With: json.RawMessage(fmt.Sprintf(`{"inputs": [{"identifier": "i%d", "type": "TEXT_INPUT", "required": true}], "actions": [{"ref": "go"}]}`, i%50))}
		switch {
		case i == 0:
			n.Use, n.With = "passkey-authenticate", nil
		case i%10 == 0:
			n.Use, n.With = "decision", json.RawMessage(`{"cases": [{"when": "user.hasPasskey && inputs.i1 == 'x'", "outcome": "yes"}]}`)
		}
		f.Nodes = append(f.Nodes, n)
	}
	f.Nodes = append(f.Nodes, schemas.Node{ID: "n999", Use: "authorization-code"})
	kinds := Kinds(Deps{})
	b.ReportAllocs()
	for b.Loop() {
		if g, problems := engine.Compile(f, kinds); g == nil {
			b.Fatal(problems)
		}
	}
}
