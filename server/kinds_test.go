package server_test

import (
	"context"
	"errors"
	"time"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// The kinds of the tests' flows: the smallest that give every sort of step.
func testKinds() engine.Kinds {
	success := engine.On("success", engine.NoEffect(), engine.Outcome{Establishes: []engine.Fact{engine.User, engine.Authenticated}})
	return engine.Kinds{
		"form":    kind("form", form, engine.On("go", engine.NoEffect(), engine.Outcome{})),
		"prove":   kind("prove", prove, success, engine.On("failure", engine.NoEffect(), engine.Outcome{Optional: true})),
		"trouble": kind("trouble", failingStore, engine.On("go", engine.NoEffect(), engine.Outcome{})),
		"finish": {Name: "finish", Terminal: true, New: maker(finish),
			Needs: []engine.Need{{AnyOf: []engine.Fact{engine.Authenticated}, Rule: engine.RuleUnauthenticated}}},
	}
}

type execute func(*engine.Visit) (*engine.Decision, error)

func (f execute) Execute(_ context.Context, v *engine.Visit) (*engine.Decision, error) { return f(v) }

func maker(f execute) func(*engine.Config) (engine.Executor, []schemas.Problem) {
	return func(*engine.Config) (engine.Executor, []schemas.Problem) { return f, nil }
}

func kind(name string, f execute, outcomes ...engine.Outcome) *engine.Kind {
	return &engine.Kind{Name: name, Asks: true, New: maker(f), Outcomes: outcomes}
}

// form asks for a name, and shows the request as the engine got it.
func form(v *engine.Visit) (*engine.Decision, error) {
	if v.Answer != nil {
		return &engine.Decision{Outcome: "go", Set: v.Answer.Inputs}, nil
	}
	return &engine.Decision{Ask: &engine.Ask{
		Inputs:  []schemas.Input{{Ref: "name", Identifier: "name", Type: schemas.TextInput, Required: true}},
		Actions: []schemas.Action{{Ref: "go"}, {Ref: "other"}},
		Data:    map[string]string{"origin": v.Request.Origin, "language": v.Request.Language, "traceId": v.Request.TraceID},
		Components: []schemas.Component{
			{ID: "name", Type: string(schemas.TextInput), Ref: "name", Label: "Name", Required: true},
			{ID: "go", Type: schemas.ActionComponent, Label: "Continue", EventType: schemas.SubmitEvent},
		},
	}}, nil
}

// prove takes the secret "right", and has no components.
func prove(v *engine.Visit) (*engine.Decision, error) {
	switch {
	case v.Answer == nil:
		return &engine.Decision{Ask: &engine.Ask{Actions: []schemas.Action{{Ref: "go"}}}}, nil
	case v.Answer.Inputs["secret"] != "right":
		return &engine.Decision{Outcome: "failure", Failed: true, Notice: schemas.Errorf(schemas.Invalid, "wrong_secret", "the secret is wrong; try again")}, nil
	}
	return &engine.Decision{Outcome: "success", Subject: &engine.Subject{UserID: ada},
		Proofs: []schemas.Proof{{Kind: schemas.PasswordProof, Of: "the password of ada", ACR: "1", AMR: "pwd"}}}, nil
}

func finish(v *engine.Visit) (*engine.Decision, error) {
	return &engine.Decision{Result: &engine.Result{Assertion: "assertion of " + v.Subject.UserID}}, nil
}

// failingStore has the trouble it is asked for.
func failingStore(v *engine.Visit) (*engine.Decision, error) {
	if v.Answer == nil {
		return &engine.Decision{Ask: &engine.Ask{Actions: []schemas.Action{{Ref: "go"}}}}, nil
	}
	switch v.Answer.Inputs["trouble"] {
	case "panic":
		panic("the password is hunter2")
	case "break":
		return nil, errors.New("dial tcp 10.0.0.7: connection refused")
	case "internal":
		return nil, schemas.Errorf(schemas.Internal, "database_password", "the password is hunter2")
	case "busy":
		e := schemas.Errorf(schemas.Unavailable, schemas.CodeOverloaded, "too many sign-ins at once")
		e.RetryAfter = 1500 * time.Millisecond
		return nil, e
	case "often":
		return nil, schemas.Errorf(schemas.Throttled, "too_many_requests", "try again later")
	case "missing":
		return nil, schemas.Errorf(schemas.NotFound, schemas.CodeUserNotFound, "there is no such user")
	case "taken":
		return nil, schemas.Errorf(schemas.Conflict, schemas.CodeAttributeTaken, "another user has that name")
	}
	return engine.LeaveBy("go"), nil
}
