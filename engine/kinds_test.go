package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// The kinds of these tests, the smallest of each sort. The answer decides the outcome of a node,
// so a test drives every path.
func testKinds() engine.Kinds {
	kinds := engine.Kinds{}
	for _, k := range []*engine.Kind{
		{Name: "ask", Asks: true, Outcomes: outcomes("a", "b"), New: maker(ask)},
		{Name: "form", Asks: true, New: func(c *engine.Config) (engine.Executor, []schemas.Problem) { return form{}, nil },
			Outcomes: []engine.Outcome{engine.On("a", engine.NoEffect(), engine.Outcome{Establishes: []engine.Fact{engine.InputFact("name")}, Withdraws: []string{"name"}})}},
		{Name: "resolve", Needs: []engine.Need{{AnyOf: []engine.Fact{engine.InputFact("name")}}}, New: maker(resolve), Outcomes: []engine.Outcome{
			engine.On("found", engine.NoEffect(), engine.Outcome{NewSubject: true, Establishes: []engine.Fact{engine.User, engine.ClaimFact("name")}}),
			engine.On("missing", engine.NoEffect(), engine.Outcome{NewSubject: true})}},
		{Name: "create", New: maker(create), Outcomes: []engine.Outcome{engine.On("created", engine.NoEffect(), engine.Outcome{NewSubject: true, Establishes: []engine.Fact{engine.User, engine.New, engine.Findable}})}},
		{Name: "prove", Asks: true, New: maker(prove), Outcomes: []engine.Outcome{
			engine.On("success", engine.NoEffect(), engine.Outcome{Establishes: []engine.Fact{engine.User, engine.Authenticated}}),
			engine.On("failure", engine.NoEffect(), engine.Outcome{Optional: true})}},
		{Name: "bind", Asks: true, New: maker(bind), Needs: []engine.Need{
			{AnyOf: []engine.Fact{engine.User}},
			{AnyOf: []engine.Fact{engine.Own}, Rule: engine.RuleTakeover, Why: "it would bind to another user's account"}},
			Outcomes: []engine.Outcome{engine.On("success", engine.NoEffect(), engine.Outcome{Establishes: []engine.Fact{engine.Credential}, EstablishesGiven: map[engine.Fact][]engine.Fact{engine.Own: {engine.Authenticated}}})}},
		{Name: "session", New: maker(session), Outcomes: []engine.Outcome{
			engine.On("active", engine.NoEffect(), engine.Outcome{NewSubject: true, Establishes: []engine.Fact{engine.User, engine.Authenticated}}),
			engine.On("none", engine.NoEffect(), engine.Outcome{})}},
		{Name: "recall", New: maker(session), Outcomes: []engine.Outcome{
			engine.On("active", engine.NoEffect(), engine.Outcome{Establishes: []engine.Fact{engine.User, engine.Authenticated}}),
			engine.On("none", engine.NoEffect(), engine.Outcome{})}},
		{Name: "pass", New: maker(pass), Outcomes: outcomes("a", "b")},
		{Name: "retry", New: maker(pass), Outcomes: []engine.Outcome{engine.On("a", engine.NoEffect(), engine.Outcome{}), engine.On("failure", engine.NoEffect(), engine.Outcome{Optional: true})}},
		{Name: "wait", New: func(*engine.Config) (engine.Executor, []schemas.Problem) { return waiting{pass}, nil }, Outcomes: outcomes("a", "b")},
		{Name: "away", Asks: true, New: func(*engine.Config) (engine.Executor, []schemas.Problem) { return waiting{ask}, nil },
			Outcomes: []engine.Outcome{engine.On("a", engine.NoEffect(), engine.Outcome{}), engine.On("failure", engine.NoEffect(), engine.Outcome{Optional: true})}},
		{Name: "finish", Terminal: true, New: maker(finish), Needs: []engine.Need{{AnyOf: []engine.Fact{engine.Authenticated}, Rule: engine.RuleUnauthenticated}}},
		{Name: "broken", New: maker(brokenNode), Outcomes: outcomes("a")},
		{Name: "liar", New: maker(pass), Outcomes: []engine.Outcome{engine.On("a", engine.NoEffect(), engine.Outcome{Establishes: []engine.Fact{engine.User, engine.Authenticated}})}},
		{Name: "hold", New: maker(hold), Outcomes: []engine.Outcome{engine.On("a", engine.NoEffect(), engine.Outcome{Establishes: []engine.Fact{engine.Federated}})}},
		{Name: "link", Asks: true, New: maker(link), Needs: []engine.Need{{AnyOf: []engine.Fact{engine.Federated}}}, Outcomes: outcomes("a", "b")},
		{Name: "hollow", New: maker(pass), Outcomes: []engine.Outcome{engine.On("a", engine.NoEffect(), engine.Outcome{Establishes: []engine.Fact{engine.Federated}})}},
		{Name: "strict", New: maker(pass), Outcomes: outcomes("a"), With: schemas.MustSchema("strict", `{"type":"object","additionalProperties":false,"properties":{"size":{"type":"integer"}}}`)},
		{Name: "number", Asks: true, New: func(*engine.Config) (engine.Executor, []schemas.Problem) { return number{}, nil }, Outcomes: outcomes("a")},
	} {
		kinds[k.Name] = k
	}
	return kinds
}

func outcomes(names ...string) []engine.Outcome {
	list := make([]engine.Outcome, len(names))
	for i, n := range names {
		list[i] = engine.On(n, engine.NoEffect(), engine.Outcome{})
	}
	return list
}

type execute func(ctx context.Context, v *engine.Visit) (*engine.Decision, error)

func (f execute) Execute(ctx context.Context, v *engine.Visit) (*engine.Decision, error) {
	return f(ctx, v)
}

func maker(f execute) func(*engine.Config) (engine.Executor, []schemas.Problem) {
	return func(*engine.Config) (engine.Executor, []schemas.Problem) { return f, nil }
}

func question(actions ...string) *engine.Decision {
	a := &engine.Ask{}
	for _, ref := range actions {
		a.Actions = append(a.Actions, schemas.Action{Ref: ref})
	}
	return &engine.Decision{Ask: a}
}

// ask leaves by the chosen action.
func ask(_ context.Context, v *engine.Visit) (*engine.Decision, error) {
	if v.Answer == nil {
		return question("a", "b"), nil
	}
	return engine.LeaveBy(v.Answer.Action), nil
}

// form asks for a name and a password.
type form struct{}

func (form) Collects() map[string]schemas.InputType {
	return map[string]schemas.InputType{"name": schemas.TextInput, "password": schemas.PasswordInput}
}

func (form) Execute(_ context.Context, v *engine.Visit) (*engine.Decision, error) {
	if v.Answer == nil {
		d := question("a")
		d.Ask.Inputs = []schemas.Input{{Identifier: "name", Type: schemas.TextInput, Required: true}}
		return d, nil
	}
	return &engine.Decision{Outcome: "a", Set: v.Answer.Inputs}, nil
}

// number collects what form collects, as another type.
type number struct{ execute }

func (number) Collects() map[string]schemas.InputType {
	return map[string]schemas.InputType{"name": schemas.NumberInput}
}

// resolve finds the user with the entered name, except for one name.
func resolve(_ context.Context, v *engine.Visit) (*engine.Decision, error) {
	name := v.Inputs["name"]
	if name == "nobody" {
		return &engine.Decision{Outcome: "missing", Notice: schemas.Errorf(schemas.Invalid, schemas.CodeUserNotFound, "there is no user %q", name).
			WithProblems([]schemas.Problem{{Path: "name", Message: "is unknown"}, {Path: "elsewhere", Message: "is not asked for"}})}, nil
	}
	return &engine.Decision{Outcome: "found", Subject: &engine.Subject{UserID: name, Input: "name"}}, nil
}

func create(context.Context, *engine.Visit) (*engine.Decision, error) {
	draft := &schemas.User{ID: "fresh"}
	return &engine.Decision{Outcome: "created", Subject: &engine.Subject{UserID: draft.ID, Draft: draft}}, nil
}

// prove accepts the secret "right" that it stored with its question.
func prove(_ context.Context, v *engine.Visit) (*engine.Decision, error) {
	if v.Answer == nil {
		d := question("a")
		d.NodeState = json.RawMessage(`"right"`)
		d.Ask.Data = map[string]string{"challenge": "guess"}
		return d, nil
	}
	if fmt.Sprintf("%q", v.Answer.Inputs["secret"]) != string(v.NodeState) {
		return &engine.Decision{Outcome: "failure", Failed: true, Notice: schemas.Errorf(schemas.Invalid, "wrong", "the secret is wrong")}, nil
	}
	subject := v.Subject
	if !subject.Known() {
		subject = engine.Subject{UserID: "ada"}
	}
	return &engine.Decision{Outcome: "success", Subject: &subject, Proofs: proof("sec", "1")}, nil
}

// session accepts the browser's session as a proof, unless a login is required.
func session(_ context.Context, v *engine.Visit) (*engine.Decision, error) {
	s := v.Request.Session
	if s == nil || v.Login.Prompt != nil {
		return engine.LeaveBy("none"), nil
	}
	return &engine.Decision{Outcome: "active", Subject: &engine.Subject{UserID: s.UserID}, Session: s.ID, Proofs: s.Evidence()}, nil
}

// proof returns a credential of these tests, whose name is its method.
func proof(of, acr string) []schemas.Proof {
	return []schemas.Proof{{Kind: "test", Of: of, ACR: acr, AMR: of}}
}

// bind gives the subject a credential.
func bind(_ context.Context, v *engine.Visit) (*engine.Decision, error) {
	if v.Answer == nil {
		return question("a"), nil
	}
	return &engine.Decision{Outcome: "success", Proofs: proof("key", ""), Data: map[string]string{"bound": "yes"},
		Changes: []schemas.Change{schemas.SetPassword{UserID: v.Subject.UserID, Hash: "h"}}}, nil
}

// waiting is a node that waits for another service.
type waiting struct{ execute }

func (waiting) Waits() bool { return true }

func pass(context.Context, *engine.Visit) (*engine.Decision, error) { return engine.LeaveBy("a"), nil }

func brokenNode(context.Context, *engine.Visit) (*engine.Decision, error) {
	return nil, errors.New("the disk is on fire")
}

func finish(_ context.Context, v *engine.Visit) (*engine.Decision, error) {
	a := v.Authentication
	text := v.Subject.UserID + " by " + strings.Join(a.Methods, "+")
	if v.AuthRequestID != "" {
		text += fmt.Sprintf(" at %s, session %q, for %s", a.Time.Format(time.TimeOnly), a.Session, v.AuthRequestID+v.LoginHint)
	}
	return &engine.Decision{Result: &engine.Result{Assertion: text}}, nil
}

// flowOf parses a flow from lines "id kind", "id kind target" or "id kind outcome=target …".
func flowOf(t schemas.FlowType, lines ...string) *schemas.Flow {
	f := &schemas.Flow{ID: "f", Handle: "f", Name: "f", FlowType: t, ActiveVersion: 1}
	for _, line := range lines {
		words := strings.Fields(line)
		n := schemas.Node{ID: words[0], Use: words[1]}
		for _, w := range words[2:] {
			if outcome, target, named := strings.Cut(w, "="); named {
				if n.Next.By == nil {
					n.Next.By = map[string]string{}
				}
				n.Next.By[outcome] = target
			} else {
				n.Next.To = w
			}
		}
		f.Nodes = append(f.Nodes, n)
	}
	return f
}

// memory stores runs like a store: as copies, one revision after another.
type memory struct {
	mu      sync.Mutex
	runs    map[string]schemas.Run
	changes []schemas.Change
	refuse  error // returned once by Commit for a step with changes
	graphs  map[string]*engine.Graph
}

func newMemory(graphs ...*engine.Graph) *memory {
	m := &memory{runs: map[string]schemas.Run{}, graphs: map[string]*engine.Graph{}}
	for _, g := range graphs {
		m.graphs[fmt.Sprint(g.Flow().ID, g.Flow().ActiveVersion)] = g
	}
	return m
}

func (m *memory) Run(_ context.Context, id string) (*schemas.Run, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.runs[id]
	if !ok {
		return nil, engine.NotFound(id)
	}
	return &r, nil
}

func (m *memory) Commit(_ context.Context, r *schemas.Run, changes []schemas.Change) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(changes) > 0 && m.refuse != nil {
		err := m.refuse
		m.refuse = nil
		return err
	}
	if m.runs[r.ID].Revision != r.Revision-1 {
		return schemas.Errorf(schemas.Conflict, schemas.CodeStaleStep, "the run has moved on")
	}
	m.runs[r.ID] = *r
	m.changes = append(m.changes, changes...)
	return nil
}

func (m *memory) Graph(_ context.Context, id string, version int) (*engine.Graph, error) {
	g, ok := m.graphs[fmt.Sprint(id, version)]
	if !ok {
		return nil, fmt.Errorf("no flow %s version %d", id, version)
	}
	return g, nil
}

func (m *memory) Application(_ context.Context, id string) (*schemas.Application, error) {
	return &schemas.Application{ID: id}, nil
}
