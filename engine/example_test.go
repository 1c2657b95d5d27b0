package engine_test

import (
	"context"
	"fmt"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// A flow that a wrong secret could complete does not compile.
func ExampleCompile() {
	_, problems := engine.Compile(&schemas.Flow{
		Handle: "sign-in", Name: "Sign in", FlowType: schemas.Authentication,
		Nodes: []schemas.Node{
			{ID: "key", Use: "prove", Next: schemas.Next{By: map[string]string{"success": "done", "failure": "done"}}},
			{ID: "done", Use: "finish"},
		},
	}, testKinds())
	for _, p := range problems {
		fmt.Printf("%s at %s: %s\n", p.Rule, p.Path, p.Message)
	}
	// Output:
	// unauthenticated at nodes[1]: finish needs an authenticated user, but not every path to it provides one
}

// A run asks, is answered, and completes.
func ExampleEngine() {
	ctx := context.Background()
	graph, _ := engine.Compile(&schemas.Flow{
		ID: "f", Handle: "sign-in", Name: "Sign in", FlowType: schemas.Authentication, ActiveVersion: 1,
		Nodes: []schemas.Node{
			{ID: "key", Use: "prove", Next: schemas.Next{To: "done"}},
			{ID: "done", Use: "finish"},
		},
	}, testKinds())
	store := newMemory(graph)
	e := engine.NewEngine(engine.Engine{Runs: store, Graphs: store, Applications: store})

	step, _ := e.Start(ctx, graph, &schemas.Application{ID: "app"}, nil, engine.Request{})
	fmt.Println(step.FlowStatus, step.StepID, step.Data.AdditionalData["challenge"])

	step, _ = e.Continue(ctx, engine.Reply{ExecutionID: step.ExecutionID, Inputs: map[string]string{"secret": "wrong"}}, engine.Request{})
	fmt.Println(step.FlowStatus, step.StepID, step.Error.Code)

	step, _ = e.Continue(ctx, engine.Reply{ExecutionID: step.ExecutionID, Inputs: map[string]string{"secret": "right"}}, engine.Request{})
	fmt.Println(step.FlowStatus, step.Assertion)
	// Output:
	// INCOMPLETE key guess
	// INCOMPLETE key wrong
	// COMPLETE ada by sec
}
